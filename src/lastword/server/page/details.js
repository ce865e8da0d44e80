// What a session has used, and where it works; and for whoever wants to know, how it is held together.

import { button, h, say, set } from "./dom.js";
import { count } from "./words.js";

/** @import { Me, State } from "./types.d.ts" */

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
const NO_PRICE = "not known: nobody told lastword what this model costs";

export class Details {
  #press = button("Details", () => this.#toggle(), {
    class: "pill details",
    "aria-expanded": "false",
  });
  #panel = h("div", { class: "popup", role: "group", "aria-label": "Details", hidden: true });
  #list = h("dl");
  /** @type {() => void} */
  #dress;
  #drawn = "";
  /** @type {[State, Me | null, string]} what was shown last */
  #shown;
  element = h("div", { class: "holder" }, this.#press, this.#panel);

  constructor() {
    this.#panel.append(this.#list);
    document.addEventListener("pointerdown", ({ target }) => {
      if (target instanceof Node && !this.element.contains(target)) this.close();
    });
  }

  /**
   * Something else that stands below them.
   * @param {HTMLElement} element
   * @param {() => void} dress brings it up to date, before it is seen
   */
  add(element, dress) {
    this.#dress = dress;
    this.#panel.append(element);
  }

  /** @param {State} state @param {Me | null} me @param {string} level */
  show(state, me, level) {
    this.#shown = [state, me, level];
    const left = contextLeft(state, me);
    const words = [state.usage?.model, left === null ? "" : `${left}% left`].filter(Boolean);
    say(this.#press, words.join(" · ") || "Details");
    set(this.#press, { "aria-label": words.length ? `${words.join(", ")}: details` : null });
    if (!this.#panel.hidden) this.#draw();
  }

  /** @returns {boolean} whether it was open */
  close() {
    const open = !this.#panel.hidden;
    if (this.#panel.contains(document.activeElement)) this.#press.focus();
    this.#panel.hidden = true;
    set(this.#press, { "aria-expanded": "false" });
    return open;
  }

  #toggle() {
    if (!this.close()) this.open();
  }

  open() {
    this.#dress();
    this.#panel.hidden = false;
    set(this.#press, { "aria-expanded": "true" });
    this.#draw();
  }

  #draw() {
    const rows = rowsOf(...this.#shown);
    const drawn = JSON.stringify(rows);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const nodes = rows.flatMap(([name, ...words]) => [
      h("dt", {}, name),
      ...words.map((one) => h("dd", {}, one)),
    ]);
    this.#list.replaceChildren(...nodes);
  }
}

/** In hundredths of its window; null, if that is not known. @param {State} state @param {Me | null} me */
function contextLeft({ usage }, me) {
  if (!me?.window || !usage?.filled) return null;
  return Math.max(0, Math.round(100 - (100 * usage.filled) / me.window));
}

/**
 * @param {State} state
 * @param {Me | null} me
 * @param {string} level
 * @returns {string[][]} a name, and what there is to say of it
 */
function rowsOf(state, me, level) {
  const { usage, active, items, generation } = state;
  const run = active ?? items.findLast((item) => item.kind === "turn")?.run;
  return [
    ...used(state, me),
    ...(me?.folders?.length ? [[me.folders.length > 1 ? "Folders" : "Folder", ...me.folders]] : []),
    ...(usage?.requests ? [["Price", NO_PRICE]] : []),
    ...(level ? [["Processes", `${level}. ${LEVELS[level] ?? ""}`]] : []),
    ...(run ? [["Run", `${run}, at generation ${generation}`]] : []),
    ["Session", state.session],
  ];
}

/** @param {State} state @param {Me | null} me */
function used({ usage }, me) {
  if (!usage?.requests) return [["Tokens", "none yet: no model has answered here"]];
  const { model, input_tokens: read, output_tokens: written, requests, filled } = usage;
  const spent = `${number(read)} read and ${number(written)} written, in ${count(requests, "request")}`;
  const left = me?.window
    ? `${number(Math.max(0, me.window - filled))} of ${number(me.window)} tokens`
    : "not known: the model's window was not told";
  return [
    ["Model", model || "it did not say"],
    ["Tokens", spent],
    ["Context left", left],
  ];
}

/** @param {number} what */
function number(what) {
  return what.toLocaleString("en");
}
