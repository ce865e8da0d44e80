// What waits for its turn: chips that can be edited, moved and removed, by hand and by keyboard.

import { around, arrange, button, h, Keyed, say, set } from "./dom.js";
import { icon } from "./icons.js";
import { short } from "./words.js";

/** @import { QueueDoing as Doing, Queued, State } from "./types.d.ts" */

/** @type {Record<string, string>} */
const PLACES = { steering: "joins the answer", collecting: "gathering" };

export class Queue extends HTMLElement {
  /** @type {Keyed<Queued, Chip>} */
  #chips = new Keyed();
  #label = h("span", { class: "label", id: "queue-label" });
  #list = h("ol", { "aria-labelledby": "queue-label" });
  #resume = button("Resume", () => this.#doing.resume(), { class: "plain" });
  /** @type {Doing} */
  #doing;
  /** @type {Pick<State, "queue" | "hushed">} */
  #state = { queue: [], hushed: false };

  /** @param {Doing} doing */
  begin(doing) {
    this.#doing = doing;
    this.hidden = true;
    this.append(this.#label, this.#list, this.#resume);
    this.#list.addEventListener("dragover", (event) => this.#over(event));
    this.#list.addEventListener("drop", (event) => this.#drop(event));
  }

  /** @param {State} state */
  show(state) {
    this.#state = state;
    const { queue, hushed } = state;
    const paused = hushed || queue.some((one) => one.held);
    this.hidden = queue.length === 0;
    this.classList.toggle("paused", paused);
    say(this.#label, paused ? "Paused" : "Next");
    this.#resume.hidden = !paused;
    const chips = this.#chips.of(
      queue,
      (one) => one.id,
      (one) => new Chip(one.id, this),
    );
    chips.forEach((chip, place) => chip.show(queue[place], place, queue.length));
    arrange(
      this.#list,
      chips.map((chip) => chip.element),
    );
  }

  get doing() {
    return this.#doing;
  }

  /** @returns {boolean} whether anything waits */
  focusFirst() {
    const first = this.#list.querySelector("button");
    first?.focus();
    return !!first;
  }

  /** One place to the left or right; the focus goes along. @param {string} id @param {number} by */
  async shift(id, by) {
    const to = this.#state.queue.findIndex((one) => one.id === id) + by;
    if (to < 0 || to >= this.#state.queue.length) return;
    await this.#doing.move(id, to);
    this.#chips.get(id)?.element.focus();
  }

  /** @param {string} id @param {number} place */
  async removed(id, place) {
    await this.#doing.remove(id);
    const next = this.#state.queue[Math.min(place, this.#state.queue.length - 1)];
    if (next) this.#chips.get(next.id)?.element.focus();
  }

  /** @param {DragEvent} event */
  #over(event) {
    const moved = this.querySelector(".dragged");
    if (!moved) return;
    event.preventDefault();
    const chip = around(event, ".chip");
    for (const one of this.querySelectorAll(".chip"))
      one.classList.toggle("target", one === chip && one !== moved);
  }

  /** @param {DragEvent} event */
  async #drop(event) {
    event.preventDefault();
    /** @type {HTMLElement | null} */
    const moved = this.querySelector(".dragged");
    const chip = around(event, ".chip");
    const to = chip ? [...this.#list.children].indexOf(chip) : -1;
    for (const one of this.querySelectorAll(".target")) one.classList.remove("target");
    if (moved && to >= 0) await this.#doing.move(moved.dataset.message ?? "", to);
  }
}

class Chip {
  #queue;
  #id;
  #place = 0;
  #text = "";
  #shown = "";
  #edits = false;
  #words = h("button", {
    type: "button",
    class: "words",
    tabindex: "-1",
    on: { click: () => this.#edit() },
  });
  #how = h("small");
  #remove = button(
    "Remove",
    () => this.#queue.removed(this.#id, this.#place),
    { tabindex: "-1" },
    icon("close"),
  );
  #editor = h("textarea", {
    rows: "1",
    "aria-label": "Edit the message",
    on: { keydown: (event) => this.#editing(event), blur: () => this.#finish(true) },
  });
  element = h(
    "li",
    { class: "chip", tabindex: "0", draggable: "true" },
    h("span", { class: "grip" }, icon("grip")),
    this.#words,
    this.#how,
    this.#remove,
  );

  /** @param {string} id @param {Queue} queue */
  constructor(id, queue) {
    this.#id = id;
    this.#queue = queue;
    set(this.element, { "data-message": id });
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("dragstart", (event) => {
      event.dataTransfer?.setData("text/plain", this.#text);
      if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
      this.element.classList.add("dragged");
    });
    this.element.addEventListener("dragend", () => this.element.classList.remove("dragged"));
  }

  /** @param {Queued} message @param {number} place @param {number} many */
  show({ text, placed }, place, many) {
    const shown = `${placed} ${place} ${many}`;
    if (text === this.#text && shown === this.#shown) return;
    this.#shown = shown;
    this.#place = place;
    this.#text = text;
    say(this.#words, short(text, 70));
    say(this.#how, PLACES[placed] ?? "");
    this.#how.hidden = !PLACES[placed];
    set(this.#words, { title: short(text, 1000) });
    set(this.element, {
      "aria-label": `${short(text, 120)}, ${place + 1} of ${many}. Enter edits, Delete removes, Alt and an arrow moves.`,
    });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.target !== this.element) return;
    const back = event.key === "ArrowLeft" || event.key === "ArrowUp";
    const on = event.key === "ArrowRight" || event.key === "ArrowDown";
    if (event.altKey && (back || on)) this.#queue.shift(this.#id, back ? -1 : 1);
    else if (event.key === "Delete" || event.key === "Backspace")
      this.#queue.removed(this.#id, this.#place);
    else if (event.key === "Enter" || event.key === "F2") this.#edit();
    else if (back || on) this.#beside(back)?.focus();
    else return;
    event.preventDefault();
  }

  /** @param {boolean} before @returns {HTMLElement | null} the chip on that side */
  #beside(before) {
    const { previousElementSibling: previous, nextElementSibling: next } = this.element;
    return /** @type {HTMLElement | null} */ (before ? previous : next);
  }

  #edit() {
    if (this.#edits) return;
    this.#edits = true;
    this.#editor.value = this.#text;
    this.element.classList.add("editing");
    this.element.draggable = false;
    this.#words.replaceWith(this.#editor);
    this.#editor.focus();
    this.#editor.select();
  }

  /** @param {KeyboardEvent} event */
  #editing(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) this.#finish(true);
    else if (event.key === "Escape") this.#finish(false);
    else return;
    event.preventDefault();
    event.stopPropagation(); // Esc closes the editor here, and stops nothing
    this.element.focus();
  }

  /** @param {boolean} keep */
  async #finish(keep) {
    if (!this.#edits) return; // taking it away blurs it, which ends here a second time
    this.#edits = false;
    const text = this.#editor.value.trim();
    this.#editor.replaceWith(this.#words);
    this.element.classList.remove("editing");
    this.element.draggable = true;
    if (keep && text && text !== this.#text) await this.#queue.doing.edit(this.#id, text);
  }
}

customElements.define("lw-queue", Queue);
