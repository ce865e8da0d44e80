// A long text that grows, in pieces of some lines: what is not near the screen is
// not laid out, and a new word has only its own piece laid out again.

import { h } from "./dom.js";

const LONGEST = 2000; // characters of a piece
const NEAR = 24; // pixels from its end that still count as being there

export class Pieces {
  #element;
  /** @type {Text | null} */
  #last = null;

  /** @param {Element} element */
  constructor(element) {
    this.#element = element;
  }

  /** @param {string} text */
  add(text) {
    for (let from = 0; from < text.length;) {
      const room = LONGEST - (this.#last?.length ?? LONGEST);
      const end = from + fitting(text, from, room);
      if (end > from) this.#last?.appendData(text.slice(from, end));
      if (end < text.length) this.#begin();
      from = end;
    }
  }

  #begin() {
    this.#last = document.createTextNode("");
    this.#element.append(h("span", { class: "piece" }, this.#last));
  }
}

/**
 * How many characters of a text fit: up to the end of a line, if one ends there.
 * @param {string} text
 * @param {number} from
 * @param {number} room
 */
function fitting(text, from, room) {
  if (text.length - from <= room) return text.length - from;
  const line = room > 0 ? text.lastIndexOf("\n", from + room - 1) + 1 : 0;
  if (line > from) return line - from;
  return room > 0 ? whole(text, from + room) - from : 0;
}

/**
 * Where a text can be cut, at a place or right before it: not within a character.
 * @param {string} text
 * @param {number} at
 */
export function whole(text, at) {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at - 1 : at;
}

const left = new WeakSet(); // boxes that the person scrolled away from their end

/**
 * A box that shows the newest of what is written into it, unless the person looks at something else.
 * @template {Element} E
 * @param {E} box
 * @returns {E}
 */
export function following(box) {
  const scrolled = () => {
    const away = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (away < NEAR) left.delete(box);
    else left.add(box);
  };
  box.addEventListener("scroll", scrolled, { passive: true });
  return box;
}

/** Something was written into it. @param {Element} box */
export function follow(box) {
  if (!left.has(box)) box.scrollTop = box.scrollHeight;
}
