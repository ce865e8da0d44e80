// What was said and is not acknowledged yet: kept in this browser under the id it was sent with, so
// that it is there after a reload, and saying it again is the same message and never a second one.

import { remember, remembered } from "./memory.js";

/**
 * @typedef {{
 *   id: string,
 *   text: string,
 *   boxed?: boolean, // it came back, and is in the box
 *   files?: string[], // what went with it, by name: they are too large to be kept here
 * }} Outgoing
 */

const NAME = "outgoing "; // and the session; none, if that is not known yet

/** @returns {string} */
export function newId() {
  return crypto.randomUUID?.() ?? `m-${Date.now()}-${Math.random().toString(36).slice(2)}`;
}

/** What is on its way to a session, oldest first. @param {string} session @returns {Outgoing[]} */
export function outgoing(session) {
  try {
    return JSON.parse(remembered(NAME + session) ?? "[]");
  } catch {
    return []; // it is nothing that this page wrote
  }
}

/** @param {string} session @param {Outgoing} one */
export function hold(session, one) {
  const others = outgoing(session).filter(({ id }) => id !== one.id);
  keep(session, [...others, one]);
}

/** The server has it, or the person has it back. @param {string} session @param {string} id */
export function release(session, id) {
  const all = outgoing(session);
  const left = all.filter((one) => one.id !== id);
  if (left.length < all.length) keep(session, left);
}

/** @param {string} session @param {Outgoing[]} all */
function keep(session, all) {
  remember(NAME + session, all.length ? JSON.stringify(all) : null);
}
