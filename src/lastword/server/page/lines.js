// Lines that go, come, stay, or count others, as nodes: of a question, of a call, of what an answer
// changed. What wrote them is never read as markup.

import { h } from "./dom.js";

/** @import { LineOut } from "./told.d.ts" */

const UNSEEN = /(⟨U\+[0-9A-F]{4,6}⟩)/; // a character that cannot be seen, as the server marks it
/** @type {Record<LineOut["mark"], "del" | "ins" | "i" | "span">} */
const TAGS = { "-": "del", "+": "ins", "@": "i", " ": "span" };

/** With its sign before each, so that it is not told by a colour alone. @param {LineOut[]} lines */
export function withSigns(lines) {
  return lines.map(({ mark, text }) => ({ mark, text: `${mark === "@" ? "⋯" : mark} ${text}` }));
}

/**
 * Neighbouring lines of one kind are one node, however many there are.
 * @param {LineOut[]} lines
 */
export function runs(lines) {
  /** @type {{mark: LineOut["mark"], lines: string[]}[]} */
  const found = [];
  for (const { mark, text } of lines) {
    const last = found.at(-1);
    if (last?.mark === mark) last.lines.push(text);
    else found.push({ mark, lines: [text] });
  }
  return found.map((run, index) => {
    const end = index < found.length - 1 ? "\n" : "";
    return h(TAGS[run.mark], {}, ...marked(run.lines.join("\n") + end));
  });
}

/** @param {string} text */
export function marked(text) {
  return text.split(UNSEEN).map((part, index) => (index % 2 ? h("mark", {}, part) : part));
}
