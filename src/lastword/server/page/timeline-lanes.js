// What the timeline shows, before it is drawn: the last runs, each with what it did and when.

import { saidIn } from "./program-words.js";
import { argumentsLine, byWhom, clock, lasted, short } from "./words.js";

/** @import { Call, Lane, Part, Process, Receipt, Span, State, Turn, Wait } from "./types.d.ts" */

const FENCED = new Set(["stopped", "superseded"]);

/**
 * The last so many runs whose times are known, the newest last.
 * @param {State} state
 * @param {number} runs
 * @param {number} now
 */
export function lanesOf(state, runs, now) {
  const receipts = new Map(
    state.items
      .filter((item) => item.kind === "receipt")
      .flatMap(({ receipt }) => receipt.runs.map((run) => [run, receipt])),
  );
  const timed = state.items.filter((item) => item.kind === "turn").filter(({ at }) => at);
  const turns = timed.slice(-runs);
  return clipped(turns.map((turn) => laneOf(state, turn, receipts.get(turn.run), now)));
}

/**
 * What outlives its run, as a kept process does, must not stretch the picture for as long.
 * @param {Lane[]} lanes
 */
function clipped(lanes) {
  const ends = lanes.flatMap((lane) => [
    lane.b,
    ...lane.spans.filter((span) => !span.open).map((span) => span.b),
  ]);
  const last = Math.max(...ends);
  for (const span of lanes.flatMap((lane) => lane.spans))
    if (span.open) span.b = Math.max(span.a, Math.min(span.b, last));
  return lanes;
}

/**
 * @param {State} state
 * @param {Turn} turn
 * @param {Receipt | undefined} receipt
 * @param {number} now
 * @returns {Lane}
 */
function laneOf(state, turn, receipt, now) {
  const live = state.active === turn.run;
  const fence = receipt?.fenced_at ?? (FENCED.has(turn.outcome) ? turn.until : 0); // the receipt follows
  const b = fence || turn.until || (live ? now : lastOf(turn));
  const calls = turn.parts
    .filter((part) => part.kind === "call")
    .filter((part) => part.at)
    .map((part) => callSpan(part, b));
  const waits = state.waits
    .filter((wait) => wait.run === turn.run && wait.at)
    .map((wait) => waitSpan(wait, b));
  const processes = state.processes
    .filter((one) => one.run === turn.run && one.started_at)
    .map((one) => processSpan(one, now));
  const words = sayOf(state, turn);
  return {
    turn,
    receipt,
    live,
    fence,
    a: turn.at,
    b: Math.max(b, turn.at),
    words,
    spans: [...calls, ...waits, ...processes],
  };
}

/** @param {Turn} turn */
function lastOf({ parts, at }) {
  const last = (/** @type {Part} */ part) => ("until" in part ? Math.max(part.until, part.at) : 0);
  return parts.reduce((latest, part) => Math.max(latest, last(part)), at);
}

/** @param {State} state @param {Turn} turn */
function sayOf(state, turn) {
  const index = state.items.indexOf(turn);
  const item = state.items.slice(0, index).findLast((one) => one.kind === "message");
  const message = item && state.messages[item.id];
  return message ? short(saidIn(message), 80) : "";
}

/** @type {Record<string, string>} */
const CALLS = { completed: "done", "may have executed": "maybe", "not started": "never" };

/** @param {Call} part @param {number} end @returns {Span} */
function callSpan(part, end) {
  const a = part.began || part.at;
  const b = part.until || end;
  const name = part.nature === "post" ? "send" : part.name;
  const look = part.error ? "failed" : (CALLS[part.status] ?? "going");
  return {
    kind: "tool",
    key: `call ${part.call}`,
    a,
    b: Math.max(a, b),
    look,
    tell: [
      `${name} ${argumentsLine(part.arguments)}`.trim(),
      CALLS[part.status] ? part.status : "running",
      `${clock(a)}, ${lasted(b - a)}`,
    ],
  };
}

/** @param {Wait} wait @param {number} end @returns {Span} */
function waitSpan(wait, end) {
  const b = wait.until || end;
  const fate =
    wait.answer !== null
      ? `${wait.answer.allowed ? "allowed" : "denied"}${byWhom(wait.answer.by)}`
      : wait.until
        ? "withdrawn"
        : "waiting for you";
  return {
    kind: "wait",
    key: `wait ${wait.call}`,
    a: wait.at,
    b: Math.max(wait.at, b),
    look: fate.split(" ")[0],
    tell: [`asked for ${wait.tool}`, fate, `${clock(wait.at)}, ${lasted(b - wait.at)}`],
  };
}

/** @param {Process} one @param {number} now @returns {Span} */
function processSpan(one, now) {
  const b = one.ended_at ?? now;
  const fate = one.ended_at
    ? `ended${one.code === null || one.code === undefined ? "" : ` with ${one.code}`}`
    : one.kept
      ? "kept, and still there"
      : "running";
  return {
    kind: "process",
    key: `process ${one.pid} ${one.started_at}`,
    open: !one.ended_at || one.kept,
    a: one.started_at,
    b,
    look: one.kept ? "kept" : "process",
    tell: [
      `process ${one.pid} ${short(one.command, 80)}`,
      fate,
      `${clock(one.started_at)}, ${lasted(b - one.started_at)}`,
    ],
  };
}
