// The conversation: everything that was said and done, in order, with what is still open at the
// end. It stays at the bottom unless the person scrolled up to read.

import { answeredBy, lastTurn } from "./anew.js";
import { hasChanged } from "./changes.js";
import { arrange, button, h, Keyed, say, set } from "./dom.js";
import { icon, square } from "./icons.js";
import "./program.js";
import { endWords } from "./program-words.js";
import { isAnswered, standing } from "./programs.js";
import "./question.js";
import { noteView } from "./receipt.js";
import { MessageView } from "./said.js";
import { Staying } from "./staying.js";
import { CUT, isOpen, Turn } from "./turn.js";
import { going, phase, unplaced } from "./view.js";
import { welcome } from "./welcome.js";
import { count } from "./words.js";

/**
 * @import { Program } from "./program.js"
 * @import { Question } from "./question.js"
 * @import { Cell, Choice, Doing, Item, May, Me, NoteItem } from "./types.d.ts"
 * @import { Question as Asked, ReceiptItem, State, Turn as Answer } from "./types.d.ts"
 */

/**
 * @typedef {{key: string, kind: "program", text: string}} EndedItem
 * @typedef {Item | EndedItem} Shown
 * @typedef {{
 *   now: ReturnType<typeof phase>,
 *   doing: Doing,
 *   latest: string, // the last turn, by its run, if it can be asked anew
 *   last: string, // by its run, whether or not
 *   editable: string, // the message that it answers, by its id, if it can be said anew
 *   goesOn: string, // what a press goes on after, by its key
 * }} About
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
    const about = { now, doing: this.#doing, ...latest(state, this.#doing.may) };
    views.forEach((view, index) => view.show(items[index], state, about));
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

/**
 * What the last turn leaves to do: nothing, as long as something else is to follow it.
 * @param {State} state
 * @param {May} may
 */
function latest(state, may) {
  const turn = lastTurn(state);
  const alone = !!turn && !state.queue.length && !unplaced(state).length && !state.stopping;
  const mine = alone && may("send") && may("stop");
  const over = mine && !going(state) && !state.ending.length;
  const last = state.items.at(-1);
  const stopped = last?.kind === "receipt" && last.receipt.reason === "stopped" && turn;
  const cut = last === turn && turn && CUT.has(turn.outcome) && !turn.fenced_at;
  return {
    latest: over && turn ? turn.run : "",
    last: turn?.run ?? "",
    editable: (mine && turn && answeredBy(state.items, turn.run).at(-1)) || "",
    goesOn: over && last && (stopped || cut) ? last.key : "",
  };
}

class TurnView {
  #turn = new Turn();
  /** @type {unknown[]} */
  #shown = [];
  element = this.#turn.element;

  /** @param {Answer} item @param {State} state @param {About} about */
  show(item, state, { now, doing, latest: last, goesOn }) {
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
      last === item.run,
      goesOn === item.key,
    ];
    if (shown.every((one, index) => one === this.#shown[index])) return;
    this.#shown = shown;
    this.#turn.show(item, { live, mark, asked, messages: state.messages });
    const changed = !!item.outcome && doing.may("approve") && hasChanged(item);
    this.#turn.offer({
      again: last === item.run ? () => doing.again(item.run) : null,
      goOn: goesOn === item.key ? () => doing.goOn() : null,
      changes: changed ? () => doing.changes(item.run) : null,
    });
  }
}

class ReceiptView {
  element = document.createElement("lw-receipt");

  /** @param {ReceiptItem} item @param {State} _ @param {About} about */
  show(item, _, { doing, goesOn }) {
    this.element.show(item, doing.putBack, doing.may("approve") ? doing.changes : null);
    this.element.offer(goesOn === item.key ? doing.goOn : null);
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
