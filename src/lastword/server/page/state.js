// What the page knows of the session it shows: the picture, as the server tells it, and what only
// this page knows, which is on its way there. A pure reducer: a state and something that happened
// give the next state. What is heard twice is applied once.

import { apply, findTurn, firstWords } from "./apply.js";
import { byId, prepended } from "./older.js";
import * as program from "./programs.js";
import * as stop from "./stopping.js";

/**
 * @import { Snapshot, TurnHeadOut } from "./told.d.ts"
 * @import { Action, Change, Event, ReceiptItem, State } from "./types.d.ts"
 */

/** What is known of a session of which nothing is known. @returns {State} */
export function blank(session = "") {
  return {
    session,
    title: "",
    generation: 0,
    active: null,
    typing: false,
    known: false,
    items: [],
    messages: {},
    pending: [],
    sending: {},
    queue: [],
    hushed: false,
    questions: [],
    cells: [],
    ended: [],
    answering: {},
    processes: [],
    ending: [],
    waits: [],
    seen: null,
    stopping: null,
    held: [],
    before: 0,
    more: false,
    closed: "",
    level: "",
    usage: null,
  };
}

/** @param {State} state @param {Action} action @returns {State} the next one */
export function reduce(state, action) {
  switch (action.type) {
    case "event":
      return heard(state, action.event);
    case "fresh": // nobody has said anything in it yet
      return { ...state, known: true };
    case "titled": // by whoever renamed it
      return { ...state, title: action.title };
    case "older":
      return prepended(state, action.past);
    case "sending":
      return sending(state, action);
    case "sent": // and heard of, soon
      return action.id in state.sending
        ? { ...state, sending: { ...state.sending, [action.id]: false } }
        : state;
    case "unsent":
      return unsent(state, action.id);
    case "stop":
      return stop.asked(state, action);
    case "stop answered": // or it could not be said
      return stopAnswered(state, action);
    case "answered":
      return { ...state, questions: state.questions.filter((one) => one.id !== action.id) };
    case "answering": // what was given to a program is on its way there
      return { ...state, answering: { ...state.answering, [action.cell]: action.sent } };
    case "program gone":
      return program.gone(state, action.cell);
    case "programs":
      return program.remembered(state, action.cells);
    case "usage":
      return { ...state, usage: action.usage };
    case "queue":
      return { ...state, queue: action.messages, hushed: action.hushed };
    default:
      throw new Error(`the page has no action ${JSON.stringify(action)}`);
  }
}

// messages on their way

/** @param {State} state @param {Extract<Action, {type: "sending"}>} action @returns {State} */
function sending(state, { message, at }) {
  if (state.messages[message.id]) return state; // it has arrived before
  return {
    ...state,
    sending: { ...state.sending, [message.id]: true },
    messages: { ...state.messages, [message.id]: { ...message, at } },
    title: state.title || firstWords(message.text),
  };
}

/** @param {State} state @param {string} id @returns {State} */
function unsent(state, id) {
  if (!(id in state.sending)) return state; // the answer was lost, not the message
  const { [id]: _, ...messages } = state.messages;
  return { ...arrived(state, id), messages };
}

/** @param {State} state @param {string} id @returns {State} */
function arrived(state, id) {
  const { [id]: _, ...rest } = state.sending;
  return { ...state, sending: rest };
}

// events

/** @param {State} state @param {Event} event @returns {State} */
function heard(state, event) {
  const [epoch, number] = numbered(event.id);
  const seen = { epoch, number };
  if (event.kind === "snapshot") return { ...snapshot(state, event), seen };
  if (state.seen?.epoch === epoch && number <= state.seen.number && event.kind !== "closed")
    return state;
  if (event.kind === "closed") return { ...state, seen, closed: event.why, stopping: null };
  return event.changes.reduce(told, { ...state, seen });
}

/** @param {string} id @returns {[string, number]} */
function numbered(id) {
  const cut = id.lastIndexOf("-");
  return [id.slice(0, cut), Number(id.slice(cut + 1))];
}

/** @param {State} state @param {Change} change @returns {State} */
function told(state, change) {
  if (stop.isUntold(state, change)) return state;
  if (stop.holds(state, change)) return { ...state, held: [...state.held, change] };
  switch (change.change) {
    case "messageis":
      return apply(arrived(state, change.said.id), change);
    case "turnis":
      return turnIs(state, change.head, change);
    case "itemis":
    case "placed":
      if (change.item.kind === "receipt") return receipted(state, change.item, change);
      return stop.arrived(apply(state, change));
    default:
      return apply(state, change);
  }
}

/** @param {State} state @param {TurnHeadOut} head @param {Change} change @returns {State} */
function turnIs(state, { run, outcome, until }, change) {
  if (!outcome || findTurn(state, run)?.outcome) return apply(state, change);
  const next = apply(released(state, [run]), change);
  const other = outcome === "stopped" ? stop.byOther(run, until) : null;
  return { ...next, stopping: stop.ended(next, run) ?? other };
}

/**
 * @param {State} state
 * @param {Pick<ReceiptItem, "receipt">} item
 * @param {Change} change
 * @returns {State}
 */
function receipted(state, { receipt: { runs, reason } }, change) {
  const next = apply(released(state, state.stopping?.sent.length ? runs : null), change);
  return { ...next, stopping: reason === "superseded" ? next.stopping : stop.receipted(next) };
}

/**
 * What was held back is shown; only that of `runs`, if they are given.
 * @param {State} state
 * @param {string[] | null} runs
 * @returns {State}
 */
function released(state, runs = null) {
  /** @param {Change} change */
  const free = (change) => !runs || runs.includes(stop.runOf(state, change) ?? "");
  const held = state.held.filter((change) => !free(change));
  return state.held.filter(free).reduce(apply, { ...state, held });
}

/**
 * @param {State} state
 * @param {Extract<Action, {type: "stop answered"}>} action
 * @returns {State}
 */
function stopAnswered(state, action) {
  const stopping = stop.answered(state, action);
  return stopping ? { ...state, stopping } : released({ ...state, stopping });
}

/** @param {State} state @param {Snapshot} event @returns {State} */
function snapshot(state, event) {
  const { session, phase, messages, pending, queue, questions, waits, processes } = event;
  const { programs: cells, before, more } = event;
  const there = byId(messages);
  const unheard = Object.keys(state.sending).filter((id) => state.sending[id] && !there[id]);
  const next = {
    ...blank(session.id),
    ...phase,
    generation: session.generation,
    level: phase.level || state.level,
    known: true,
    title: session.title || firstWords(messages[0]?.text ?? ""),
    items: event.items,
    messages: { ...there, ...Object.fromEntries(unheard.map((id) => [id, state.messages[id]])) },
    sending: Object.fromEntries(unheard.map((id) => [id, true])),
    pending,
    queue: queue.messages,
    hushed: queue.hushed,
    questions,
    waits,
    processes,
    cells,
    ended: state.ended,
    usage: state.usage,
    before,
    more,
  };
  const answering = Object.entries(state.answering);
  const left = answering.filter(([, sent]) => program.isUnderWay(next, sent));
  const stopping = stop.resumed(state.stopping, next, session.state);
  return { ...next, answering: Object.fromEntries(left), stopping };
}
