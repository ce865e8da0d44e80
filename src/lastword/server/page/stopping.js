// A stop, from the key press until it is known what came of it. `runs` are those that it ends, and
// `sent` the messages that were on their way when it was asked for: they may arrive after it, so
// they are stopped when they do, and until then nobody knows that all is over. From the key press on
// the page is silent: what the server still let through until it heard of the stop is part of the
// record, and is shown with the receipt.

import { findTurn } from "./apply.js";

/** @import { Action, Change, State, Stopping } from "./types.d.ts" */

/**
 * The person asked for it, perhaps again.
 * @param {State} state
 * @param {Extract<Action, {type: "stop"}>} action
 * @returns {State}
 */
export function asked(state, { at, sent }) {
  const { stopping, active } = state;
  const before = stopping ?? { at, runs: [], sent: [] };
  const runs = active && !before.runs.includes(active) ? [...before.runs, active] : before.runs;
  const all = [...before.sent, ...sent];
  return { ...state, stopping: { at: before.at, runs, sent: all, known: false } };
}

/**
 * One that was heard of because its run ended: somebody else asked for it.
 * @param {string} run
 * @param {number} at
 * @returns {Stopping}
 */
export function byOther(run, at) {
  return { at, runs: [run], sent: [], known: true };
}

/**
 * Whether it ends this run.
 * @param {Pick<State, "stopping">} state
 * @param {string | null | undefined} run
 */
export function covers({ stopping }, run) {
  return !!run && !!stopping?.runs.includes(run);
}

/**
 * Which run a change is about, if it may have to wait for a stop of that.
 * @param {State} state
 * @param {Change} change
 */
export function runOf({ held }, change) {
  switch (change.change) {
    case "partis":
    case "partgone":
    case "grew":
      return change.run;
    case "askopened":
      return change.question.run;
    case "askclosed": {
      const asks = held.filter((one) => one.change === "askopened");
      return asks.find((one) => one.question.id === change.question)?.question.run;
    }
    default:
      return null;
  }
}

/**
 * A mark of a run that is being stopped does not go up.
 * @param {State} state
 * @param {Change} change
 */
export function isUntold(state, change) {
  return change.change === "phaseis" && change.live && covers(state, change.phase.active);
}

/**
 * Whether it waits until the stop is known: what the run does, and what is told of that afterwards.
 * @param {State} state
 * @param {Change} change
 */
export function holds(state, change) {
  const run = runOf(state, change);
  if (!covers(state, run)) return false;
  return ("live" in change && change.live) || state.held.some((one) => runOf(state, one) === run);
}

/**
 * An item was placed last: if it is the turn of a message that the stop was meant for, it is meant
 * for that.
 * @param {State} state
 * @returns {State}
 */
export function arrived(state) {
  const { stopping, items } = state;
  const turn = items.at(-1);
  if (!stopping?.sent.length || turn?.kind !== "turn" || covers(state, turn.run)) return state;
  if (!answers(state, turn.run, stopping.sent)) return state;
  return { ...state, stopping: { ...stopping, runs: [...stopping.runs, turn.run] } };
}

/**
 * Whether a run answers one of these messages.
 * @param {State} state
 * @param {string} run
 * @param {string[]} sent
 */
function answers({ items }, run, sent) {
  const end = items.findLastIndex((item) => item.kind === "turn" && item.run === run);
  const begin = items.slice(0, end).findLastIndex((item) => item.kind !== "message") + 1;
  return items
    .slice(begin, end)
    .some((item) => item.kind === "message" && !item.outcome && sent.includes(item.id));
}

/**
 * Whether the server told of a message, so that a stop which is asked for now comes after it.
 * @param {Pick<State, "queue" | "messages" | "sending">} state
 * @param {string} id
 */
export function isHeard({ queue, messages, sending }, id) {
  return queue.some((one) => one.id === id) || (id in messages && !(id in sending));
}

/**
 * A run that it ends has ended: the server has heard of it.
 * @param {State} state
 * @param {string} run
 * @returns {Stopping | null}
 */
export function ended(state, run) {
  const { stopping } = state;
  if (!stopping || !covers(state, run) || stopping.sent.length) return stopping;
  return { ...stopping, known: true };
}

/** A receipt came: that is all, unless something is on its way still. @param {State} state */
export function receipted({ stopping }) {
  return stopping?.sent.length ? stopping : null;
}

/**
 * The server answered, also for those that were on their way. `fence` is what its receipts tell
 * of: they are heard as events too, and if that is yet to come, it is over when it has.
 * @param {State} state
 * @param {Extract<Action, {type: "stop answered"}>} action
 */
export function answered({ stopping, items }, { sent, fence }) {
  if (!stopping) return null;
  const left = stopping.sent.filter((id) => !sent.includes(id));
  if (left.length) return { ...stopping, sent: left };
  const told = items.some((item) => item.kind === "receipt" && item.receipt.generation >= fence);
  return fence && !told ? { ...stopping, sent: [], known: true } : null;
}

/**
 * What is left of it when the page hears anew how everything stands.
 * @param {Stopping | null} stopping
 * @param {State} state
 * @param {string} now how the session stands
 * @returns {Stopping | null}
 */
export function resumed(stopping, state, now) {
  const { active } = state;
  if (!stopping?.sent.length)
    return stopping && now === "stopping" && !active ? { ...stopping, known: true } : null;
  const mine = active && findTurn(state, active) && answers(state, active, stopping.sent);
  return mine ? { ...stopping, runs: [...stopping.runs, active] } : stopping;
}
