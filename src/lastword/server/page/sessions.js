// The sessions at the left: what each is about and how it stands, newest first.

import { arrange, button, h, Keyed, say, set } from "./dom.js";
import { icon } from "./icons.js";
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

/** @typedef {{create(): void, remove(session: Session): void, more(): void}} Doing */

export class Sessions extends HTMLElement {
  /** @type {Keyed<Session, Row>} */
  #rows = new Keyed();
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
      h("nav", {}, this.#list, this.#more),
      this.#who,
    );
    this.#list.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * @param {{sessions: Session[], current: string, more: boolean, me: Me | null, now: number}} about
   */
  show({ sessions, current, more, me, now }) {
    const rows = this.#rows.of(
      sessions,
      (one) => one.id,
      () => new Row(this.#doing),
    );
    rows.forEach((row, index) => row.show(sessions[index], sessions[index].id === current, now));
    arrange(
      this.#list,
      rows.map((row) => row.element),
    );
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
  #remove;
  element;

  /** @param {Doing} doing */
  constructor(doing) {
    this.#remove = button(
      "Delete this session",
      () => doing.remove(this.#session),
      { class: "remove" },
      icon("trash"),
    );
    this.element = h("li", {}, this.#link, this.#remove);
  }

  /** @param {Session} session @param {boolean} current @param {number} now */
  show(session, current, now) {
    this.#session = session;
    set(this.#link, {
      href: `#/s/${encodeURIComponent(session.id)}`,
      "aria-current": current ? "page" : null,
      title: session.title || null,
    });
    set(this.#dot, { class: `dot ${session.state}` });
    say(this.#title, session.title || "New session");
    say(this.#state, `, ${STATES[session.state] ?? session.state}, `);
    say(this.#time, ago(session.at, now));
    const name = `Delete the session “${short(session.title || session.id, 60)}”`;
    set(this.#remove, { "aria-label": name, title: name });
    this.#remove.hidden = !!session.fresh;
  }
}

customElements.define("lw-sessions", Sessions);
