// What the page itself has to say: a line above the message box that goes by itself or is closed,
// and a banner for what concerns everything.

import { button, h } from "./dom.js";
import { icon } from "./icons.js";
import { signInForm } from "./signin.js";

/** @import { Link, State, Wrong } from "./types.d.ts" */

const LASTS = 6000; // ms of a line that nobody has to act on
const PATIENCE = 700; // ms without a connection before it is worth a word
const AWAY = [
  "The server is away; reconnecting.",
  "Nothing is lost: what was said is stored, and what you write stays in the box until it can be sent.",
];
const ELSEWHERE = [
  "Another process has this session now.",
  "It goes on there; this page follows once it can be reached from here.",
];

export class Notices {
  #line;
  #banner;
  #timer = 0;
  #away = 0;
  #out = false;
  #wentOut;

  /** Whether the server does not know this page any more. */
  get out() {
    return this.#out;
  }

  /** @param {HTMLElement} line @param {HTMLElement} banner @param {() => void} wentOut */
  constructor(line, banner, wentOut) {
    this.#line = line;
    this.#banner = banner;
    this.#wentOut = wentOut;
  }

  /** @param {string} text */
  say(text) {
    this.#show("", [h("span", {}, text)]);
    this.#timer = setTimeout(() => this.clear(), LASTS);
  }

  /** @param {Wrong} problem */
  problem({ title, detail, status }) {
    if (status === 401) return this.signedOut();
    this.#show("error", [
      icon("warn"),
      h("span", {}, h("b", {}, title), detail && detail !== title ? ` ${detail}` : ""),
    ]);
  }

  clear() {
    clearTimeout(this.#timer);
    this.#line.hidden = true;
    this.#line.replaceChildren();
  }

  signedOut() {
    if (this.#out) return;
    this.#out = true;
    this.#wentOut();
    this.#banner.hidden = false;
    this.#banner.className = "banner out";
    this.#banner.replaceChildren(
      h("b", {}, "You are not signed in."),
      h(
        "span",
        {},
        " Open the link that lastword printed where it was started; press Enter there for another.",
      ),
      signInForm(),
    );
  }

  /** @param {Link} link @param {State} state */
  link(link, state) {
    if (this.#out) return;
    if (link !== "reconnecting") {
      clearTimeout(this.#away);
      this.#away = 0;
      this.#banner.hidden = true;
      return;
    }
    if (this.#away) return;
    this.#away = setTimeout(() => {
      this.#banner.hidden = false;
      this.#banner.className = "banner";
      const [what, more] = state.closed === "lost" ? ELSEWHERE : AWAY;
      this.#banner.replaceChildren(h("b", {}, what), h("span", {}, ` ${more}`));
    }, PATIENCE);
  }

  /** @param {string} look @param {Node[]} nodes */
  #show(look, nodes) {
    clearTimeout(this.#timer);
    this.#line.className = `notice ${look}`;
    this.#line.hidden = false;
    this.#line.replaceChildren(
      ...nodes,
      button("Close", () => this.clear(), { class: "bare" }, icon("close")),
    );
  }
}
