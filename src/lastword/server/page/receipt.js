// The card that a stop leaves: its rows, what is fine folded away, and what was dropped can be had
// back. It words nothing: what a row says comes from the server.

import { button, h } from "./dom.js";
import { icon, square } from "./icons.js";
import { headline, noteworthy, rowLine } from "./receipt-rows.js";
import { clock, plain, short } from "./words.js";

/** @import { Row } from "./told.d.ts" */
/** @import { Message, Receipt as Told, ReceiptItem } from "./types.d.ts" */

export class Receipt extends HTMLElement {
  /** @type {Told | null} */
  #key = null;
  /** @type {() => void} */
  #goes = () => {};
  #goOn = button("Go on", () => this.#goes(), { hidden: true });

  /**
   * @param {ReceiptItem} item
   * @param {(text: string) => void} putBack
   * @param {((run?: string) => void) | null} changes shows what was done to files; none: not to them
   */
  show({ receipt, settled }, putBack, changes) {
    if (this.#key === receipt) return;
    this.#key = receipt;
    const opened = this.querySelector("details")?.open ?? false;
    const { rows } = receipt;
    const told = noteworthy(rows);
    const slim = receipt.reason === "superseded" && !told.length;
    this.className = `receipt ${slim ? "slim" : ""} ${settled || receipt.quiet ? "quiet" : "ending"}`;
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", "Receipt of a stop");
    this.dataset.generation = String(receipt.generation);
    this.replaceChildren(
      h(
        "header",
        {},
        square(),
        h("h2", {}, plain(headline(rows))),
        h("time", {}, clock(receipt.fenced_at)),
      ),
      h("ul", {}, ...told.filter(({ kind }) => kind !== "dropped").map(item)),
      ...told.filter(({ kind }) => kind === "dropped").map((row) => dropped(row, receipt, putBack)),
      ...(slim ? [] : [details(rows, opened)]),
      h("div", { class: "on" }, this.#goOn, ...filesOf(receipt, changes)),
    );
  }

  /** What was cut off goes on after a press. @param {(() => void) | null} goOn */
  offer(goOn) {
    this.#goes = goOn ?? (() => {});
    this.#goOn.hidden = !goOn;
  }
}

/** @param {Row} row */
function item(row) {
  return h("li", { class: row.tone, "data-kind": row.kind }, plain(rowLine(row)));
}

/** @param {Told} receipt @param {((run?: string) => void) | null} changes */
function filesOf({ rows, runs }, changes) {
  if (!changes || !rows.some(({ kind }) => kind === "files")) return [];
  return [button("Changes in files", () => changes(runs.length === 1 ? runs[0] : undefined))];
}

/** @param {Row} row @param {Told} receipt @param {(text: string) => void} putBack */
function dropped({ label }, { messages }, putBack) {
  const lost = messages.filter(({ fate }) => fate === "dropped").map(({ message }) => message);
  return h("div", { class: "lost" }, ...lost.map((message) => takenBack(label, message, putBack)));
}

/** @param {string} label @param {Message} message @param {(text: string) => void} putBack */
function takenBack(label, message, putBack) {
  const back = button("Put it back in the box", () => putBack(message.text), { class: "plain" });
  return h(
    "div",
    { class: "dropped" },
    h("p", {}, h("span", {}, `${label}: `), `“${short(message.text, 200)}”`),
    back,
  );
}

/** @param {Row[]} rows @param {boolean} opened */
function details(rows, opened) {
  const head = rows.find(({ kind }) => kind === "head");
  return h(
    "details",
    { open: opened },
    h("summary", {}, "Everything that was ended"),
    ...rows.filter((row) => row.label).map(table),
    h("p", { class: "fine" }, plain(head?.names.join(" · ") ?? "")),
  );
}

/** What a row speaks of, one by one. @param {Row} row */
function table({ label, names, words, tone }) {
  const each = (names.length ? names : [words]).map((name) =>
    h("tr", {}, h("td", { class: tone }, plain(name))),
  );
  return h("table", {}, h("caption", {}, label), h("tbody", {}, ...each));
}

customElements.define("lw-receipt", Receipt);

/**
 * Something that is not a receipt, told in the same place: a warning by the session itself.
 * @param {string} text
 */
export function noteView(text) {
  return h("p", { class: "aside" }, icon("warn"), h("span", {}, plain(text)));
}
