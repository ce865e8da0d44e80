// The line above the conversation: what this is, how it stands, and what goes on under it.

import { Details } from "./details.js";
import { around, arrange, button, h, Keyed, say, set } from "./dom.js";
import { icon } from "./icons.js";
import { ProcessRow } from "./process.js";
import { phase, phaseWords } from "./view.js";
import { count } from "./words.js";

/** @import { Link, May, Me, Process, Processes, State, Theme } from "./types.d.ts" */

/** @type {Record<Theme, [string, Parameters<typeof icon>[0]]>} */
const THEMES = {
  auto: ["Theme: as the system", "auto"],
  light: ["Theme: light", "sun"],
  dark: ["Theme: dark", "moon"],
};

/**
 * @typedef {{menu(): void, keys(): void, theme(): void, telling: {element: HTMLElement, dress(): void}, processes: Processes & {may: May}}} Doing
 */

export class Head extends HTMLElement {
  #title = h("h1");
  #state = h("span", { class: "pill state", role: "status" });
  #details = new Details();
  #processes = button("", () => this.#toggle(), {
    class: "pill processes",
    hidden: true,
    "aria-expanded": "false",
  });
  #popup = h("div", { class: "popup", hidden: true });
  #none = h("p", { class: "fine" }, "All of them have ended.");
  /** @type {Keyed<Process, ProcessRow>} */
  #rows = new Keyed(); // as long as they are looked at
  /** @type {State} */
  #shown; // what was shown last
  #theme = h("button", { type: "button", class: "bare theme" });
  /** @type {Doing} */
  #doing;

  /** @param {Doing} doing */
  begin(doing) {
    this.#doing = doing;
    this.#details.add(doing.telling.element, () => doing.telling.dress());
    this.#theme.addEventListener("click", () => doing.theme());
    this.append(
      button("Sessions", () => doing.menu(), { class: "bare menu" }, icon("menu")),
      this.#title,
      this.#state,
      h("span", { class: "space" }),
      h("div", { class: "holder" }, this.#processes, this.#popup),
      this.#details.element,
      this.#theme,
      button("Keys", () => doing.keys(), { class: "bare keys" }, icon("keys")),
    );
    document.addEventListener("pointerdown", (event) => {
      if (!this.#popup.hidden && !around(event, ".holder")) this.closePopup();
    });
  }

  /** @param {State} state @param {{link: Link, level: string, theme: Theme, me: Me | null}} about */
  show(state, { link, level, theme, me }) {
    this.#shown = state;
    say(this.#title, state.title || "New session");
    set(this.#title, { title: state.title || null });
    const cut = {
      open: undefined,
      reconnecting: "reconnecting…",
      "signed out": "signed out",
      connecting: state.known ? undefined : "connecting…",
    }[link];
    say(this.#state, cut ?? phaseWords(state));
    set(this.#state, { "data-phase": cut ? link : phase(state) });
    this.#showProcesses(state);
    this.#details.show(state, me, state.level || level);
    this.#showTheme(theme);
  }

  /** @returns {boolean} whether there was one to close */
  closePopup() {
    const open = this.#details.close() || !this.#popup.hidden;
    if (this.#popup.contains(document.activeElement)) this.#processes.focus();
    this.#popup.hidden = true;
    this.#popup.replaceChildren();
    this.#rows = new Keyed();
    set(this.#processes, { "aria-expanded": "false" });
    return open;
  }

  /** @returns {boolean} whether there is something to see of what was used */
  openUsage() {
    if (!this.#shown.usage?.requests) return false;
    this.closePopup();
    this.#details.open();
    return true;
  }

  #toggle() {
    const open = !this.#popup.hidden;
    this.closePopup();
    if (!open) this.openProcesses();
  }

  /** @returns {boolean} whether there is something to see */
  openProcesses() {
    if (this.#processes.hidden) return false;
    this.#popup.hidden = false;
    set(this.#processes, { "aria-expanded": "true" });
    this.#showProcesses(this.#shown);
    this.#processes.focus();
    return true;
  }

  /** @param {State} state */
  #showProcesses(state) {
    const alive = state.processes.filter((one) => !one.ended_at);
    this.#processes.hidden = !alive.length && this.#popup.hidden;
    say(this.#processes, alive.length ? count(alive.length, "process") : "no process");
    set(this.#processes, { "data-alive": alive.length > 0 });
    if (!this.#popup.hidden) this.#list(state);
  }

  /**
   * In the order in which they were started; one that the person is about stays when it has ended.
   * @param {State} state
   */
  #list({ session, processes }) {
    /** @param {Process} one */
    const key = (one) => `${session} ${one.pid} ${one.started_at}`;
    const listed = processes
      .filter((one) => !one.ended_at || this.#rows.get(key(one))?.held)
      .sort((one, other) => one.started_at - other.started_at);
    const scrolled = () => this.#popup.scrollTop;
    const make = () => new ProcessRow(this.#doing.processes, session, scrolled);
    const rows = this.#rows.of(listed, key, make);
    rows.forEach((row, index) => row.show(listed[index]));
    const nodes = rows.map((row) => row.element);
    arrange(this.#popup, nodes.length ? nodes : [this.#none]);
  }

  /** @param {Theme} theme */
  #showTheme(theme) {
    if (this.#theme.dataset.theme === theme) return;
    this.#theme.dataset.theme = theme;
    const [words, look] = THEMES[theme];
    set(this.#theme, { "aria-label": words, title: words });
    this.#theme.replaceChildren(icon(look));
  }
}

customElements.define("lw-head", Head);
