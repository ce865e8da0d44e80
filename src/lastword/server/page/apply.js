// The picture of a session: how each change that the server tells makes the next one. A change puts
// the new where the old was, so there is no story here, only places.

import { joinedCall, joinedTurn, withNewer } from "./older.js";
import { programmed } from "./programs.js";

/** @import { Change, Item, Part, State, Turn, Wait } from "./types.d.ts" */

const MOST_WAITS = 200;

/**
 * By the names of the changes, of which none may be missing.
 * @type {{[C in Change["change"]]: (state: State, change: Extract<Change, {change: C}>) => State}}
 */
const appliers = {
  placed: (state, { item, before }) => placed(state, item, before),
  itemis: (state, { item }) => ({
    ...state,
    items: state.items.map((one) => (one.key === item.key ? item : one)),
  }),
  itemgone: (state, { key }) => ({
    ...state,
    items: state.items.filter((one) => one.key !== key),
  }),
  turnis: (state, { head }) => changeTurn(state, head.run, (turn) => ({ ...turn, ...head })),
  partis: (state, { run, place, part }) =>
    changeTurn(state, run, (turn) => withPart(turn, place, part)),
  partgone: (state, { run, place }) => changeTurn(state, run, (turn) => withoutPart(turn, place)),
  grew: (state, { run, place, text, at }) =>
    changeTurn(state, run, (turn) => grown(turn, place, text, at)),
  messageis: (state, { said }) => ({
    ...state,
    messages: { ...state.messages, [said.id]: said },
    title: state.title || firstWords(said.text),
  }),
  pendingis: (state, { messages }) => ({ ...state, pending: messages }),
  queueis: (state, { queue }) => ({ ...state, queue: queue.messages, hushed: queue.hushed }),
  askopened: (state, { question }) => ({ ...state, questions: [...state.questions, question] }),
  askclosed: (state, { question }) => ({
    ...state,
    questions: state.questions.filter((one) => one.id !== question),
  }),
  waitis: (state, { wait }) => ({ ...state, waits: withWait(state.waits, wait) }),
  processis: (state, { process }) => {
    // what is kept may outlive its first process, whose number is then another's
    /** @param {typeof process} one */
    const same = ({ ended_at: over, kept, id, pid }) =>
      !over && kept === process.kept && (kept ? id === process.id : pid === process.pid);
    const others = state.processes.filter((one) => !same(one));
    return { ...state, processes: [...others, process] };
  },
  processstarts: (state) => state, // it has no number yet
  programis: (state, { program }) => programmed(state, program),
  usageis: (state, { model, input_tokens: read, output_tokens: written }) => ({
    ...state,
    usage: state.usage && {
      requests: state.usage.requests + 1,
      input_tokens: state.usage.input_tokens + read,
      output_tokens: state.usage.output_tokens + written,
      model: model || state.usage.model,
      filled: read + written,
    },
  }),
  phaseis: (state, { phase }) => ({ ...state, ...phase, level: phase.level || state.level }),
};

export const APPLIED = Object.keys(appliers);

/** @param {State} state @param {Change} change @returns {State} the next one */
export function apply(state, change) {
  const applier = /** @type {(state: State, change: Change) => State} */ (appliers[change.change]);
  return applier(state, change);
}

/** @param {string} text */
export function firstWords(text) {
  const line = text.trimStart().slice(0, 1000).trim().split(/\s+/).join(" ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** @param {State} state @param {Item} item @param {string | null} before @returns {State} */
function placed(state, item, before) {
  const items = state.items.slice();
  const here = items.findIndex((one) => one.key === item.key); // among what was fetched later
  const place = before === null ? -1 : items.findIndex((one) => one.key === before);
  if (here >= 0) items[here] = joinedTurn(items[here], item);
  else items.splice(place < 0 ? items.length : place, 0, item);
  const pending = state.pending.filter((id) => item.key !== `message ${id}`);
  return { ...state, items, pending };
}

/** @param {Wait[]} waits @param {Wait} wait */
function withWait(waits, wait) {
  const index = waits.findIndex((one) => one.call === wait.call);
  if (index < 0) return [...waits.slice(-MOST_WAITS), wait];
  const { at, tool } = waits[index]; // it may have been asked before what the server looks at
  return waits.with(index, { ...wait, at: at || wait.at, tool: tool || wait.tool });
}

// turns

/** @param {Pick<State, "items">} state @param {string | null} run @returns {Turn | undefined} */
export function findTurn({ items }, run) {
  const found = items.findLast((item) => item.kind === "turn" && item.run === run);
  return found?.kind === "turn" ? found : undefined;
}

/**
 * @param {State} state
 * @param {string} run
 * @param {(turn: Turn) => Turn} change
 * @returns {State}
 */
function changeTurn(state, run, change) {
  const turn = findTurn(state, run);
  if (!turn) return state;
  return { ...state, items: state.items.with(state.items.lastIndexOf(turn), change(turn)) };
}

/**
 * Where a part stands; elsewhere, once earlier ones were fetched.
 * @param {Turn} turn
 * @param {number} place
 */
function spotOf({ parts, spots }, place) {
  if (!spots) return place;
  return place < spots.length ? spots[place] : parts.length + place - spots.length;
}

/** @param {Turn} turn @param {number} place @param {Part} part @returns {Turn} */
function withPart(turn, place, part) {
  if (place === turn.spots?.length) return withNewer(turn, [part]);
  const spot = spotOf(turn, place);
  if (spot > turn.parts.length) return turn; // what comes before it was not ours to hear
  const parts = turn.parts.slice();
  parts[spot] = joinedCall(parts[spot], part);
  return { ...turn, parts };
}

/** @param {Turn} turn @param {number} place @returns {Turn} */
function withoutPart(turn, place) {
  const spot = spotOf(turn, place);
  const left = turn.spots?.filter((_, index) => index !== place);
  return {
    ...turn,
    parts: turn.parts.filter((_, index) => index !== spot),
    spots: left?.map((one) => (one > spot ? one - 1 : one)),
  };
}

/** @param {Turn} turn @param {number} place @param {string} text @param {number} at @returns {Turn} */
function grown(turn, place, text, at) {
  const spot = spotOf(turn, place);
  const part = turn.parts[spot];
  if (part?.kind === "call")
    return { ...turn, parts: turn.parts.with(spot, { ...part, output: part.output + text }) };
  if (!part || !("until" in part)) return turn;
  const words = { ...part, text: part.text + text, until: at };
  return { ...turn, parts: turn.parts.with(spot, words) };
}
