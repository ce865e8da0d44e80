// A text of any length. From a certain length on only its beginning is drawn, and the rest when
// somebody asks for it: what nobody looks at costs nothing.

import { arrange, button, h, say } from "./dom.js";
import { pace } from "./pace.js";
import { Pieces, whole } from "./pieces.js";
import { plain } from "./words.js";

/** @import { Properties, Shows } from "./types.d.ts" */

const MOST = 200_000; // characters that are drawn unasked
const AT_ONCE = 16_000; // characters

/** Folds what something shows that has a `show(text)`. */
export class Folding {
  #content;
  #text = "";
  #all = false;
  #size = h("span");
  #button = button("Show all", () => this.#unfold(), { class: "plain" });
  element = h("p", { class: "folded", hidden: true });

  /** @param {Shows} content */
  constructor(content) {
    this.#content = content;
  }

  /** @param {string} text */
  show(text) {
    this.#text = text;
    const folded = !this.#all && text.length > MOST;
    this.element.hidden = !folded;
    arrange(this.element, folded ? [this.#size, this.#button] : []);
    if (folded) say(this.#size, `${inThousands(text.length - MOST)} more are not drawn.`);
    this.#content.show(folded ? text.slice(0, whole(text, MOST)) : text, text);
  }

  #unfold() {
    this.#all = true;
    this.show(this.#text);
  }
}

/** @param {number} characters */
function inThousands(characters) {
  const thousands = Math.ceil(characters / 1000);
  return `${thousands.toLocaleString("en")},000 characters`;
}

/** A foreign text as it is, in an element; it may grow. */
class Growing {
  #pieces;
  #element;
  #text = "";
  #done = 0;

  /** @param {Element} element */
  constructor(element) {
    this.#element = element;
    this.#pieces = new Pieces(element);
  }

  /** @param {string} text */
  show(text) {
    if (text === this.#text) return;
    if (!text.startsWith(this.#text)) {
      this.#element.replaceChildren();
      this.#pieces = new Pieces(this.#element);
      this.#done = 0;
    }
    this.#text = text;
    pace.run(this.#advance);
  }

  #advance = () => {
    while (this.#done < this.#text.length) {
      if (!pace.free) return true;
      const end = Math.min(this.#text.length, this.#done + AT_ONCE);
      this.#pieces.add(plain(this.#text.slice(this.#done, end)));
      pace.took({ steps: end - this.#done, nodes: 2 });
      this.#done = end;
    }
    return false;
  };
}

/** A foreign text as it is, of any length: the element, and what unfolds it. */
export class Long {
  #growing;
  #folding;
  element;
  more;

  /** @param {"pre" | "div" | "p"} tag @param {Properties} [properties] */
  constructor(tag, properties = {}) {
    this.element = h(tag, properties);
    this.#growing = new Growing(this.element);
    this.#folding = new Folding(this.#growing);
    this.more = this.#folding.element;
  }

  /** @param {string} text */
  show(text) {
    this.#folding.show(text);
  }
}
