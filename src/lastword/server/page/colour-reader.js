// Reads code for its colours, in a thread of its own: some texts take highlight.js a minute, and no key
// that is pressed waits for it. Whoever asked ends this thread when it takes too long.

import hljs from "./highlight.min.js";
import { KINDS } from "./colour-kinds.js";

/** @import { Scope } from "./highlight.min.js" */

self.addEventListener("message", ({ data: { id, language, text } }) => {
  const marks = Uint32Array.from(hljs.getLanguage(language) ? marksOf(language, text) : []);
  self.postMessage({ id, marks }, { transfer: [marks.buffer] });
});

/**
 * @param {string} language
 * @param {string} text
 * @returns {number[]} for each piece that has a colour, where it begins, where it ends, and its kind
 */
export function marksOf(language, text) {
  /** @type {number[]} */
  const marks = [];
  let at = 0;
  /** @param {Scope} node @param {number} kind */
  const walk = ({ children }, kind) => {
    for (const child of children) {
      if (typeof child !== "string") {
        walk(child, kindOf(child.scope, kind));
        continue;
      }
      const before = marks.length - 3;
      if (kind >= 0 && before >= 0 && marks[before + 1] === at && marks[before + 2] === kind)
        marks[before + 1] += child.length;
      else if (kind >= 0 && child) marks.push(at, at + child.length, kind);
      at += child.length;
    }
  };
  walk(hljs.highlight(text, { language, ignoreIllegals: true })._emitter.rootNode, -1);
  return marks;
}

/**
 * What has a name of its own here, or else that of what it is in; code within a text is code.
 * @param {string | undefined} scope
 * @param {number} kind
 */
function kindOf(scope, kind) {
  const [name, more] = (scope ?? "").split(".");
  if (name === "subst") return -1;
  const found = KINDS.findIndex(({ scopes }) => scopes.has(more === "function" ? "function" : name));
  return found < 0 ? kind : found;
}
