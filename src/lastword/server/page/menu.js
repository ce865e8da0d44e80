// A list of choices behind a button, by pointer or by keys: arrows go through it, Esc closes it and
// stops nothing. One is open at a time.

import { around, button, h, set } from "./dom.js";

/**
 * @typedef {{
 *   name: string,
 *   act: () => void,
 *   hint?: string,
 *   checked?: boolean, // one of several, and whether it holds
 *   label?: string, // for whoever does not see what the menu stands at
 *   look?: string,
 *   rest?: boolean, // it is under *more*
 * }} Entry
 */

const EDGE = 8; // pixels to the edge of the window
const GAP = 6; // and to the button
/** @type {Menu | null} */
let shown = null;

/** @returns {boolean} whether there was one to close */
export function closeMenu() {
  const was = shown;
  was?.close();
  return !!was;
}

document.addEventListener("pointerdown", (event) => {
  if (shown && !around(event, ".menu-panel") && around(event, "button") !== shown.press)
    shown.close();
});

window.addEventListener("resize", () => shown?.place());

export class Menu {
  #entries;
  #panel = h("div", {
    class: "menu-panel",
    role: "menu",
    on: { keydown: (event) => this.#key(event), focusout: (event) => this.#left(event) },
  });
  press;

  /** @param {HTMLButtonElement} press @param {() => Entry[]} entries as they are when it is opened */
  constructor(press, entries) {
    this.press = press;
    this.#entries = entries;
    set(press, { "aria-haspopup": "menu", "aria-expanded": "false" });
    press.addEventListener("click", () => (shown === this ? this.close() : this.#open()));
    press.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      event.stopPropagation();
      this.#open();
    });
  }

  close() {
    if (shown !== this) return;
    shown = null;
    const inside = this.#panel.contains(document.activeElement);
    set(this.press, { "aria-expanded": "false" });
    this.#panel.remove();
    if (inside) this.press.focus();
  }

  #open() {
    closeMenu();
    shown = this;
    const entries = this.#entries();
    const rest = entries.filter((one) => one.rest);
    /** @param {Entry[]} ones */
    const rows = (ones) => ones.map((one) => this.#row(one));
    this.#panel.replaceChildren(...rows(entries.filter((one) => !one.rest)));
    if (rest.some((one) => one.checked)) this.#panel.append(...rows(rest));
    else if (rest.length) this.#panel.append(this.#more(() => rows(rest)));
    set(this.#panel, { "aria-label": this.press.ariaLabel ?? this.press.textContent });
    set(this.press, { "aria-expanded": "true" });
    (this.press.closest("aside, main") ?? document.body).append(this.#panel);
    this.place();
    const [first, ...others] = this.#items;
    (others.find((one) => one.ariaChecked === "true") ?? first).focus();
  }

  /** @param {Entry} entry */
  #row({ name, act, hint, checked, label, look }) {
    const done = () => {
      this.close();
      act();
    };
    const row = button("", done, {
      role: checked === undefined ? "menuitem" : "menuitemradio",
      "aria-checked": checked === undefined ? null : String(checked),
      "aria-label": label,
      tabindex: "-1",
      class: look,
    });
    row.append(h("b", {}, name), ...(hint ? [h("span", {}, hint)] : []));
    return row;
  }

  /** @param {() => HTMLElement[]} rest */
  #more(rest) {
    const unfold = () => {
      const rows = rest();
      more.replaceWith(...rows);
      this.place();
      rows[0].focus();
    };
    const more = button("More…", unfold, { role: "menuitem", tabindex: "-1", class: "fold" });
    return more;
  }

  get #items() {
    return [...this.#panel.querySelectorAll("button")];
  }

  /** Below its button, or above it where there is no room. */
  place() {
    const { left, top, bottom } = this.press.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: high, style } = this.#panel;
    const below = bottom + GAP + high + EDGE <= window.innerHeight;
    style.left = `${Math.max(EDGE, Math.min(left, window.innerWidth - wide - EDGE))}px`;
    style.top = `${Math.max(EDGE, below ? bottom + GAP : top - GAP - high)}px`;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const items = this.#items;
    const here = items.findIndex((one) => one === document.activeElement);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) items.at(to % items.length)?.focus();
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {FocusEvent} event */
  #left({ relatedTarget }) {
    const inside = relatedTarget instanceof Node && this.#panel.contains(relatedTarget);
    if (relatedTarget && !inside && relatedTarget !== this.press) this.close();
  }
}
