// The line above the conversation: what this is, how it stands, and how its processes are held.

import { around, arrange, button, h, Keyed, say, set } from "./dom.js";
import { icon } from "./icons.js";
import { ProcessRow } from "./process.js";
import { phase, phaseWords, runNumber } from "./view.js";
import { count } from "./words.js";

/** @import { Link, May, Process, Processes, State, Theme } from "./types.d.ts" */

/** @type {Record<string, string>} */
const LEVELS = {
  sealed:
    "Each run has a process namespace of its own. When a stop says done, no process of the run exists: the kernel sees to it.",
  cgroup:
    "Each run has a warden, to which every orphan comes, and a control group. When a stop says done, no descendant is left and the group is empty: the kernel says so.",
  tree: "Each run has a warden, to which every orphan comes. When a stop says done, no descendant is left.",
  group:
    "Processes are ended by their group. What leaves its group cannot be seen, and may live on.",
};

/** @type {Record<Theme, [string, Parameters<typeof icon>[0]]>} */
const THEMES = {
  auto: ["Theme: as the system", "auto"],
  light: ["Theme: light", "sun"],
  dark: ["Theme: dark", "moon"],
};

/**
 * @typedef {{menu(): void, keys(): void, theme(): void, processes: Processes & {may: May}}} Doing
 */

export class Head extends HTMLElement {
  #title = h("h1");
  #run = h("span", { class: "pill run", hidden: true });
  #state = h("span", { class: "pill state", role: "status" });
  #running = h("span", { class: "running" });
  #held = h("span", { class: "held" });
  #processes = button("", () => this.#toggle(), {
    class: "pill processes",
    hidden: true,
    "aria-expanded": "false",
  });
  #popup = h("div", { class: "popup", hidden: true });
  #level = h("p", { class: "fine" });
  /** @type {Keyed<Process, ProcessRow>} */
  #rows = new Keyed(); // as long as they are looked at
  /** @type {[State, string]} */
  #shown; // what was shown last
  #theme = h("button", { type: "button", class: "bare theme" });
  /** @type {Doing} */
  #doing;

  /** @param {Doing} doing */
  begin(doing) {
    this.#doing = doing;
    this.#theme.addEventListener("click", () => doing.theme());
    this.append(
      button("Sessions", () => doing.menu(), { class: "bare menu" }, icon("menu")),
      this.#title,
      this.#run,
      this.#state,
      h("span", { class: "space" }),
      h("div", { class: "holder" }, this.#processes, this.#popup),
      this.#theme,
      button("Keys", () => doing.keys(), { class: "bare keys" }, icon("keys")),
    );
    this.#processes.replaceChildren(this.#running, this.#held);
    document.addEventListener("pointerdown", (event) => {
      if (!this.#popup.hidden && !around(event, ".holder")) this.closePopup();
    });
  }

  /** @param {State} state @param {{link: Link, level: string, theme: Theme}} about */
  show(state, { link, level, theme }) {
    this.#shown = [state, level];
    say(this.#title, state.title || "New session");
    set(this.#title, { title: state.title || null });
    const current = state.active ?? state.items.findLast((item) => item.kind === "turn")?.run;
    this.#run.hidden = !current;
    say(this.#run, current ? `run ${runNumber(current)} · generation ${state.generation}` : "");
    const cut = {
      open: undefined,
      reconnecting: "reconnecting…",
      "signed out": "signed out",
      connecting: state.known ? undefined : "connecting…",
    }[link];
    say(this.#state, cut ?? phaseWords(state));
    set(this.#state, { "data-phase": cut ? link : phase(state) });
    this.#showProcesses(state, level);
    this.#showTheme(theme);
  }

  /** @returns {boolean} whether there was one to close */
  closePopup() {
    const open = !this.#popup.hidden;
    if (this.#popup.contains(document.activeElement)) this.#processes.focus();
    this.#popup.hidden = true;
    this.#popup.replaceChildren();
    this.#rows = new Keyed();
    set(this.#processes, { "aria-expanded": "false" });
    return open;
  }

  #toggle() {
    if (!this.closePopup()) this.openProcesses();
  }

  /** @returns {boolean} whether there is something to see */
  openProcesses() {
    if (this.#processes.hidden) return false;
    this.#popup.hidden = false;
    set(this.#processes, { "aria-expanded": "true" });
    this.#showProcesses(...this.#shown);
    this.#processes.focus();
    return true;
  }

  /** @param {State} state @param {string} level */
  #showProcesses(state, level) {
    const alive = state.processes.filter((one) => !one.ended_at);
    const held = state.level || level;
    this.#processes.hidden = !held && !alive.length;
    say(this.#running, alive.length ? count(alive.length, "process") : "processes");
    say(this.#held, held);
    set(this.#processes, {
      "aria-label": `${alive.length ? count(alive.length, "process") : "Processes"}${held ? `, held: ${held}` : ""}`,
    });
    set(this.#processes, { "data-alive": alive.length > 0 });
    if (!this.#popup.hidden) this.#list(state, held);
  }

  /**
   * In the order in which they were started; one that the person is about stays when it has ended.
   * @param {State} state
   * @param {string} held
   */
  #list({ session, processes }, held) {
    /** @param {Process} one */
    const key = (one) => `${session} ${one.pid} ${one.started_at}`;
    const listed = processes
      .filter((one) => !one.ended_at || this.#rows.get(key(one))?.held)
      .sort((one, other) => one.started_at - other.started_at);
    const scrolled = () => this.#popup.scrollTop;
    const make = () => new ProcessRow(this.#doing.processes, session, scrolled);
    const rows = this.#rows.of(listed, key, make);
    rows.forEach((row, index) => row.show(listed[index]));
    say(this.#level, LEVELS[held] ?? `How processes are held here: ${held || "not known yet"}.`);
    arrange(this.#popup, [this.#level, ...rows.map((row) => row.element)]);
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
