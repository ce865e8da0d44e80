// Colours for code. They are laid over the words, which stay the text that they were: nothing is made
// of what a model wrote, and a copy is as it was written. Code is read in a thread of its own, only
// what is on the screen, one at a time; what takes too long there has no colours. Nor has what is
// beyond the first so many characters, or any code where a browser cannot lay colours over text.

import { KINDS } from "./colour-kinds.js";

const MOST = 20_000; // characters
const PATIENCE = 3000; // ms that reading one may take, the first time with what reads it
const BETWEEN = 150; // ms between two readings: code that is written is read again and again
const PLAIN = new Set(["", "text", "txt", "plain", "plaintext", "none", "output", "console"]);

/** @typedef {{language: string, read: string, ranges: {kind: number, range: AbstractRange}[]}} Drawn */

/** @type {Highlight[]} by kind */
let layers = [];
/** @type {WeakMap<Element, Drawn>} */
const known = new WeakMap();
/** @type {Set<Element>} */
const seen = new Set(); // is on the screen
/** @type {Set<Element>} */
const waiting = new Set(); // of these, what has changed since it was read
/** @type {WeakSet<Element>} */
const slow = new WeakSet(); // took too long
/** @type {IntersectionObserver | null} */
let eyes = null;
/** @type {Worker | null} */
let reader = null;
let timer = 0;
/** @type {{id: number, code: Element, text: string} | null} */
let asked = null;
let count = 0;

/** Something was written into code. @param {Element} code @param {string | undefined} language */
export function colour(code, language) {
  if (PLAIN.has(language ?? "") || !("Highlight" in globalThis) || slow.has(code)) return;
  begin();
  if (!known.has(code)) eyes?.observe(code);
  known.set(code, { read: "", ranges: [], ...known.get(code), language: language ?? "" });
  if (seen.has(code)) changed(code);
}

/** @param {Element} code */
function changed(code) {
  waiting.add(code);
  if (!asked) timer ||= setTimeout(next, BETWEEN);
}

function begin() {
  if (eyes) return;
  layers = KINDS.map(({ name }) => {
    const layer = new Highlight();
    CSS.highlights.set(`code-${name}`, layer);
    return layer;
  });
  eyes = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) (isIntersecting ? shown : hidden)(target);
  });
}

/** @param {Element} code */
function shown(code) {
  seen.add(code);
  changed(code);
}

/** It costs nothing as long as nobody looks. @param {Element} code */
function hidden(code) {
  seen.delete(code);
  waiting.delete(code);
  clear(code);
  if (!code.isConnected) eyes?.unobserve(code);
}

/** @param {Element} code */
function clear(code) {
  const drawn = known.get(code);
  for (const { kind, range } of drawn?.ranges ?? []) layers[kind].delete(range);
  if (drawn) known.set(code, { ...drawn, read: "", ranges: [] });
}

/** Read what was written to last. */
function next() {
  timer = 0;
  const code = [...waiting].at(-1);
  const drawn = code && known.get(code);
  if (!code || !drawn) return;
  waiting.delete(code);
  const some = (code.textContent ?? "").slice(0, MOST);
  const text = some.slice(0, some.lastIndexOf("\n") + 1); // the last line may go on
  if (text === drawn.read) return over();
  const { language } = drawn;
  asked = { id: ++count, code, text };
  reader ??= begun();
  reader.postMessage({ id: count, language, text });
  timer = setTimeout(giveUp, PATIENCE);
}

function begun() {
  const made = new Worker(new URL("./colour-reader.js", import.meta.url), { type: "module" });
  made.addEventListener("message", ({ data: { id, marks } }) => id === asked?.id && read(marks));
  made.addEventListener("error", giveUp);
  return made;
}

function giveUp() {
  if (asked) slow.add(asked.code);
  reader?.terminate();
  reader = null;
  over();
}

function over() {
  clearTimeout(timer);
  timer = 0;
  asked = null;
  if (waiting.size) timer = setTimeout(next, BETWEEN);
}

/** @param {Uint32Array} marks */
function read(marks) {
  if (!asked) return;
  const { code, text } = asked;
  over();
  if (!seen.has(code) || !code.textContent?.startsWith(text)) return;
  clear(code);
  const ranges = rangesOf(code, marks);
  for (const { kind, range } of ranges) layers[kind].add(range);
  known.set(code, { language: "", ...known.get(code), read: text, ranges });
}

/** @param {Element} code @param {Uint32Array} marks */
function rangesOf(code, marks) {
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  let node = /** @type {Text | null} */ (walker.nextNode());
  let before = 0; // characters that come before this node
  /** @param {number} at @param {boolean} end */
  const place = (at, end) => {
    while (node && at > before + node.length - (end ? 0 : 1)) {
      before += node.length;
      node = /** @type {Text | null} */ (walker.nextNode());
    }
    return node && { node, offset: at - before };
  };
  /** @type {Drawn["ranges"]} */
  const found = [];
  for (let i = 0; i < marks.length; i += 3) {
    const start = place(marks[i], false);
    const end = place(marks[i + 1], true);
    if (!start || !end) break;
    const range = new StaticRange({
      startContainer: start.node,
      startOffset: start.offset,
      endContainer: end.node,
      endOffset: end.offset,
    });
    found.push({ kind: marks[i + 2], range });
  }
  return found;
}
