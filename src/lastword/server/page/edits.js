// What an edit does, as its call says it: lines that go, and lines that come. Whatever agent it is of,
// an edit is known by its arguments: a text, and another in its place.

import { parsed, plain } from "./words.js";

/** @import { LineOut } from "./told.d.ts" */

/** @typedef {{lines: LineOut[], come: number, gone: number}} Edit */

const NAMES = [
  ["old", "new"],
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["oldText", "newText"],
];
const MOST = 200; // lines that are shown
const COMPARED = 40_000; // pairs of lines that are compared

/** @param {string} text arguments as JSON @returns {Edit | null} none, if it is no edit */
export function editOf(text) {
  if (!/"(?:old|oldText|old_str(?:ing)?)"\s*:/.test(text)) return null;
  const found = parsed(text);
  const parts = [found, ...several(found)].flatMap((one) => textsOf(one) ?? []);
  if (!parts.length) return null;
  const lines = parts.flatMap((one, index) => [
    ...(index ? [line("@", "")] : []),
    ...change(...one),
  ]);
  /** @param {LineOut["mark"]} mark */
  const many = (mark) => lines.filter((one) => one.mark === mark).length;
  const more = lines.length - MOST;
  const rest = more > 0 ? [line("@", `${more.toLocaleString("en")} more lines`)] : [];
  return { lines: [...lines.slice(0, MOST), ...rest], come: many("+"), gone: many("-") };
}

/** Edits that are made in one call. @param {unknown} found @returns {unknown[]} */
function several(found) {
  const edits = found && typeof found === "object" && "edits" in found ? found.edits : [];
  return Array.isArray(edits) ? edits : [];
}

/** @param {unknown} found @returns {[[string, string]] | null} */
function textsOf(found) {
  const given = Object(found);
  for (const [old, now] of NAMES)
    if (typeof given[old] === "string" && typeof given[now] === "string")
      return [[given[old], given[now]]];
  return null;
}

/** @param {LineOut["mark"]} mark @param {string} text @returns {LineOut} */
function line(mark, text) {
  return { mark, text };
}

/**
 * What begins and ends alike stays; between, the longest that both have in common does, where that
 * is looked for.
 * @param {string} before
 * @param {string} now
 */
function change(before, now) {
  const [old, fresh] = [linesOf(before), linesOf(now)];
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  const middle = between(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  /** @param {string[]} ones */
  const same = (ones) => ones.map((one) => line(" ", one));
  return [...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))];
}

/** @param {string} text */
function linesOf(text) {
  return text ? plain(text).replace(/\n$/, "").split("\n") : [];
}

/** @param {string[]} old @param {string[]} fresh @returns {LineOut[]} */
function between(old, fresh) {
  const wide = fresh.length + 1;
  if (old.length * fresh.length > COMPARED)
    return [...old.map((one) => line("-", one)), ...fresh.map((one) => line("+", one))];
  const common = new Uint16Array((old.length + 1) * wide); // lines that the rest of both share
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * wide + j] =
        old[i] === fresh[j]
          ? common[(i + 1) * wide + j + 1] + 1
          : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
  /** @type {LineOut[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    const goes = i < old.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1];
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      found.push(line(" ", old[i++]));
      j += 1;
    } else if (goes || j === fresh.length) found.push(line("-", old[i++]));
    else found.push(line("+", fresh[j++]));
  }
  return found;
}
