// The conversation: everything that was said and done, in order, with what is still open at the
// end. It stays at the bottom unless the person scrolled up to read.

import { arrange, button, h, Keyed, say, set } from "./dom.js";
import { Long } from "./folding.js";
import { icon, square } from "./icons.js";
import "./program.js";
import { bringsAnswers, endWords, saidIn } from "./program-words.js";
import { isAnswered, standing } from "./programs.js";
import "./question.js";
import { noteView } from "./receipt.js";
import { Staying } from "./staying.js";
import { isOpen, Turn } from "./turn.js";
import { phase, unplaced } from "./view.js";
import { welcome } from "./welcome.js";
import { clock, count } from "./words.js";

/**
 * @import { Program } from "./program.js"
 * @import { Question } from "./question.js"
 * @import { Cell, Choice, Doing, Item, Me, Message, MessageItem, NoteItem } from "./types.d.ts"
 * @import { Question as Asked, ReceiptItem, State, Turn as Answer } from "./types.d.ts"
 */

/** @type {Record<string, string>} */
const NEVER = {
  stopped: "stopped before it was answered",
  superseded: "replaced before it was answered",
  shutdown: "not answered: the server was shut down",
  lost: "not answered: the server's process died",
  failed: "could not be answered",
  refused: "refused",
};

/**
 * @typedef {{key: string, kind: "program", text: string}} EndedItem
 * @typedef {Item | EndedItem} Shown
 * @typedef {{now: ReturnType<typeof phase>, doing: Doing}} About
 * @typedef {{element: HTMLElement, show(item: Shown, state: State, about: About): void}} View
 */

