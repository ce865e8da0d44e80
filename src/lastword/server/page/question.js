// A question that waits for the person. The answer carries the generation that asked, so that an
// answer to something that was stopped meanwhile is refused instead of taken for something newer.

import { button, h, set } from "./dom.js";
import { Steady } from "./steady.js";
import { argumentsText, plain } from "./words.js";

const VERBS = {
  shell: "wants to run",
  write_file: "wants to write",
  read_file: "wants to read",
  edit_file: "wants to change",
  delete_file: "wants to delete",
  fetch: "wants to fetch",
};
const LONG = 400; // characters of a command that is shown folded

export class Question extends HTMLElement {
  #buttons = [];
  #steady = null;

  /** @param {any} question @param {(choice: {allow: boolean, always?: boolean}) => Promise<void>} answer @param {() => number} scrolled */
  show(question, answer, scrolled) {
    if (this.dataset.question === question.id) return;
    this.dataset.question = question.id;
    this.className = "ask";
    const name = plain(question.tool);
    const heading = h(
      "h2",
      { id: `ask-${question.id}` },
      h("b", {}, name),
      ` ${VERBS[question.tool] ?? "asks for your permission"}`,
    );
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", heading.id);
    const choose = (label, choice, look, title = null) =>
      button(label, (click) => this.#choose(click, answer, choice), { class: look, title });
    this.#buttons = [
      choose("Deny", { allow: false }, ""),
      choose("Allow", { allow: true }, "go"),
      choose(
        "Always allow",
        { allow: true, always: true },
        "",
        "The same again, for the rest of this session",
      ),
    ];
    this.replaceChildren(
      heading,
      subject(question),
      ...whole(question),
      h("div", { class: "choices" }, ...this.#buttons),
    );
    this.#steady = new Steady(this, scrolled, (ready) => this.#open(ready));
  }

  #open(ready) {
    set(this, { "data-early": !ready });
    for (const one of this.#buttons) set(one, { "aria-disabled": ready ? null : "true" });
  }

  /** The safe answer has the focus, so that a key pressed by mistake allows nothing. */
  focus() {
    this.#buttons[0]?.focus();
  }

  async #choose(click, answer, choice) {
    if (!this.#steady.takes(click)) return;
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

function subject({ subject: text, text: given }) {
  const shown = plain(text || given);
  return h(
    "pre",
    { class: shown.length > LONG ? "subject long" : "subject", tabindex: "0" },
    shown,
  );
}

function whole({ subject: text, text: given }) {
  if (!given || given === text) return [];
  return [
    h(
      "details",
      {},
      h("summary", {}, "All that it is called with"),
      h("pre", { tabindex: "0" }, argumentsText(given)),
    ),
  ];
}

customElements.define("lw-question", Question);
