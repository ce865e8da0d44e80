// What was before: the log's entries, as facts, and older ones that are fetched when somebody wants
// to read them.

import * as fact from "./facts.js";

/**
 * @import { Ending, Told } from "./facts.js"
 * @import { Entry, Item, Message, Older, State, Wait } from "./types.d.ts"
 */

/**
 * Of the entries that were there, those that the new ones continue without a gap.
 * @param {Entry[]} before
 * @param {Entry[]} now
 * @returns {Entry[]}
 */
export function earlier(before, now) {
  const first = now[0]?.number;
  const older = before.filter((entry) => entry.number < first);
  return older.at(-1)?.number === first - 1 ? older : [];
}

/**
 * What was said before some entries, and answered in them.
 * @param {Message[]} messages
 * @returns {State["messages"]}
 */
export function byId(messages) {
  return Object.fromEntries(messages.map((message) => [message.id, message]));
}

/**
 * Older entries go before all that is there; the turn that they were cut off in is made whole.
 * @param {State} state
 * @param {Older} action
 * @returns {State}
 */
export function prepended(state, { entries: older, more, messages }) {
  const known = { ...fact.blank(state.session), messages: byId(messages) };
  const past = older.reduce(recorded, known);
  const here = new Map(state.items.map((item) => [item.key, item]));
  const before = past.items.filter((item) => !(item.kind === "receipt" && here.has(item.key)));
  const items = before.map((item) => whole(item, here.get(item.key) ?? item));
  const done = new Set(items.map((item) => item.key));
  const asked = new Set(past.waits.map((wait) => wait.id));
  const waits = state.waits.filter((wait) => !asked.has(wait.id));
  const pending = past.pending.filter((id) => !state.placed[id] && !state.pending.includes(id));
  return {
    ...state,
    more,
    entries: [...older, ...state.entries],
    items: [...items, ...state.items.filter((item) => !done.has(item.key))],
    messages: { ...past.messages, ...state.messages },
    placed: { ...past.placed, ...state.placed },
    pending: [...pending, ...state.pending],
    over: { ...past.over, ...state.over },
    waits: [...past.waits.map((wait) => endedLater(wait, state)), ...waits],
  };
}

/**
 * What was asked before some entries may have been answered in them, or ended with its call there.
 * @param {Wait} wait
 * @param {State} state
 * @returns {Wait}
 */
function endedLater(wait, state) {
  const answered = state.waits.find((one) => one.id === wait.id);
  if (wait.until || answered?.until)
    return { ...wait, ...answered, at: wait.at, tool: wait.tool };
  const turn = fact.findTurn(state, wait.run);
  const call = turn?.parts.find((part) => fact.isCall(part, wait.id));
  return { ...wait, until: (call?.kind === "call" && call.until) || turn?.until || 0 };
}

/** @param {Item} older @param {Item} newer @returns {Item} */
function whole(older, newer) {
  if (older.kind !== "turn" || newer.kind !== "turn" || older === newer) return newer;
  const parts = older.parts.slice();
  for (const part of newer.parts) {
    const index =
      part.kind === "call"
        ? parts.findIndex((one) => fact.isCall(one, part.call))
        : parts.length - 1;
    const before = parts[index];
    if (part.kind === "call" && before?.kind === "call")
      parts[index] = {
        ...part,
        name: before.name,
        arguments: before.arguments,
        nature: before.nature,
        at: before.at,
        began: before.began || part.began,
        answer: before.answer ?? part.answer,
      };
    else if (before?.kind === part.kind && "text" in part && "text" in before)
      parts[index] = { ...before, text: before.text + part.text };
    else parts.push(part);
  }
  return { ...newer, parts, at: older.at, generation: older.generation };
}

/** A state, and what an entry tells. @param {State} state @param {Entry} entry @returns {State} */
export function recorded(state, entry) {
  const { kind, run, at = 0 } = entry;
  switch (kind) {
    case "said":
      return fact.said(state, entry.message, at);
    case "began":
      return fact.began(state, run, entry.generation, entry.messages ?? [], at);
    case "text":
    case "thinking":
      return fact.uttered(state, kind, run, 0, entry.text, at);
    case "called":
      return fact.called(
        state,
        run,
        0,
        {
          call: entry.call,
          name: entry.name,
          arguments: entry.arguments,
          nature: entry.nature,
          status: "begun",
          logged: true,
        },
        at,
      );
    case "result":
      return fact.called(
        state,
        run,
        0,
        { call: entry.call, status: entry.status, content: entry.content, error: !!entry.error },
        at,
      );
    case "asked":
      return fact.asked(state, { id: entry.call, run, tool: entry.tool }, at);
    case "answered":
      return fact.answered(state, run, entry.call, /** @type {Entry & Told} */ (entry), at);
    case "note":
      return fact.noted(state, run ?? null, entry.text, entry.number);
    case "leftout":
      return fact.noted(state, run ?? null, entry.text, entry.number);
    case "summary":
      return fact.noted(state, null, "Earlier turns were summarised for the model.", entry.number);
    case "finished":
      return fact.ended(state, run, /** @type {Entry & Ending} */ (entry), at);
    case "receipt":
      return {
        ...fact.receipted(state, entry.receipt ?? entry),
        level: (entry.receipt ?? entry).level || state.level,
      };
    default:
      return state;
  }
}