export class Conversation extends HTMLElement {
  /** @type {Keyed<Shown, View>} */
  #views = new Keyed();
  /** @type {Keyed<Asked, Question>} */
  #asks = new Keyed();
  /** @type {Keyed<Cell, Program>} */
  #programs = new Keyed();
  #column = h("div", {
    class: "column",
    role: "log",
    "aria-live": "off",
    "aria-label": "Messages",
  });
  #older = button("Show earlier", () => this.#loadOlder(), { class: "older plain" });
  #jump = button("Jump to latest", () => this.pin(), { class: "jump", hidden: true });
  #welcome = h("div", { class: "welcome" });
  #scroller = h(
    "div",
    { class: "scroller", tabindex: "0", "aria-label": "Conversation", role: "region" },
    this.#column,
  );
  /** @type {Staying} */
  #staying;
  #words = h("span");
  #line = h(
    "p",
    { class: "between" },
    h("span", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    square(),
    this.#words,
  );
  /** @type {Doing} */
  #doing;

  /** @param {Doing} doing */
  begin(doing) {
    this.#doing = doing;
    this.append(this.#scroller, this.#jump);
    this.#jump.prepend(icon("down"));
    /** @param {boolean} is */
    const pinned = (is) => (this.#jump.hidden = is);
    this.#staying = new Staying(this.#scroller, this.#column, () => this.#card, pinned);
  }

  /** @param {State} state @param {Me | null} me */
  show(state, me) {
    const now = phase(state);
    /** @type {Shown[]} */
    const items = state.items.flatMap((item) => [item, ...endedIn(item, state)]);
    for (const id of unplaced(state).filter((one) => state.messages[one]))
      items.push({ key: `message ${id}`, kind: "message", id, outcome: "", error: "" });
    const views = this.#views.of(items, (item) => item.key, makeView);
    views.forEach((view, index) => view.show(items[index], state, { now, doing: this.#doing }));
    const asks = this.#asks.of(
      state.questions,
      (one) => one.id,
      () => document.createElement("lw-question"),
    );
    asks.forEach((ask, index) => {
      const question = state.questions[index];
      const answer = this.#doing.may("approve")
        ? (/** @type {Choice} */ choice) => this.#doing.answer(question, choice)
        : null;
      ask.show(question, answer, () => this.#staying.scrolled);
    });
    const programs = this.#showPrograms(state);
    const last = now === "preparing" || now === "stopping" ? [this.#between(now, state)] : [];
    const empty = state.known && items.length === 0 && state.questions.length === 0;
    if (empty) this.#greet(me);
    arrange(this.#column, [
      ...(state.more ? [this.#older] : []),
      ...(empty ? [this.#welcome] : []),
      ...views.map((view) => view.element),
      ...last,
      ...asks,
      ...programs,
    ]);
    this.classList.toggle("empty", empty);
  }

  /** @param {State} state */
  #showPrograms(state) {
    const waiting = standing(state);
    const cards = this.#programs.of(
      waiting,
      (one) => one.id,
      () => document.createElement("lw-program"),
    );
    const scrolled = () => this.#staying.scrolled;
    const doing = { ...this.#doing.program, may: this.#doing.may, scrolled };
    cards.forEach((card, index) => {
      const cell = waiting[index];
      card.show(cell, isAnswered(state, cell), doing);
    });
    return cards;
  }

  /** The question that waits longest, or the program. @returns {HTMLElement | null} */
  get #card() {
    return this.#column.querySelector("lw-question, lw-program");
  }

  focusQuestion() {
    const ask = this.#card;
    ask?.scrollIntoView({ block: "nearest" });
    ask?.focus();
    return !!ask;
  }

  /** The account of the last stop. @returns {boolean} whether there is one */
  showLastReceipt() {
    const last = [...this.querySelectorAll("lw-receipt")].at(-1);
    last?.scrollIntoView({ block: "nearest" });
    const details = last?.querySelector("details");
    if (details) details.open = true;
    return !!last;
  }

  /** The person spoke: whatever they were reading, they now want to see the answer. */
  pin() {
    this.#staying.pin();
  }

  /** A page up or down, from wherever the keyboard is. @param {-1 | 1} by */
  page(by) {
    this.#scroller.scrollBy({ top: by * this.#scroller.clientHeight * 0.9 });
  }

  /**
   * What is going on where there is nothing to show yet, or nothing any more.
   * @param {"preparing" | "stopping"} now
   * @param {State} state
   */
  #between(now, { sending, processes, stopping }) {
    const alive = processes.filter((one) => !one.ended_at && !one.kept).length;
    const left = alive ? `; ${count(alive, "process")} still to end` : "";
    const preparing = Object.values(sending).some(Boolean) ? "sending…" : "preparing…";
    // that nothing more happens is known when the server has heard of it
    const asking = stopping && !stopping.known;
    const ending = asking ? "asking it to stop…" : `stopping: nothing more is said or done${left}`;
    say(this.#words, now === "preparing" ? preparing : ending);
    set(this.#line, { class: `between ${now}` });
    return this.#line;
  }

  /** @param {Me | null} me */
  #greet(me) {
    const agent = me ? `agent ${me.agent}` : "nobody";
    if (this.#welcome.dataset.agent === agent) return;
    this.#welcome.dataset.agent = agent;
    this.#welcome.replaceChildren(...welcome(me, this.#doing.suggest));
  }

  async #loadOlder() {
    const before = this.#scroller.scrollHeight - this.#scroller.scrollTop;
    this.#older.disabled = true;
    await this.#doing.older();
    this.#older.disabled = false;
    // what the person was looking at stays where it was
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        this.#scroller.scrollTop = this.#scroller.scrollHeight - before;
      }),
    );
  }
}

/**
 * How programs ended that last worked for a run: below what it said.
 * @param {Item} item
 * @param {State} state
 * @returns {EndedItem[]}
 */
function endedIn(item, { ended }) {
  if (item.kind !== "turn") return [];
  return ended
    .filter((cell) => cell.run === item.run)
    .map((cell) => ({ key: `program ${cell.id}`, kind: "program", text: endWords(cell) }));
}

/** @param {Shown} item @returns {View} */
function makeView(item) {
  return {
    message: () => new MessageView(),
    turn: () => new TurnView(),
    receipt: () => new ReceiptView(),
    note: () => new NoteView(),
    program: () => new EndedView(),
  }[item.kind]();
}

class MessageView {
  #text = new Long("div", { class: "words" });
  #fate = h("small");
  #who = h("small", { class: "who" });
  /** @type {unknown[]} */
  #shown = [];
  element = h("div", { class: "me" }, this.#who, this.#text.element, this.#text.more, this.#fate);

  /** @param {MessageItem} item @param {State} state */
  show(item, { messages, sending }) {
    const shown = [item, messages[item.id], sending[item.id]];
    if (shown.every((one, index) => one === this.#shown[index]) && this.#shown.length) return;
    this.#shown = shown;
    this.#draw(item, messages[item.id] ?? { text: "…" }, sending);
  }

  /** @param {MessageItem} item @param {Message} message @param {State["sending"]} sending */
  #draw({ id, outcome, error }, message, sending) {
    const by = message.origin && message.origin !== "person" ? message.origin : "";
    const answers = bringsAnswers(message);
    this.#text.show(saidIn(message));
    const never = answers && outcome ? "did not reach it" : (NEVER[outcome] ?? "");
    say(
      this.#fate,
      [sending[id] ? "sending…" : "", never, error, attached(message)]
        .filter(Boolean)
        .join(" · "),
    );
    say(this.#who, by ? `by a ${by}` : "");
    this.#fate.hidden = !this.#fate.textContent;
    this.#who.hidden = !by;
    set(this.element, {
      class: `me ${outcome ? "never" : ""} ${sending[id] ? "sending" : ""} ${answers ? "answers" : ""}`,
      "data-message": id,
      title: clock(message.at),
    });
  }
}

/** @param {Message} message */
function attached(message) {
  const { attachments = [] } = bringsAnswers(message) ? {} : message;
  return attachments.map((one) => one.name || one.media_type).join(", ");
}

class TurnView {
  #turn = new Turn();
  /** @type {unknown[]} */
  #shown = [];
  element = this.#turn.element;

  /** @param {Answer} item @param {State} state @param {About} about */
  show(item, state, { now }) {
    const live = state.active === item.run;
    const busy = item.parts.some(isOpen);
    const mark = live && !busy && now !== "asking" && now !== "stopping";
    const asked = live ? state.questions.map((one) => one.call).join("\n") : "";
    const shown = [
      item,
      live,
      mark,
      asked,
      item.parts.some((part) => part.kind === "said") && state.messages,
    ];
    if (shown.every((one, index) => one === this.#shown[index])) return;
    this.#shown = shown;
    this.#turn.show(item, { live, mark, asked, messages: state.messages });
  }
}

class ReceiptView {
  element = document.createElement("lw-receipt");

  /** @param {ReceiptItem} item @param {State} _ @param {About} about */
  show(item, _, { doing }) {
    this.element.show(item, doing.putBack);
  }
}

class NoteView {
  element = h("div");

  /** @param {NoteItem} item */
  show(item) {
    if (!this.element.hasChildNodes()) this.element.append(noteView(item.text));
  }
}

class EndedView {
  element = h("p", { class: "aside" });

  /** @param {EndedItem} item */
  show(item) {
    say(this.element, item.text);
  }
}

customElements.define("lw-conversation", Conversation);
