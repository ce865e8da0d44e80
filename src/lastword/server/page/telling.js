// For who looks at something else: the title says that it asks or has ended, and so does a
// notification, if the person asked for that by a press and the browser lets the page.

import { lastTurn } from "./anew.js";
import { button, h, say } from "./dom.js";
import { remember, remembered } from "./memory.js";
import { going, phase } from "./view.js";
import { plain, short } from "./words.js";

/** @import { State } from "./types.d.ts" */

const OFFERED = "You can be told by a notification when it asks or ends in a tab that is hidden.";
const DENIED = "This browser does not let the page show notifications.";
const TOLD = "You are told when it asks or ends in a tab that is hidden.";

export class Telling {
  #on = remembered("notify") === "on";
  #mark = "";
  #words = h("small");
  #press = button("Tell me", () => this.#toggle(), { class: "plain" });
  element = h("p", { class: "telling" }, this.#words, this.#press);

  constructor() {
    this.dress();
  }

  /** What the title begins with, beside how it stands. */
  get mark() {
    if (!document.hidden) this.#mark = "";
    return this.#mark;
  }

  /** @param {State} before @param {State} now */
  heard(before, now) {
    if (!document.hidden || before.session !== now.session || !before.known) return;
    const asks = now.questions.filter((one) => !before.questions.some(({ id }) => id === one.id));
    const waits = phase(now) === "standing" && phase(before) !== "standing";
    const last = lastTurn(now);
    const known = lastTurn(before);
    const ended = !going(now) && !!last?.outcome && (known?.run !== last.run || !known.outcome);
    if (asks.length || waits) {
      this.#tell(now, asks.length ? `${plain(asks[0].tool)} ${asks[0].asks}` : "a program waits");
      this.#mark = "";
    } else if (ended) {
      this.#tell(now, "It has ended.");
      this.#mark = "✓ ";
    }
  }

  /** @param {State} state @param {string} words */
  #tell({ session, title }, words) {
    if (!this.#on || !allowed()) return;
    try {
      const told = new Notification(title || "lastword", { body: short(words, 200), tag: session });
      told.addEventListener("click", () => (window.focus(), told.close()));
    } catch {
      // a browser in which only a worker may: the title says it
    }
  }

  async #toggle() {
    this.#on = !this.#on && (allowed() || (await Notification.requestPermission()) === "granted");
    remember("notify", this.#on ? "on" : null);
    this.dress();
  }

  /** How it stands: in the browser, that can be changed at any time. */
  dress() {
    const can = "Notification" in window && Notification.permission !== "denied";
    const on = this.#on && allowed();
    say(this.#words, on ? TOLD : can ? OFFERED : DENIED);
    say(this.#press, on ? "Tell me no more" : "Tell me");
    this.#press.hidden = !can;
  }
}

function allowed() {
  return "Notification" in window && Notification.permission === "granted";
}
