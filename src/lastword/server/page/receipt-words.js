// What a receipt says, in words: pure, so that the card, the timeline and whoever listens to the
// page tell the same story.

import { clock, count, lasted, listed, short } from "./words.js";

/** @import { Receipt } from "./types.d.ts" */

/** @type {Record<string, string>} */
const HEADS = {
  stopped: "Stopped",
  superseded: "Replaced by what you said next",
  shutdown: "Shut down",
  parent: "Ended with the run that had started it",
  lost: "Lost to another process",
};
/** @type {Record<string, string>} */
const WHY = {
  stopped: "stop",
  superseded: "new message",
  shutdown: "shutdown",
  parent: "parent stopped",
  lost: "lost",
};
const NAMED = 3;

/** @param {{reason: string}} receipt */
export function why(receipt) {
  return WHY[receipt.reason] ?? receipt.reason;
}

/** "Stopped, and all is quiet": the second half only if it is so. @param {Receipt} receipt */
export function head(receipt, settled = false) {
  const verb = HEADS[receipt.reason] ?? "Stopped";
  const left = receipt.unconfirmed?.length ?? 0;
  if (!receipt.quiet)
    return left === 1
      ? `${verb}; one thing is still ending`
      : `${verb}; ${left} things are still ending`;
  const seen = receipt.level === "group" ? "as far as can be seen, all is quiet" : "all is quiet";
  return `${verb}, and ${settled ? "now " : ""}${seen}`;
}

/**
 * For an answer that was cut off by the next message, and nothing else.
 * @param {Receipt} receipt
 */
export function slimHead({ dropped: refused }) {
  return refused
    ? `${HEADS.superseded}; ${count(refused, "late effect")} refused`
    : HEADS.superseded;
}

/** @param {Receipt} receipt */
export function when(receipt) {
  return [clock(receipt.fenced_at), receipt.quiet && receipt.took > 0 && lasted(receipt.took)]
    .filter(Boolean)
    .join(" · ");
}

/**
 * The lines below the head, the ones to worry about last.
 * @param {Receipt} receipt
 * @returns {{text: string, warn?: boolean}[]}
 */
export function lines(receipt) {
  const told = [
    answers(receipt),
    tools(receipt),
    children(receipt),
    frozen(receipt),
    ended(receipt),
    later(receipt),
    waiting(receipt),
  ];
  const warnings = [kept(receipt), ending(receipt), escaped(receipt), stored(receipt)];
  return [
    ...told.filter(Boolean).map((text) => ({ text })),
    ...warnings.filter(Boolean).map((text) => ({ text, warn: true })),
  ];
}

/** Whether there is more to it than an answer that was cut off. @param {Receipt} receipt */
export function eventful(receipt) {
  return lines(receipt).length > 1 || dropped(receipt).length > 0 || !receipt.quiet;
}

/** @param {Receipt} receipt */
export function dropped(receipt) {
  return (receipt.messages ?? []).filter((one) => one.fate === "dropped").map((one) => one.message);
}

/** @param {Receipt} receipt */
function answers({ runs = [], dropped: refused = 0 }) {
  const cut = runs.length ? `${count(runs.length, "answer")} cut off` : "";
  const late = refused ? `${count(refused, "late effect")} refused` : "";
  return [cut, late].filter(Boolean).join("; ");
}

/** @param {Receipt} receipt */
function tools({ calls = [] }) {
  /** @param {Receipt["calls"][number]["status"]} status */
  const many = (status) => calls.filter((call) => call.status === status).length;
  /** @type {[number, string][]} */
  const parts = [
    [many("completed"), "finished"],
    [many("may have executed"), "may have executed"],
    [many("not started"), "never started"],
  ];
  const [told, ...rest] = parts.filter(([number]) => number);
  if (!told) return "";
  const [first, fate] = told;
  return [
    `${count(first, "tool")} ${fate}`,
    ...rest.map(([number, other]) => `${number} ${other}`),
  ].join(", ");
}

/** @param {Receipt} receipt */
function children({ children: all = [] }) {
  const over = all.filter((child) => child.fate === "ended").length;
  const stay = all.filter((child) => child.fate === "kept").length;
  return [
    over && `${count(over, "child run")} ended`,
    stay && `${count(stay, "child run")} kept on purpose`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** Programs that stood at a frontier, or ran: nobody will take them up. @param {Receipt} receipt */
function frozen({ cells = [] }) {
  const waited = cells.filter((cell) => cell.waits.length);
  const ran = cells.length - waited.length;
  const names = [...new Set(waited.flatMap((cell) => cell.waits))];
  return [
    ran && `${count(ran, "program")} ended in the middle`,
    waited.length &&
      `${count(waited.length, "program")} that waited will not go on: ${named(names)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** @param {Receipt} receipt */
function ended({ processes = [] }) {
  const killed = processes.filter((one) => one.fate === "killed").length;
  const all = processes.filter((one) => one.fate === "ended").length + killed;
  if (!all) return "";
  const hard = !killed
    ? ""
    : killed === all
      ? all === 1
        ? "; it had to be killed"
        : "; all had to be killed"
      : `, ${killed} of them had to be killed`;
  return `${count(all, "process")} ended${hard}`;
}

/** @param {Receipt} receipt */
function waiting({ messages = [] }) {
  const paused = messages.filter((one) => one.fate === "paused").length;
  return paused
    ? `${count(paused, "message")} ${paused === 1 ? "waits" : "wait"} until you resume or say something`
    : "";
}

/** @param {Receipt} receipt */
function kept({ processes = [] }) {
  const stay = processes.filter((one) => one.fate === "kept");
  return stay.length
    ? `${stay.length} kept on purpose: ${named(stay.map((one) => one.command))}`
    : "";
}

/** @param {Receipt} receipt */
function ending({ session, unconfirmed = [] }) {
  return unconfirmed.length
    ? `Still ending: ${named(unconfirmed.map((one) => `${one.kind} ${one.name.replace(`${session}#`, "")}`))}`
    : "";
}

/** @param {Receipt} receipt */
function later({ session, later: since = [] }) {
  return since.length
    ? `Ended only after the receipt was written: ${named(since.map((one) => `${one.kind} ${one.name.replace(`${session}#`, "")}`))}`
    : "";
}

/** @param {Receipt} receipt */
function escaped({ level }) {
  return level === "group"
    ? "What left its process group cannot be seen here, and may live on"
    : "";
}

/** @param {Receipt} receipt */
function stored({ durable }) {
  return durable === false ? "Not stored yet: no new message is taken until it is" : "";
}

/** @param {string[]} names */
function named(names) {
  const more = names.length - NAMED;
  const some = names.slice(0, NAMED).map((name) => short(name, 60));
  return more > 0 ? `${some.join(", ")} and ${more} more` : listed(some);
}
