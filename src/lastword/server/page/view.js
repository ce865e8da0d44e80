// What the person is told of the state as a whole, in one word that everything else agrees with.

import { findTurn } from "./apply.js";
import { standing } from "./programs.js";
import { covers } from "./stopping.js";

/** @import { State } from "./types.d.ts" */

/**
 * @param {State} state
 * @returns {"idle"|"preparing"|"streaming"|"calling"|"asking"|"stopping"|"standing"|"quiet"|"waiting"}
 */
export function phase(state) {
  const { stopping, active, questions, items } = state;
  if (stopping && (!active || covers(state, active))) return "stopping";
  if (questions.length) return "asking";
  if (active) return doing(state);
  if (unstarted(state)) return "preparing";
  if (state.ending.length) return "stopping";
  if (standing(state).length) return "standing";
  if (state.hushed && state.queue.length) return "waiting";
  const last = items.at(-1);
  return last?.kind === "receipt" && last.receipt.reason === "stopped" ? "quiet" : "idle";
}

/** @param {State} state */
function doing(state) {
  if (computing(state)) return "calling";
  const turn = findTurn(state, state.active);
  if (!turn?.parts.length) return "preparing";
  const calling = turn.parts.some(
    (part) => part.kind === "call" && (part.status === "begun" || part.status === "intended"),
  );
  return calling ? "calling" : "streaming";
}

/** Whether the run has a program that goes, instead of waiting. @param {State} state */
function computing({ cells, active }) {
  return cells.some((one) => one.run === active && one.standing === "running");
}

/** @param {State} state */
function unstarted(state) {
  return unplaced(state).length > 0;
}

/**
 * Messages that stand nowhere yet: accepted, or on their way, and not in the queue.
 * @param {State} state
 */
export function unplaced({ pending, sending, queue }) {
  const waiting = new Set(queue.map((one) => one.id));
  return [...new Set([...pending, ...Object.keys(sending)])].filter((id) => !waiting.has(id));
}

/** Whether there is something that a stop would end. @param {State} state */
export function stoppable(state) {
  return going(state) || state.cells.length > 0;
}

/**
 * Whether there is something that a new message would meet; a program that waits goes on doing so.
 * @param {State} state
 */
export function going(state) {
  return (
    !!state.active ||
    unstarted(state) ||
    state.questions.length > 0 ||
    (state.queue.length > 0 && !state.hushed)
  );
}

/** @param {State} state */
export function phaseWords(state) {
  const words = {
    idle: "idle",
    preparing: "preparing…",
    streaming: "writing…",
    asking: "asks",
    stopping: "stopping…",
    standing: "a program waits",
    quiet: "quiet",
    waiting: "paused",
  };
  const now = phase(state);
  return now === "calling" ? `running ${toolOf(state)}…` : words[now];
}

/** @param {State} state */
function toolOf(state) {
  const turn = findTurn(state, state.active);
  const calls = turn?.parts.filter((part) => part.kind === "call") ?? [];
  const call =
    calls.findLast((part) => part.status === "begun") ??
    calls.findLast((part) => part.status === "intended");
  return call?.name || (computing(state) ? "a program" : "a tool");
}
