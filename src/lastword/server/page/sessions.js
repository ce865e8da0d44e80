// The sessions at the left: what each is about and how it stands, newest first, and what can be done
// with each.

import { arrange, button, h, Keyed, say, set } from "./dom.js";
import { icon } from "./icons.js";
import { apart, headingOf } from "./listing.js";
import { Menu } from "./menu.js";
import { ago, short } from "./words.js";

/** @import { Me, Session } from "./types.d.ts" */

/** @type {Record<string, string>} */
const STATES = {
  idle: "idle",
  running: "is answering",
  asking: "asks",
  stopping: "is stopping",
  waiting: "is paused",
};

const MINUTE = 60; // s: so exactly it is said how long ago something was
const SOON = 200; // ms after the last letter of a search

/**
 * @typedef {{
 *   create(): void,
 *   remove(session: Session): void,
 *   rename(session: Session): void,
 *   pin(session: Session): void,
 *   take(session: Session): void,
 *   search(words: string): void,
 *   more(): void,
 * }} Doing
 */

export class Sessions extends HTMLElement {
  /** @type {Keyed<Session, Row>} */
  #rows = new Keyed();
  /** @type {Keyed<string, HTMLElement>} */
  #headings = new Keyed();
  #search = h("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search the sessions",
    on: { input: () => this.#sought(), keydown: (event) => this.#searchKey(event) },
  });
  #timer = 0;
  /** @type {unknown[]} */
  #shown = [];
  #none = h("p", { class: "fine none", hidden: true }, "No session has these words in its title.");
  #list = h("ul", { "aria-label": "Sessions" });
  #more = button("Show more", () => this.#doing.more(), { class: "plain more", hidden: true });
  #new = button("New session", () => this.#doing.create(), { class: "new" });
  #who = h("p", { class: "fine who" });
  /** @type {Doing} */
  #doing;

  /** @param {Doing} doing */
  begin(doing) {
    this.#doing = doing;
    this.#new.prepend(icon("plus"));
    this.append(
      h("p", { class: "brand", "aria-label": "lastword" }, "last", h("i", {}, "word")),
      this.#new,
      this.#search,
      h("nav", { "aria-label": "Sessions" }, this.#none, this.#list, this.#more),
      this.#who,
    );
    this.#list.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * @param {{sessions: Session[], current: string, more: boolean, me: Me | null, now: number}} about
   */
  show({ sessions, current, more, me, now }) {
    const shown = [sessions, current, more, me, Math.floor(now / MINUTE)];
    if (shown.every((one, index) => one === this.#shown[index])) return; // most words that come
    this.#shown = shown;
    const rows = this.#rows.of(
      sessions,
      (one) => one.id,
      () => new Row(this.#doing),
    );
    const told = apart(sessions);
    rows.forEach((row, index) => {
      const session = sessions[index];
      row.show(session, { current: session.id === current, now, apart: told.get(session.id) ?? "" });
    });
    this.#arrange(
      sessions.map((one) => headingOf(one, now)),
      rows,
    );
    this.#none.hidden = rows.length > 0 || !this.#search.value;
    this.#more.hidden = !more;
    say(
      this.#who,
      me
        ? [me.agent && `agent: ${me.agent}`, me.name !== "local" && me.name, me.version]
            .filter(Boolean)
            .join(" · ")
        : "",
    );
  }

  /** @param {string[]} headings of each row @param {Row[]} rows */
  #arrange(headings, rows) {
    const days = [...new Set(headings)];
    const made = this.#headings.of(
      days,
      (day) => day,
      (day) => h("li", { class: "day" }, h("h2", {}, day)),
    );
    const nodes = rows.flatMap((row, index) => {
      const first = headings.indexOf(headings[index]) === index;
      return first ? [made[days.indexOf(headings[index])], row.element] : [row.element];
    });
    arrange(this.#list, nodes);
  }

  #sought() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#doing.search(this.#search.value.trim()), SOON);
  }

  /** @param {KeyboardEvent} event */
  #searchKey(event) {
    if (event.key === "ArrowDown") this.#list.querySelector("a")?.focus();
    else if (event.key === "Escape" && this.#search.value) this.#search.value = "";
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.#sought();
  }

  focus() {
    (
      /** @type {HTMLElement | null} */ (this.#list.querySelector("[aria-current]")) ??
      this.#list.querySelector("a") ??
      this.#new
    ).focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...this.#list.querySelectorAll("a")];
    const here = links.findIndex((link) => link === event.target);
    const to = here + (event.key === "ArrowDown" ? 1 : -1);
    if (!links[to]) return;
    event.preventDefault();
    links[to].focus();
  }
}

class Row {
  /** @type {Session} */
  #session;
  #dot = h("span", { class: "dot" });
  #title = h("span", { class: "title" });
  #state = h("span", { class: "unseen" });
  #time = h("time");
  #link = h("a", {}, this.#dot, this.#title, this.#state, this.#time);
  #apart = h("small");
  #press = button("", () => {}, { class: "acts-on" }, icon("more"));
  #name = "";
  element;

  /** @param {Doing} doing */
  constructor(doing) {
    this.#link.insertBefore(this.#apart, this.#state);
    new Menu(this.#press, () => [
      { name: "Rename", label: `Rename ${this.#name}`, act: () => doing.rename(this.#session) },
      {
        name: this.#session.pinned ? "Unpin" : "Pin",
        label: `${this.#session.pinned ? "Unpin" : "Pin"} ${this.#name}`,
        act: () => doing.pin(this.#session),
      },
      { name: "Export", label: `Export ${this.#name}`, act: () => doing.take(this.#session) },
      {
        name: "Delete",
        label: `Delete ${this.#name}`,
        look: "away",
        act: () => doing.remove(this.#session),
      },
    ]);
    this.element = h("li", {}, this.#link, this.#press);
  }

  /** @param {Session} session @param {{current: boolean, now: number, apart: string}} about */
  show(session, { current, now, apart: told }) {
    this.#session = session;
    set(this.#link, {
      href: `#/s/${encodeURIComponent(session.id)}`,
      "aria-current": current ? "page" : null,
      title: session.title || null,
    });
    set(this.#dot, { class: `dot ${session.state}` });
    say(this.#title, session.title || "New session");
    say(this.#apart, told);
    this.#apart.hidden = !told;
    say(this.#state, `, ${STATES[session.state] ?? session.state}, `);
    say(this.#time, ago(session.at, now));
    this.#name = `the session “${short(session.title || session.id, 60)}”${told && `, ${told}`}`;
    const name = `What to do with ${this.#name}`;
    set(this.#press, { "aria-label": name, title: name });
    this.#press.hidden = !!session.fresh;
  }
}

customElements.define("lw-sessions", Sessions);
