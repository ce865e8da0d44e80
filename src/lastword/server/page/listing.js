// How the sessions are listed: what is pinned first, then by the day, and no two by one name.

/** @import { Session } from "./types.d.ts" */

const DAY = 86_400_000; // ms

/**
 * Under which heading a session stands.
 * @param {Session} session
 * @param {number} now seconds
 */
export function headingOf({ pinned, at }, now) {
  if (pinned) return "Pinned";
  const today = new Date(now * 1000).setHours(0, 0, 0, 0);
  const then = (at || now) * 1000;
  if (then >= today) return "Today";
  if (then >= new Date(today - DAY / 2).setHours(0, 0, 0, 0)) return "Yesterday";
  if (then >= today - 6 * DAY) return "Last 7 days";
  return new Date(then).toLocaleDateString("en", { month: "long", year: "numeric" });
}

/**
 * What tells sessions of one title from each other: when something was last said there, or else
 * their ids.
 * @param {Session[]} sessions
 * @returns {Map<string, string>} by their ids; those that need nothing are left out
 */
export function apart(sessions) {
  /** @type {Map<string, Session[]>} */
  const named = new Map();
  for (const one of sessions) named.set(one.title, [...(named.get(one.title) ?? []), one]);
  const told = new Map();
  for (const same of named.values()) {
    if (same.length < 2) continue;
    const times = new Set(same.map(moment));
    for (const one of same) told.set(one.id, times.size === same.length ? moment(one) : one.id);
  }
  return told;
}

/** @param {Session} session */
function moment({ at }) {
  if (!at) return "not begun";
  /** @type {Intl.DateTimeFormatOptions} */
  const parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false };
  return new Date(at * 1000).toLocaleString("en", parts);
}
