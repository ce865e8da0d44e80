// A program that waits for the person: what it asks for, and an answer for each call, or for some.
// The answers name the frontier at which they were given, so that they never reach a later one.

import { argumentRows } from "./calls.js";
import { arrange, button, h, Keyed, say, set } from "./dom.js";
import { progress, REFUSED, taken } from "./program-words.js";
import { argumentsLine, NOT_THEIRS, plain } from "./words.js";

export class Program extends HTMLElement {
  #rows = new Keyed();
  #waiting = [];
  #cell = null;
  #sent = false;
  #busy = false;
  #doing = null;
  #list = h("ul");
  #told = h("p", { class: "fine", "aria-live": "polite" });
  #source = h("pre", { tabindex: "0" });
  #go = button("Go on", () => this.#goOn(), { class: "go" });
  #end = button("End the program", () => this.#doing.end(this.#cell), { class: "plain end" });
  #all = h(
    "fieldset",
    {},
    this.#list,
    h("details", {}, h("summary", {}, "The program"), this.#source),
    h("div", { class: "choices" }, this.#told, this.#end, this.#go),
  );

  /** @param {any} cell @param {boolean} sent whether answers are on their way @param {{answer: Function, end: Function, may: Function}} doing */
  show(cell, sent, doing) {
    if (cell === this.#cell && sent === this.#sent) return;
    if (!this.#cell) this.#build(cell);
    this.#cell = cell;
    this.#sent = sent;
    this.#doing = doing;
    this.#go.hidden = !doing.may("approve");
    this.#end.hidden = !doing.may("stop");
    this.dataset.generation = cell.generation;
    this.#waiting = this.#rows.of(
      cell.pending,
      (call) => call.call,
      (call) => new Waiting(call, doing.may("approve"), () => this.#changed()),
    );
    arrange(
      this.#list,
      this.#waiting.map((row) => row.element),
    );
    say(this.#source, plain(cell.source).trim());
    this.#changed();
  }

  /** Whatever is chosen is only done by "Go on", so a key pressed by mistake does nothing. */
  focus() {
    if (this.#go.hidden) this.querySelector("summary").focus();
    else this.#waiting[0]?.focus();
  }

  #build(cell) {
    const heading = h("h2", { id: `program-${cell.id}` }, "A program waits for an answer");
    this.className = "ask program";
    this.dataset.cell = cell.id;
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", heading.id);
    this.replaceChildren(heading, this.#all);
  }

  #changed() {
    const answered = this.#waiting.filter((row) => row.choice).length;
    const closed = this.#busy || this.#sent;
    this.#all.disabled = closed;
    set(this, { "aria-busy": closed ? "true" : null });
    this.#go.disabled = !answered;
    const told = progress(answered, this.#waiting.length, closed);
    say(this.#told, this.#go.hidden ? NOT_THEIRS : told);
  }

  async #goOn() {
    const wrong = this.#waiting.find((row) => row.wrong);
    if (wrong) return wrong.complain();
    const given = this.#waiting.filter((row) => row.choice);
    const allow = given.filter((row) => row.choice === "allow").map((row) => row.call);
    const results = given
      .filter((row) => row.choice !== "allow")
      .map((row) => [row.call, row.result]);
    this.#busy = true;
    this.#changed();
    try {
      await this.#doing.answer(this.#cell, { results: Object.fromEntries(results), allow });
    } finally {
      this.#busy = false;
      this.#changed();
    }
  }
}

/** One call, and what the person chose for it. To choose it again takes it back. */
class Waiting {
  call;
  choice = "";
  #changed;
  #buttons;
  #value = h("textarea", { rows: "1", spellcheck: "false", hidden: true });
  #read = h("p", { class: "fine", hidden: true });
  #why = h("input", { type: "text", placeholder: "Why? The program is told.", hidden: true });
  element;

  /** @param {any} pending @param {boolean} theirs whether it is theirs to answer @param {() => void} changed */
  constructor({ call, name, arguments: given }, theirs, changed) {
    this.call = call;
    this.#changed = changed;
    this.#buttons = {
      allow: this.#choose("allow", "Let it", "The agent makes this call, when you press Go on"),
      value: this.#choose("value", "Give a result", "The program gets it; the call is not made"),
      refuse: this.#choose("refuse", "Refuse", "The program is told that the call failed"),
    };
    const tool = plain(name);
    set(this.#value, {
      "aria-label": `Result for ${tool}`,
      placeholder: "Plain text, or JSON",
      on: { input: () => this.#show() },
    });
    set(this.#why, { "aria-label": `Why ${tool} is refused, if you like` });
    for (const field of [this.#value, this.#why])
      field.addEventListener("keydown", (event) => this.#key(event));
    const about = argumentsLine(given);
    this.element = h(
      "li",
      { role: "group", "aria-label": `${tool} ${about}`.trim(), "data-call": call },
      h("b", {}, tool),
      ...(about ? argumentRows(given) : []),
      theirs && h("div", { class: "answers" }, ...Object.values(this.#buttons)),
      this.#value,
      this.#read,
      this.#why,
    );
  }

  get wrong() {
    return this.choice === "value" && taken(this.#value.value).wrong;
  }

  /** As the server takes it. */
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

  #choose(choice, label, title) {
    const chosen = () => {
      this.#pick(this.choice === choice ? "" : choice);
      this.#field?.focus();
    };
    return button(label, chosen, { title, "aria-pressed": "false", "data-choice": choice });
  }

  get #field() {
    return { value: this.#value, refuse: this.#why }[this.choice];
  }

  #pick(choice) {
    this.choice = choice;
    this.#show();
    this.#changed();
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

  /** Esc leaves the field and takes the choice back; it stops nothing yet. */
  #key(event) {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    const back = this.#buttons[this.choice];
    this.#pick("");
    back.focus();
  }
}

customElements.define("lw-program", Program);
