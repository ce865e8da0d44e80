// What is said of programs, and how what a person types is taken: pure, so that it can be tried.

import { count, listed, plain, short } from "./words.js";

/** @import { Cell, EndedCell, Message } from "./types.d.ts" */

const ANSWERS = "text/vnd.lastword.answers+json"; // what a message that answers a program carries
const LONGEST = 400; // characters of an error
/** @type {Record<string, string>} */
const SHAPES = { string: "a text", number: "a number", boolean: "true or false" };

export const REFUSED = "the person refused this call";

/**
 * Why an answer was not taken; and after which there is nothing left to answer.
 * @type {Record<string, string>}
 */
export const LATE = {
  "already-running": "This was answered already, perhaps in another window.",
  "stale-generation": "Too late: the program has gone on since. Nothing was done.",
  "future-generation": "This page is behind the program. Nothing was done; try again.",
  "wrong-calls": "The program does not wait for these calls any more. Nothing was done.",
  "cell-gone": "Too late: the program has ended. Nothing was done.",
  "unknown-cell": "This program is not there any more. Nothing was done.",
};
export const GONE = new Set(["cell-gone", "unknown-cell"]);

/** What to tell whoever listens. @param {Cell} cell */
export function waitsFor({ pending }) {
  return `A program waits for an answer: ${listed(pending.map((call) => plain(call.name)))}.`;
}

/**
 * Under the calls: what "Go on" would do.
 * @param {number} answered
 * @param {number} all
 * @param {boolean} sent
 */
export function progress(answered, all, sent) {
  if (sent) return "Your answers are on their way.";
  if (!answered) return "It stands still until you answer.";
  if (answered === all) return all === 1 ? "Answered." : "All are answered.";
  const left = all - answered;
  return `${answered} of ${all} answered. ${left === 1 ? "The other stays" : "The others stay"} open.`;
}

/** How a program ended that did not come to its own end. @param {EndedCell} cell */
export function endWords({ ending: { outcome, error, may_have_executed: doubtful = [] } }) {
  /** @type {Record<string, string | undefined>} */
  const all = {
    failed: `The program failed. ${short(error, LONGEST)}`,
    terminated: "The program was ended before it was done.",
    lost: "The program was lost in the middle, and does not go on.",
  };
  const maybe = doubtful.length
    ? `${count(doubtful.length, "call")} may have executed: ${listed(doubtful.map((call) => plain(call.name)))}.`
    : "";
  const words = all[outcome] ?? `The program ended: ${outcome}.`;
  return [words, maybe].filter(Boolean).join(" ").trim();
}

/**
 * What a person typed as a call's result: JSON where it is, else a text.
 * @param {string} typed
 * @returns {{value: unknown, words: string, wrong: boolean}} and how it was understood
 */
export function taken(typed) {
  const text = typed.trim();
  if (!text) return { value: null, words: "Nothing typed: the program gets None.", wrong: false };
  try {
    let exact = true;
    const value = JSON.parse(text, (_, one) => {
      if (Number.isInteger(one) && !Number.isSafeInteger(one)) exact = false;
      return one;
    });
    const words = exact
      ? `Read as ${shapeOf(value)}.`
      : "This number is too large to be sent as it is; put it in quotes.";
    return { value, words, wrong: !exact };
  } catch {
    const almost = /^[[{"]/.test(text) ? ", since it is no valid JSON" : "";
    return { value: typed, words: `Read as a text${almost}.`, wrong: false };
  }
}

/** @param {unknown} value */
function shapeOf(value) {
  if (value === null) return "None";
  if (Array.isArray(value)) return "a list";
  return SHAPES[typeof value] ?? "an object";
}

/**
 * Whether a message brings answers to a program instead of words.
 * @param {Pick<Message, "attachments">} message
 */
export function bringsAnswers({ attachments = [] }) {
  return attachments.some((one) => one.media_type === ANSWERS);
}

/** What a message says, to a person. @param {Message} message */
export function saidIn(message) {
  return bringsAnswers(message) ? "Answers to a program" : message.text;
}
