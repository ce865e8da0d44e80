// A question that waits for the person: what is to be done, as it is, and the answers there are. All
// its words are the server's, so that they are the same in a terminal and in an editor. The answer
// carries the generation that asked, so that an answer to something that was stopped meanwhile is
// refused instead of taken for something newer.

import { headline, Lines, notesOf } from "./asked.js";
import { button, h, set } from "./dom.js";
import { Steady } from "./steady.js";
import { NOT_THEIRS } from "./words.js";

/** @import { Choice, Question as Asked } from "./types.d.ts" */

/** @typedef {(choice: Choice) => Promise<void>} Answer */

export class Question extends HTMLElement {
  /** @type {Asked["choices"]} */
  #choices = [];
  /** @type {HTMLButtonElement[]} */
  #buttons = [];
  /** @type {Lines} */
  #lines;
  #ready = false;
  /** @type {{focus(): void} | null} */
  #first = null; // what has the focus first: a key pressed by mistake allows nothing
  /** @type {Steady | null} */
  #steady = null;

  /**
   * @param {Asked} question
   * @param {Answer | null} answer none: it is not theirs to answer
   * @param {() => number} scrolled
   */
  show(question, answer, scrolled) {
    if (this.dataset.question === question.id) return;
    this.dataset.question = question.id;
    this.className = "ask";
    const heading = h("h2", { id: `ask-${question.id}` }, ...headline(question));
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", heading.id);
    this.#lines = new Lines(question, !!answer, () => this.#dress());
    this.replaceChildren(
      heading,
      this.#lines.element,
      ...notesOf(question),
      answer ? this.#offer(question, answer) : h("p", { class: "fine" }, NOT_THEIRS),
    );
    const deny = this.#choices.findIndex((choice) => !choice.allow);
    this.#first = this.#buttons[deny] ?? this.#lines;
    this.#steady = answer && new Steady(this, scrolled, (ready) => this.#open(ready));
  }

  /** @param {Asked} question @param {Answer} answer */
  #offer(question, answer) {
    this.#choices = question.choices;
    this.#buttons = question.choices.map(({ label, ...choice }) => {
      const look = choice.always ? "always" : choice.allow ? "go" : "";
      return button(label, (click) => this.#choose(click, answer, choice), { class: look });
    });
    return h("div", { class: "choices" }, ...this.#grouped());
  }

  /** What lets it on one line, what does not on the next. */
  #grouped() {
    /** @param {boolean} allow */
    const ones = (allow) => this.#buttons.filter((_, at) => this.#choices[at].allow === allow);
    return [h("div", {}, ...ones(true)), h("div", {}, ...ones(false))];
  }

  /** @param {boolean} ready */
  #open(ready) {
    this.#ready = ready;
    set(this, { "data-early": !ready });
    this.#dress();
  }

  #dress() {
    this.#buttons.forEach((one, at) => {
      const open = this.#ready && (this.#lines.seen || !this.#choices[at].allow);
      set(one, { "aria-disabled": open ? null : "true" });
    });
  }

  focus() {
    this.#first?.focus();
  }

  /** @param {MouseEvent} click @param {Answer} answer @param {Choice} choice */
  async #choose(click, answer, choice) {
    if (!this.#steady?.takes(click)) return;
    if (choice.allow && !this.#lines.seen) return this.#lines.insist();
    for (const one of this.#buttons) one.disabled = true;
    this.setAttribute("aria-busy", "true");
    try {
      await answer(choice);
    } finally {
      this.removeAttribute("aria-busy");
      for (const one of this.#buttons) one.disabled = false;
    }
  }
}

customElements.define("lw-question", Question);
