// What was before, which is fetched when somebody wants to read it: it goes before all that is there,
// and the turn that it was cut off in is made whole.

/** @import { Item, Older, Part, State, Turn, Wait } from "./types.d.ts" */

/** @param {State} state @param {Older} older @returns {State} */
export function prepended(state, { items: told, messages, pending, waits, before, more }) {
  const here = new Map(state.items.map((item) => [item.key, item]));
  const past = told.filter((item) => item.kind !== "receipt" || !here.has(item.key));
  const items = past.map((item) =>
    withAnswers(joinedTurn(item, here.get(item.key) ?? item), state.waits),
  );
  const done = new Set(items.map((item) => item.key));
  const later = state.items.filter((item) => !done.has(item.key));
  const placed = new Set([...state.pending, ...later.map((item) => item.key)]);
  const unplaced = pending.filter((id) => !placed.has(id) && !placed.has(`message ${id}`));
  const asked = new Set(waits.map((wait) => wait.call));
  return {
    ...state,
    before,
    more,
    items: [...items, ...later],
    messages: { ...byId(messages), ...state.messages },
    pending: [...unplaced.filter((id) => !isSaidIn(later, id)), ...state.pending],
    waits: [
      ...waits.map((wait) => endedLater(wait, state)),
      ...state.waits.filter((wait) => !asked.has(wait.call)),
    ],
  };
}

/** @template {{id: string}} T @param {T[]} messages @returns {Record<string, T>} */
export function byId(messages) {
  return Object.fromEntries(messages.map((message) => [message.id, message]));
}

/**
 * Whether a run took up a message that was sent to steer it.
 * @param {Item[]} items
 * @param {string} id
 */
function isSaidIn(items, id) {
  return items.some(
    (item) => item.kind === "turn" && item.parts.some((one) => one.kind === "said" && one.id === id),
  );
}

/**
 * What was asked before some entries may have been answered in them, or ended with its call there.
 * @param {Wait} wait
 * @param {State} state
 * @returns {Wait}
 */
function endedLater(wait, { waits, items }) {
  const later = waits.find((one) => one.call === wait.call);
  if (wait.until || later?.until) return { ...wait, ...later, at: wait.at, tool: wait.tool };
  const turn = items.find((item) => item.kind === "turn" && item.run === wait.run);
  if (turn?.kind !== "turn") return wait;
  const call = turn.parts.find((part) => part.kind === "call" && part.call === wait.call);
  return { ...wait, until: (call?.kind === "call" && call.until) || turn.until };
}

/**
 * Calls that were answered after where the log was cut: only that somebody waited is known there.
 * @param {Item} item
 * @param {Wait[]} waits
 * @returns {Item}
 */
function withAnswers(item, waits) {
  if (item.kind !== "turn") return item;
  const parts = item.parts.map((part) => {
    const wait = part.kind === "call" && waits.find((one) => one.call === part.call);
    if (part.kind !== "call" || part.answer || !wait || !wait.answer) return part;
    const began = part.began || (wait.answer.allowed ? wait.until : 0);
    return { ...part, began, answer: wait.answer };
  });
  return { ...item, parts };
}

/**
 * A turn of which the log was cut.
 * @param {Item} older
 * @param {Item} newer
 * @returns {Item}
 */
export function joinedTurn(older, newer) {
  if (older.kind !== "turn" || newer.kind !== "turn" || older === newer) return newer;
  const { at, generation, parts } = older;
  const { parts: all, spots: moved } = withNewer({ ...newer, parts, spots: [] }, newer.parts);
  const spots = newer.spots ? newer.spots.map((spot) => moved[spot]) : moved;
  return { ...newer, parts: all, spots, at, generation };
}

/**
 * With parts that come after those which were fetched; `spots` are where they stand.
 * @template {Turn} T
 * @param {T} turn
 * @param {Part[]} newer
 */
export function withNewer(turn, newer) {
  const parts = turn.parts.slice();
  const spots = newer.map((part) => {
    const spot = spotFor(parts, part);
    parts[spot] = joinedPart(parts[spot], part);
    return spot;
  });
  return { ...turn, parts, spots: [...(turn.spots ?? []), ...spots] };
}

/** @param {Part[]} parts @param {Part} part */
function spotFor(parts, part) {
  const last = parts.length - 1;
  if (part.kind !== "call")
    return isWords(part) && parts[last]?.kind === part.kind ? last : last + 1;
  const spot = parts.findIndex((one) => one.kind === "call" && one.call === part.call);
  return spot < 0 ? last + 1 : spot;
}

/** @param {Part} part */
function isWords({ kind }) {
  return kind === "text" || kind === "thinking" || kind === "progress";
}

/** @param {Part | undefined} before @param {Part} part @returns {Part} */
function joinedPart(before, part) {
  if (before && "text" in before && "text" in part)
    return { ...part, ...before, text: before.text + part.text };
  return joinedCall(before, part);
}

/**
 * A call of which only the end was known there has its beginning from before.
 * @param {Part | undefined} before
 * @param {Part} part
 * @returns {Part}
 */
export function joinedCall(before, part) {
  if (before?.kind !== "call" || part.kind !== "call") return part;
  return {
    ...part,
    name: part.name || before.name,
    arguments: part.arguments || before.arguments,
    nature: part.nature || before.nature,
    at: before.at || part.at,
    began: before.began || part.began,
    answer: before.answer ?? part.answer,
  };
}
