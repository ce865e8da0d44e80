// The card that a stop leaves: words first, details on demand, and what was dropped can be had back.

import { button, h } from "./dom.js";
import { icon, square } from "./icons.js";
import { dropped, eventful, head, lines, slimHead, when } from "./receipt-words.js";
import { lasted, plain, short } from "./words.js";

/** @import { Message, Receipt as Told, ReceiptItem } from "./types.d.ts" */

export class Receipt extends HTMLElement {
  /** @type {Told | null} */
  #key = null;

  /** @param {ReceiptItem} item @param {(text: string) => void} putBack */
  show({ receipt, settled }, putBack) {
    if (this.#key === receipt) return;
    this.#key = receipt;
    const opened = this.querySelector("details")?.open ?? false;
    const slim = receipt.reason === "superseded" && !eventful(receipt);
    this.className = `receipt ${slim ? "slim" : ""} ${receipt.quiet ? "quiet" : "ending"}`;
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", "Receipt of a stop");
    this.dataset.generation = String(receipt.generation);
    const told = lines(receipt);
    const title = slim ? slimHead(receipt) : head(receipt, settled);
    this.replaceChildren(
      h("header", {}, square(), h("h2", {}, title), h("time", {}, when(receipt))),
      ...(slim ? [] : [h("ul", {}, ...told.map(line))]),
      ...dropped(receipt).map((message) => droppedRow(message, putBack)),
      ...(slim ? [] : [details(receipt, opened)]),
    );
  }
}

/** @param {ReturnType<typeof lines>[number]} told */
function line({ text, warn }) {
  return h("li", { class: warn ? "warn" : null }, plain(text));
}

/** @param {Message} message @param {(text: string) => void} putBack */
function droppedRow(message, putBack) {
  const back = button("Put it back in the box", () => putBack(message.text), { class: "plain" });
  return h(
    "div",
    { class: "dropped" },
    h("p", {}, h("span", {}, "Never answered: "), `“${short(message.text, 200)}”`),
    back,
  );
}

/** @param {Told} receipt @param {boolean} opened */
function details(receipt, opened) {
  const {
    calls = [],
    processes = [],
    children = [],
    cells = [],
    refused = [],
    runs = [],
  } = receipt;
  const parts = [
    table(
      "Tools",
      calls.map((call) => [plain(call.name), call.status]),
    ),
    table(
      "Processes",
      processes.map((one) => [
        `${one.pid > 0 ? one.pid : ""} ${plain(one.command)}`.trim(),
        one.fate,
      ]),
    ),
    table(
      "Child runs",
      children.map((child) => [`${child.session} ${child.run}`, child.fate]),
    ),
    table(
      "Programs",
      cells.map((cell) => [
        cell.waits.length ? `waited on ${plain(cell.waits.join(", "))}` : "was running",
        "frozen",
      ]),
    ),
    table("Refused after the fence", grouped(refused)),
  ].filter((one) => one !== null);
  const words = [
    runs.length && `Run ${runs.join(", ")}`,
    `generation ${receipt.generation}`,
    receipt.level && `processes held: ${receipt.level}`,
    receipt.durable ? "stored" : "not stored yet",
  ];
  const more =
    receipt.dropped > refused.length && refused.length
      ? [h("p", {}, `and ${receipt.dropped - refused.length} more that are only counted`)]
      : [];
  return h(
    "details",
    { open: opened },
    h("summary", {}, "Everything that was ended"),
    ...parts,
    ...more,
    h("p", { class: "fine" }, words.filter(Boolean).join(" · ")),
  );
}

/**
 * What was refused, one row for as many of a kind as came one after another.
 * @param {Told["refused"]} refused
 */
function grouped(refused) {
  /** @type {{what: string, many: number, from: number, to: number}[]} */
  const groups = [];
  for (const { what, after } of refused) {
    const last = groups.at(-1);
    if (last?.what === what) Object.assign(last, { many: last.many + 1, to: after });
    else groups.push({ what, many: 1, from: after, to: after });
  }
  return groups.map(({ what, many, from, to }) => [
    many > 1 ? `${plain(what)} ×${many}` : plain(what),
    many > 1 ? `${lasted(from)} to ${lasted(to)} later` : `${lasted(from)} later`,
  ]);
}

/** @param {string} title @param {string[][]} rows */
function table(title, rows) {
  if (!rows.length) return null;
  const cells = rows.map(([what, fate]) =>
    h("tr", {}, h("td", {}, what), h("td", { "data-fate": fate.replace(/ /g, "-") }, fate)),
  );
  return h("table", {}, h("caption", {}, title), h("tbody", {}, ...cells));
}

customElements.define("lw-receipt", Receipt);

/**
 * Something that is not a receipt, told in the same place: a warning by the session itself.
 * @param {string} text
 */
export function noteView(text) {
  return h("p", { class: "aside" }, icon("warn"), h("span", {}, plain(text)));
}
