// What is asked for, as a person reads it before they allow it: the same on the card of a question and
// of a program that waits. All its words are the server's. What is longer than its box says so, and is
// to be read to its end before it can be allowed: nothing that runs was out of sight.

import { button, h, say, set } from "./dom.js";
import { icon } from "./icons.js";
import { marked, runs, withSigns } from "./lines.js";
import { count, plain } from "./words.js";

/** @import { Asked, LineOut } from "./types.d.ts" */

const SLACK = 2; // pixels

/** What wants to do what. @param {Asked} question */
export function headline({ tool, asks, summary }) {
  return [h("b", {}, plain(tool)), ` ${asks}`, summary && h("small", {}, summary)];
}

/** @param {Asked} question */
export function notesOf({ notes }) {
  return notes.map((text) => h("p", { class: "warning" }, icon("warn"), text));
}

/** The command, the change or the text itself. */
export class Lines {
  #lines;
  #seen;
  #changed;
  #words = h("span");
  #all = button("Show all of it", () => this.#unfold(), { class: "plain" });
  #rest = h("p", { class: "rest", hidden: true }, this.#words, this.#all);
  element;

  /**
   * @param {Asked} question
   * @param {boolean} theirs whether it is theirs to allow
   * @param {() => void} changed told when its end was seen
   */
  constructor(question, theirs, changed) {
    const { lines, kind } = question;
    this.#changed = changed;
    this.#seen = false;
    this.#lines = h("pre", { class: `lines ${kind}`, tabindex: "0" }, ...runs(signed(lines, kind)));
    this.element = h("div", { class: "asked" }, this.#lines, this.#rest);
    if (lines.length > 1) say(this.#all, `Show all ${count(lines.length, "line")}`);
    const end = endOf(lines, kind);
    this.#words.append(
      theirs ? "It goes on: scroll to its end before you allow it." : "It goes on.",
      ...(end ? [" It ends with ", h("code", {}, ...marked(end))] : []),
    );
    this.#lines.addEventListener("scroll", () => this.#look(), { passive: true });
    new ResizeObserver(() => this.#look()).observe(this.#lines);
  }

  /** Whether all of it was on the screen. */
  get seen() {
    if (!this.#seen) this.#look();
    return this.#seen;
  }

  focus() {
    this.#lines.focus();
  }

  /** It is to be allowed, and was not read. */
  insist() {
    this.#all.focus();
  }

  #unfold() {
    set(this.element, { "data-whole": true });
    this.#lines.focus();
    this.#look();
  }

  #look() {
    const { scrollHeight, scrollTop, clientHeight } = this.#lines;
    if (!clientHeight) return;
    const more = scrollHeight - clientHeight > SLACK;
    const left = more && scrollHeight - scrollTop - clientHeight > SLACK;
    this.#rest.hidden = !more;
    set(this.element, { "data-more": left });
    if (this.#seen || left) return;
    this.#seen = true;
    this.#changed();
  }
}

/**
 * How a text of several lines ends, in as many characters as a line has room for.
 * @param {LineOut[]} lines
 * @param {Asked["kind"]} kind
 */
function endOf(lines, kind) {
  const last = lines.findLast(({ text }) => text.trim())?.text.trim() ?? "";
  return kind === "diff" || lines.length < 2 ? "" : last.length > 100 ? `…${last.slice(-100)}` : last;
}

/** @param {LineOut[]} lines @param {Asked["kind"]} kind */
function signed(lines, kind) {
  return kind === "diff" ? withSigns(lines) : lines;
}
