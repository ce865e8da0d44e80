// A program that waits for the person: what it asks for, and an answer for each call, or for some. Each
// call is shown like a question, and taken for answered as carefully. The answers name the frontier at
// which they were given, so that they never reach a later one.

import { headline, Lines, notesOf } from "./asked.js";
import { arrange, button, h, Keyed, say, set } from "./dom.js";
import { progress, REFUSED, taken } from "./program-words.js";
import { Steady } from "./steady.js";
import { NOT_THEIRS, plain } from "./words.js";

/** @import { CallAnswer, Cell, May, Programs, WaitingOut } from "./types.d.ts" */

/** @typedef {Programs & {may: May, scrolled: () => number}} Doing */

export class Program extends HTMLElement {
  /** @type {Keyed<WaitingOut, Waiting>} */
  #rows = new Keyed();
  /** @type {Waiting[]} */
  #waiting = [];
  /** @type {Steady} */
  #steady;
  #ready = false;
  #shown = ""; // of the calls
  /** @type {Cell} */
  #cell;
  #sent = false;
  #busy = false;
  /** @type {Doing} */
  #doing;
  #list = h("ul");
  #told = h("p", { class: "fine", "aria-live": "polite" });
  #source = h("pre", { tabindex: "0" });
  #go = button("Go on", (click) => this.#goOn(click), { class: "go" });
  #end = button("End the program", () => this.#doing.end(this.#cell), { class: "plain end" });
  #all = h(
    "fieldset",
    {},
    this.#list,
    h("details", {}, h("summary", {}, "The program"), this.#source),
    h("div", { class: "choices" }, this.#told, this.#end, this.#go),
  );

  /**
   * @param {Cell} cell
   * @param {boolean} sent whether answers are on their way
   * @param {Doing} doing
   */
  show(cell, sent, doing) {
    if (cell === this.#cell && sent === this.#sent) return;
    if (!this.#cell) this.#build(cell, doing.scrolled);
    this.#cell = cell;
    this.#sent = sent;
    this.#doing = doing;
    this.#go.hidden = !doing.may("approve");
    this.#end.hidden = !doing.may("stop");
    this.dataset.generation = String(cell.generation);
    this.#ask(cell.pending, doing.may("approve"));
    say(this.#source, plain(cell.source).trim());
    this.changed();
  }

  /**
   * A call that is worded in another way is another one: what was chosen was for what was read.
   * @param {WaitingOut[]} pending
   * @param {boolean} theirs
   */
  #ask(pending, theirs) {
    this.#waiting = this.#rows.of(
      pending,
      (call) => JSON.stringify(call),
      (call) => new Waiting(call, theirs, this),
    );
    arrange(
      this.#list,
      this.#waiting.map((row) => row.element),
    );
    const shown = JSON.stringify(pending);
    if (shown !== this.#shown) this.#steady.renew();
    this.#shown = shown;
  }

  /** Whether a click was meant for what is on the card. @param {MouseEvent} click */
  takes(click) {
    return this.#steady.takes(click);
  }

  /** Whatever is chosen is only done by "Go on", so a key pressed by mistake does nothing. */
  focus() {
    if (this.#go.hidden) this.querySelector("summary")?.focus();
    else this.#waiting[0]?.focus();
  }

  /** @param {Cell} cell @param {() => number} scrolled */
  #build(cell, scrolled) {
    const heading = h("h2", { id: `program-${cell.id}` }, "A program waits for an answer");
    this.className = "ask program";
    this.dataset.cell = cell.id;
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", heading.id);
    this.replaceChildren(heading, this.#all);
    this.#steady = new Steady(this, scrolled, (ready) => this.#open(ready));
  }

  /** @param {boolean} ready */
  #open(ready) {
    this.#ready = ready;
    set(this, { "data-early": !ready });
    this.changed();
  }

  changed() {
    const answered = this.#waiting.filter((row) => row.choice).length;
    const closed = this.#busy || this.#sent;
    this.#all.disabled = closed;
    set(this, { "aria-busy": closed ? "true" : null });
    this.#go.disabled = !answered;
    set(this.#go, { "aria-disabled": this.#ready ? null : "true" });
    for (const row of this.#waiting) row.open(this.#ready);
    const told = progress(answered, this.#waiting.length, closed);
    say(this.#told, this.#go.hidden ? NOT_THEIRS : told);
  }

  /** @param {MouseEvent} click */
  async #goOn(click) {
    if (!this.takes(click)) return;
    const wrong = this.#waiting.find((row) => row.wrong);
    if (wrong) return wrong.complain();
    const given = this.#waiting.filter((row) => row.choice);
    const allow = given.filter((row) => row.choice === "allow").map((row) => row.call);
    const results = given
      .filter((row) => row.choice !== "allow")
      .map((row) => [row.call, row.result]);
    this.#busy = true;
    this.changed();
    try {
      await this.#doing.answer(this.#cell, { results: Object.fromEntries(results), allow });
    } finally {
      this.#busy = false;
      this.changed();
    }
  }
}

/** @typedef {"allow" | "value" | "refuse"} Choice */

/** One call, and what the person chose for it. To choose it again takes it back. */
class Waiting {
  call;
  /** @type {Choice | ""} */
  choice = "";
  #card;
  #lines;
  #buttons;
  #value = h("textarea", { rows: "1", spellcheck: "false", hidden: true });
  #read = h("p", { class: "fine", hidden: true });
  #why = h("input", { type: "text", placeholder: "Why? The program is told.", hidden: true });
  element;

  /**
   * @param {WaitingOut} pending
   * @param {boolean} theirs whether it is theirs to answer
   * @param {Program} card
   */
  constructor(pending, theirs, card) {
    this.call = pending.call;
    this.#card = card;
    this.#lines = new Lines(pending, theirs, () => card.changed());
    this.#buttons = {
      allow: this.#choose("allow", "Let it", "The agent makes this call, when you press Go on"),
      value: this.#choose("value", "Give a result", "The program gets it; the call is not made"),
      refuse: this.#choose("refuse", "Refuse", "The program is told that the call failed"),
    };
    const tool = plain(pending.tool);
    set(this.#value, {
      "aria-label": `Result for ${tool}`,
      placeholder: "Plain text, or JSON",
      on: { input: () => this.#show() },
    });
    set(this.#why, { "aria-label": `Why ${tool} is refused, if you like` });
    for (const field of [this.#value, this.#why])
      set(field, { on: { keydown: (event) => this.#key(event) } });
    this.element = h(
      "li",
      { role: "group", "aria-label": `${tool} ${pending.asks}`, "data-call": pending.call },
      h("h3", {}, ...headline(pending)),
      this.#lines.element,
      ...notesOf(pending),
      theirs && h("div", { class: "answers" }, ...Object.values(this.#buttons)),
      this.#value,
      this.#read,
      this.#why,
    );
  }

  /** Whether it can be answered now. @param {boolean} ready */
  open(ready) {
    for (const [choice, one] of Object.entries(this.#buttons)) {
      const open = ready && (choice !== "allow" || this.#lines.seen);
      set(one, { "aria-disabled": open ? null : "true" });
    }
  }

  get wrong() {
    return this.choice === "value" && taken(this.#value.value).wrong;
  }

  /** As the server takes it. @returns {CallAnswer} */
  get result() {
    if (this.choice === "refuse") return { error: this.#why.value.trim() || REFUSED };
    return { value: taken(this.#value.value).value };
  }

  focus() {
    this.#buttons.allow.focus();
  }

  complain() {
    this.#value.focus();
  }

  /** @param {Choice} choice @param {string} label @param {string} title */
  #choose(choice, label, title) {
    /** @param {MouseEvent} click */
    const chosen = (click) => {
      if (!this.#card.takes(click)) return;
      if (choice === "allow" && !this.#lines.seen) return this.#lines.insist();
      this.#pick(this.choice === choice ? "" : choice);
      this.#field?.focus();
    };
    return button(label, chosen, { title, "aria-pressed": "false", "data-choice": choice });
  }

  get #field() {
    return { value: this.#value, refuse: this.#why, allow: null, "": null }[this.choice];
  }

  /** @param {Choice | ""} choice */
  #pick(choice) {
    this.choice = choice;
    this.#show();
    this.#card.changed();
  }

  #show() {
    for (const [choice, one] of Object.entries(this.#buttons))
      set(one, { "aria-pressed": String(choice === this.choice) });
    const { words, wrong } = taken(this.#value.value);
    this.#value.hidden = this.#read.hidden = this.choice !== "value";
    this.#why.hidden = this.choice !== "refuse";
    set(this.#value, { "aria-invalid": wrong ? "true" : null });
    set(this.#read, { class: wrong ? "fine wrong" : "fine" });
    say(this.#read, words);
  }

  /**
   * Esc leaves the field and takes the choice back; it stops nothing yet.
   * @param {KeyboardEvent} event
   */
  #key(event) {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    const back = this.choice && this.#buttons[this.choice];
    this.#pick("");
    if (back) back.focus();
  }
}

customElements.define("lw-program", Program);
