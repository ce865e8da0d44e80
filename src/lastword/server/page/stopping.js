// A stop, from the key press until it is known what came of it. `runs` are those that it ends, and
// `sent` the messages that were on their way when it was asked for: they may arrive after it, so
// they are stopped when they do, and until then nobody knows that all is over.

/** @import { Action, Snapshot, State, Stopping } from "./types.d.ts" */

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

/** Whether it ends this run. @param {State} state @param {string | null} run */
export function covers({ stopping }, run) {
  return !!run && !!stopping?.runs.includes(run);
}

/**
 * A message was accepted: if the stop was meant for it, it is meant for its run.
 * @param {State} state
 * @param {string} id
 * @param {string} run
 * @returns {State}
 */
export function arrived(state, id, run) {
  const { stopping } = state;
  if (!stopping?.sent.includes(id) || !run || covers(state, run)) return state;
  return { ...state, stopping: { ...stopping, runs: [...stopping.runs, run] } };
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
export function answered({ stopping, fence: heard }, { sent, fence }) {
  if (!stopping) return null;
  const left = stopping.sent.filter((id) => !sent.includes(id));
  if (left.length) return { ...stopping, sent: left };
  return fence > heard ? { ...stopping, sent: [], known: true } : null;
}

/**
 * What is left of it when the page hears anew how everything stands.
 * @param {State} state
 * @param {Snapshot} snapshot
 * @returns {Stopping | null}
 */
export function resumed({ stopping }, { session, active, entries }) {
  if (!stopping?.sent.length)
    return stopping && session.state === "stopping" && !active
      ? { ...stopping, known: true }
      : null;
  const mine = entries.some(
    ({ kind, run, messages = [] }) =>
      kind === "began" &&
      run === active &&
      messages.some((/** @type {string} */ id) => stopping.sent.includes(id)),
  );
  return mine && active ? { ...stopping, runs: [...stopping.runs, active] } : stopping;
}
