// Numbers, times and foreign texts, as a person reads them.

export const NOT_THEIRS = "You may not approve, so this waits for somebody who may.";

/** "1 process", "6 processes". @param {number} number @param {string} what */
export function count(number, what) {
  const many = what.endsWith("s") ? `${what}es` : `${what}s`;
  return `${number.toLocaleString("en")} ${number === 1 ? what : many}`;
}

/** Several parts as one sentence's: "a, b and c". @param {string[]} parts @returns {string} */
export function listed(parts) {
  if (parts.length < 2) return parts.join("");
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** @param {string} text */
export function short(text, longest = 60) {
  const some = text.trimStart().slice(0, 4 * longest + 100); // a long text costs no more than a short one
  const line = plain(some).split(/\s+/).join(" ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}

/** A span of seconds: "38 ms", "2.4 s", "3 min". @param {number} seconds */
export function lasted(seconds) {
  if (!(seconds >= 0)) return "";
  if (seconds < 0.0095) return `${Math.max(0, seconds * 1000).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/** Who answered; one who is here alone needs no name. @param {string} name */
export function byWhom(name) {
  return name && name !== "local" ? ` by ${plain(name)}` : "";
}

/** The time of day. @param {number | undefined} at seconds */
export function clock(at) {
  return at ? new Date(at * 1000).toLocaleTimeString("en-GB") : "";
}

/**
 * How long ago, in as few letters as a list has room for.
 * @param {number} at
 * @param {number} now
 */
export function ago(at, now) {
  const seconds = now - at;
  if (!at) return "";
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  const then = new Date(at * 1000);
  if (seconds < 6 * 86400) return then.toLocaleDateString("en", { weekday: "short" });
  return then.toLocaleDateString("en", { day: "numeric", month: "short" });
}

const COLOURS = /\u001b\[[0-9;]*m/g;
const HIDDEN =
  /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
const LONGEST_JSON = 200_000; // characters; more of it is shown as it came
const MOST_LINES = 500;
/** @type {Map<string, string>} */
const lines = new Map(); // of arguments that were looked into: the timeline asks for them again and again
const PICTURES = 0x2400; // where the pictures of the control characters begin

/**
 * A foreign text in which nothing is hidden: what would turn the reading direction, or has no
 * shape, is shown as a mark in its place, so that a command is what it looks like.
 * @param {string} text
 */
export function plain(text) {
  return text
    .replace(COLOURS, "")
    .replace(/\r\n?/g, "\n")
    .replace(HIDDEN, (one) =>
      one < " " ? String.fromCharCode(PICTURES + one.charCodeAt(0)) : "\ufffd",
    );
}

/**
 * What a call is about, in one line: a command or a path if it has one, else its arguments.
 * @param {string} text arguments as JSON
 * @returns {string}
 */
export function argumentsLine(text) {
  if (lines.size > MOST_LINES) lines.clear();
  if (!lines.has(text)) lines.set(text, lineOf(text));
  return lines.get(text) ?? "";
}

/** @param {string} text */
function lineOf(text) {
  const found = parsed(text);
  if (found === null || typeof found !== "object") return short(text, 160);
  const values = Object.values(found);
  if (values.length && typeof values[0] === "string") return short(values[0], 160);
  return values.length ? short(JSON.stringify(found), 160) : "";
}

/**
 * What a JSON text holds; null if it is none, or too long to be looked into.
 * @param {string} text
 * @returns {unknown}
 */
export function parsed(text) {
  if (text.length > LONGEST_JSON) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
