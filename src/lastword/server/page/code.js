// A code block while it is written: line by line, without looking at the lines before again.

import { closes, unindented } from "./blocks.js";
import { codeBox, speak } from "./codebox.js";
import { colour } from "./colours.js";
import { h } from "./dom.js";
import { follow, Pieces } from "./pieces.js";

/** @import { Fence, Meter } from "./types.d.ts" */

const AT_ONCE = 16_000; // characters

export class Code {
  #fence;
  #pieces;
  #rest = document.createTextNode(""); // a line that may go on, or turn out to close the block
  #pre;
  #code;
  element;
  closed = false;

  /**
   * @param {Fence} fence
   * @param {() => string} whole the block as it was written, also if less of it is drawn
   */
  constructor(fence, whole) {
    this.#fence = fence;
    const lines = h("span");
    this.#pieces = new Pieces(lines);
    const { box, pre } = codeBox(whole);
    this.#code = h("code", {}, lines, this.#rest);
    pre.append(this.#code);
    speak(box, fence.language);
    this.#pre = pre;
    this.element = box;
  }

  /**
   * Take the lines of a text from a place on, or some of them if there are many.
   * @param {string} text
   * @param {number} from
   * @param {boolean} live
   * @param {Meter} meter
   * @returns {number} how many characters need not be given again
   */
  take(text, from, live, meter) {
    const some = text.slice(from, from + AT_ONCE);
    const more = from + some.length < text.length;
    const end = some.lastIndexOf("\n") + 1 || (more ? some.length : 0);
    meter.steps += some.length;
    const taken = this.#lines(some.slice(0, end));
    if (this.closed) this.#rest.remove();
    else this.#rest.data = more ? "" : unindented(some.slice(end), this.#fence);
    if (live) follow(this.#pre);
    colour(this.#code, this.#fence.language);
    return taken;
  }

  /**
   * @param {string} text
   * @returns {number} characters up to the end of the block, if it is in them
   */
  #lines(text) {
    const lines = text.split("\n");
    const last = lines.pop(); // nothing, or a line that is too long to be waited for
    /** @type {string[]} */
    const kept = [];
    let taken = 0;
    for (const line of lines) {
      taken += line.length + 1;
      this.closed = closes(line, this.#fence);
      if (this.closed) break;
      kept.push(`${unindented(line, this.#fence)}\n`);
    }
    this.#pieces.add(kept.join("") + (this.closed ? "" : last));
    return this.closed ? taken : text.length;
  }
}

/**
 * The code of a block that begins at a place of a text.
 * @param {string} text
 * @param {number} from
 * @param {Fence} fence
 */
export function codeIn(text, from, fence) {
  /** @type {string[]} */
  const lines = [];
  for (let at = from; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end);
    if (closes(line, fence)) break;
    lines.push(unindented(line, fence));
    at += line.length + 1;
  }
  return lines.join("\n");
}
