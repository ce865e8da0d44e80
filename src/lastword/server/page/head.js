// The line above the conversation: what this is, how it stands, and how its processes are held.

import { arrange, button, h, Keyed, say, set } from "./dom.js";
import { icon } from "./icons.js";
import { phase, phaseWords, runNumber } from "./view.js";
import { count, lasted, plain, short } from "./words.js";

const LEVELS = {
  sealed:
    "Each run has a process namespace of its own. When a stop says done, no process of the run exists: the kernel sees to it.",
  tree: "Each run has a warden, to which every orphan comes. When a stop says done, no descendant is left.",
  group:
    "Processes are ended by their group. What leaves its group cannot be seen, and may live on.",
};

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
  #rows = new Keyed();
  #theme = h("button", { type: "button", class: "bare theme" });
  #doing = null;

  /** @param {{menu: Function, keys: Function, theme: Function, end: Function, output: Function}} doing */
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
      if (!this.#popup.hidden && !event.target.closest(".holder")) this.closePopup();
    });
  }

  show(state, { link, level, theme, now }) {
    say(this.#title, state.title || "New session");
    set(this.#title, { title: state.title || null });
    const current = state.active ?? state.items.findLast((item) => item.kind === "turn")?.run;
    this.#run.hidden = !current;
    say(this.#run, current ? `run ${runNumber(current)} · generation ${state.generation}` : "");
    const cut = {
      reconnecting: "reconnecting…",
      "signed out": "signed out",
      connecting: state.known ? undefined : "connecting…",
    }[link];
    say(this.#state, cut ?? phaseWords(state));
    set(this.#state, { "data-phase": cut ? link : phase(state) });
    this.#showProcesses(state, level, now);
    this.#showTheme(theme);
  }

  /** @returns {boolean} whether there was one to close */
  closePopup() {
    const open = !this.#popup.hidden;
    this.#popup.hidden = true;
    set(this.#processes, { "aria-expanded": "false" });
    return open;
  }

  #toggle() {
    this.#popup.hidden = !this.#popup.hidden;
    set(this.#processes, { "aria-expanded": String(!this.#popup.hidden) });
  }

  #showProcesses(state, level, now) {
    const alive = state.processes.filter((one) => !one.ended_at);
    const held = state.level || level;
    this.#processes.hidden = !held && !alive.length;
    say(this.#running, alive.length ? count(alive.length, "process") : "processes");
    say(this.#held, held);
    set(this.#processes, {
      "aria-label": `${alive.length ? count(alive.length, "process") : "Processes"}${held ? `, held: ${held}` : ""}`,
    });
    set(this.#processes, { "data-alive": alive.length > 0 });
    const rows = this.#rows.of(
      alive,
      (one) => one.pid,
      () => new ProcessRow(this.#doing),
    );
    rows.forEach((row, index) => row.show(alive[index], now));
    arrange(this.#popup, [
      h(
        "p",
        { class: "fine" },
        LEVELS[held] ?? `How processes are held here: ${held || "not known yet"}.`,
      ),
      ...rows.map((row) => row.element),
    ]);
  }

  #showTheme(theme) {
    if (this.#theme.dataset.theme === theme) return;
    this.#theme.dataset.theme = theme;
    const words = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" }[
      theme
    ];
    set(this.#theme, { "aria-label": words, title: words });
    this.#theme.replaceChildren(icon({ auto: "auto", light: "sun", dark: "moon" }[theme]));
  }
}

class ProcessRow {
  #process = null;
  #command = h("code");
  #about = h("small");
  #output = h("pre", { class: "output", hidden: true });
  #read;
  #end;
  element;

  constructor(doing) {
    this.#read = button("Output", () => this.#show(doing), {});
    this.#end = button("End it", () => doing.end(this.#process.id), {});
    this.element = h(
      "div",
      { class: "process" },
      h("div", {}, this.#command, this.#about, this.#output),
      this.#read,
      this.#end,
    );
  }

  /** What it wrote last; the same button puts it away. */
  async #show(doing) {
    const text = this.#output.hidden ? await doing.output(this.#process.id) : null;
    this.#output.hidden = text === null;
    say(this.#output, text === null ? "" : plain(text) || "It has written nothing.");
  }

  show(process, now) {
    this.#process = process;
    say(this.#command, short(plain(process.command), 80));
    const since = process.started_at ? lasted(now - process.started_at) : "";
    say(
      this.#about,
      [
        process.id,
        `pid ${process.pid}`,
        since,
        process.kept ? "kept: a stop leaves it" : "ends with its run",
      ]
        .filter(Boolean)
        .join(" · "),
    );
    this.#read.hidden = this.#end.hidden = !process.id;
  }
}

customElements.define("lw-head", Head);
