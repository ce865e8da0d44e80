// For whoever listens instead of looking: finished things, once, and not each word as it comes.

import { headline, noteworthy, rowLine } from "./receipt-rows.js";
import { standing } from "./programs.js";
import { endWords, waitsFor } from "./program-words.js";
import { plain, short } from "./words.js";

/** @import { Asked, Item, State } from "./types.d.ts" */

const LONGEST = 900;

/**
 * @param {State} before
 * @param {State} now
 * @returns {{polite: string[], urgent: string[]}} what to say of the way from one state to the next
 */
export function news(before, now) {
  if (before.session !== now.session || !before.known) return { polite: [], urgent: [] };
  const urgent = now.questions
    .filter((one) => !before.questions.some((other) => other.id === one.id))
    .map(
      (one) =>
        `${plain(one.tool)} ${one.asks}: ${short(firstLines(one), 200)}. ${one.notes.join(" ")} Alt Q goes there.`,
    );
  const stood = new Set(standing(before).map((one) => `${one.id} ${one.generation}`));
  for (const one of standing(now))
    if (!stood.has(`${one.id} ${one.generation}`))
      urgent.push(`${waitsFor(one)} Alt Q goes there.`);
  const polite = now.ended.filter((one) => !before.ended.includes(one)).map(endWords);
  if (now.stopping && !before.stopping) urgent.push("Stopping.");
  if (before.items !== now.items) {
    const known = new Map(before.items.map((item) => [item.key, item]));
    const last = before.items.at(-1)?.key;
    const old = now.items.findIndex((item) => item.key === last); // what is new comes behind it
    for (const [at, item] of [...now.items.entries()].slice(-4))
      polite.push(...toldOf(item, known.get(item.key), at > old));
  }
  return { polite, urgent };
}

/** @param {Asked} question */
function firstLines({ lines: all, summary }) {
  return [summary, ...all.slice(0, 20).map((line) => line.text)].filter(Boolean).join("\n");
}

/**
 * @param {Item} item
 * @param {Item | undefined} before
 * @param {boolean} isNew an answer may come and be complete between two drawings
 * @returns {string[]}
 */
function toldOf(item, before, isNew) {
  if (item === before) return [];
  if (item.kind === "receipt") {
    const { rows } = item.receipt;
    return [plain([headline(rows), ...noteworthy(rows).map(rowLine)].join(". "))];
  }
  if (item.kind !== "turn" || !item.outcome) return [];
  if (before ? before.kind !== "turn" || before.outcome : !isNew) return [];
  const text = item.parts
    .map((part) => (part.kind === "text" ? part.text : null))
    .filter((one) => one !== null)
    .join("\n");
  if (item.outcome === "completed") return [`Answer: ${short(text, LONGEST)}`];
  return item.outcome === "failed" ? [`The answer failed. ${plain(item.error)}`] : [];
}

export class Announcer {
  #polite;
  #urgent;

  /** @param {HTMLElement} polite @param {HTMLElement} urgent */
  constructor(polite, urgent) {
    this.#polite = polite;
    this.#urgent = urgent;
  }

  /** @param {{polite: string[], urgent: string[]}} news */
  say({ polite, urgent }) {
    if (polite.length) this.#polite.textContent = polite.join(" ");
    if (urgent.length) this.#urgent.textContent = urgent.join(" ");
  }
}
