// A question that waits for the person: what is to be done, as it is, and the answers there are. All
// its words are the server's, so that they are the same in a terminal and in an editor. The answer
// carries the generation that asked, so that an answer to something that was stopped meanwhile is
// refused instead of taken for something newer.

import { button, h, set } from "./dom.js";
import { icon } from "./icons.js";
import { Steady } from "./steady.js";
import { NOT_THEIRS, plain } from "./words.js";

const UNSEEN = /(⟨U\+[0-9A-F]{4,6}⟩)/; // a character that cannot be seen, as the server marks it
const TAGS = { "-": "del", "+": "ins", "@": "i", " ": "span" };

export class Question extends HTMLElement {
  #buttons = [];
  #first = null; // what has the focus first: a key pressed by mistake allows nothing
  #steady = null;

  /**
   * @param {any} question
   * @param {((choice: any) => Promise<void>) | null} answer none: it is not theirs to answer
   * @param {() => number} scrolled
   */
  show(question, answer, scrolled) {
    if (this.dataset.question === question.id) return;
    this.dataset.question = question.id;
    this.className = "ask";
    const heading = h(
      "h2",
      { id: `ask-${question.id}` },
      h("b", {}, plain(question.tool)),
      ` ${question.asks}`,
      question.summary && h("small", {}, question.summary),
    );
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", heading.id);
    const lines = h("pre", { class: `lines ${question.kind}`, tabindex: "0" }, ...linesOf(question));
    this.replaceChildren(
      heading,
      lines,
      ...question.notes.map((text) => h("p", { class: "warning" }, icon("warn"), text)),
      answer ? this.#choices(question, answer) : h("p", { class: "fine" }, NOT_THEIRS),
    );
    this.#first = this.#buttons[question.choices.findIndex((choice) => !choice.allow)] ?? lines;
    this.#steady = answer && new Steady(this, scrolled, (ready) => this.#open(ready));
  }

  #choices(question, answer) {
    this.#buttons = question.choices.map(({ label, ...choice }) => {
      const look = choice.always ? "always" : choice.allow ? "go" : "";
      const chosen = (click) => this.#choose(click, answer, choice);
      return button(label, chosen, { class: look });
    });
    return h("div", { class: "choices" }, ...this.#grouped(question.choices));
  }

  /** What lets it on one line, what does not on the next. */
  #grouped(choices) {
    const ones = (allow) => this.#buttons.filter((_, index) => choices[index].allow === allow);
    return [h("div", {}, ...ones(true)), h("div", {}, ...ones(false))];
  }

  #open(ready) {
    set(this, { "data-early": !ready });
    for (const one of this.#buttons) set(one, { "aria-disabled": ready ? null : "true" });
  }

  focus() {
    this.#first?.focus();
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

/** Neighbouring lines of one kind are one node, however many there are. */
function linesOf({ lines, kind }) {
  const runs = [];
  for (const { mark, text } of lines) {
    const line = kind === "diff" ? `${mark === "@" ? "⋯" : mark} ${text}` : text;
    if (runs.at(-1)?.mark === mark) runs.at(-1).lines.push(line);
    else runs.push({ mark, lines: [line] });
  }
  return runs.map((run) => h(TAGS[run.mark], {}, ...marked(run.lines.join("\n"))));
}

function marked(text) {
  return text.split(UNSEEN).map((part, index) => (index % 2 ? h("mark", {}, part) : part));
}

customElements.define("lw-question", Question);
