// Where the person speaks. It can be used at any moment, also before the page knows which session it
// shows: what is sent until then leaves once that is known. What could not be sent stays in the box,
// under the id it was sent with, so that sending it again is the same message and never a second one.

import { button, h, say, set } from "./dom.js";
import { icon, square } from "./icons.js";
import { remember, remembered } from "./memory.js";
import { MODES, modeOf } from "./modes.js";

/** @import { May, Message, Mode } from "./types.d.ts" */

const DRAFT = "draft "; // and the session; none, if that is not known yet
const SOON = "This is sent as soon as the page is ready";

/**
 * @typedef {{
 *   send: (text: string, mode: Mode, id: string) => Promise<boolean>,
 *   stop: () => void,
 * }} Doing
 */

export class Composer extends HTMLElement {
  #box = h("textarea", {
    rows: "1",
    "aria-label": "Message",
    autocomplete: "off",
    spellcheck: "true",
    enterkeyhint: "send",
  });
  #mode = h(
    "select",
    {
      "aria-label": "What a new message does",
      title: "What a new message does to an answer that is going",
    },
    ...MODES.map(({ mode, name }) => h("option", { value: mode }, name)),
  );
  #send = button("Send", () => this.#submit(), { class: "send go" }, icon("send"));
  #stop = button("Stop", () => (this.#doing.stop(), this.ready()), {
    class: "stop",
    hidden: true,
  });
  #stopWords = document.createTextNode("Stop");
  #hint = h("p", { class: "hint" });
  #session = "";
  /** @type {{text: string, mode: Mode}[]} */
  #early = []; // what was sent before the page knew where: { text, mode }
  /** @type {{id: string, text: string} | null} */
  #kept = null; // { id, text } of what was tried and could not be sent
  #busy = false;
  /** @type {Doing} */
  #doing;

  /** @param {Doing} doing */
  begin(doing) {
    this.#doing = doing;
    this.#stop.replaceChildren(square(), this.#stopWords);
    this.#mode.value = modeOf(remembered("mode")).mode;
    this.append(
      h(
        "div",
        { class: "box" },
        this.#box,
        h("div", { class: "levers" }, this.#mode, this.#send, this.#stop),
      ),
      this.#hint,
    );
    this.#box.addEventListener("input", () => this.#typed());
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    window.addEventListener("resize", () => this.#grow());
    this.#mode.addEventListener("change", () => this.setMode(this.mode));
    this.#box.value = remembered(DRAFT) ?? "";
    this.#typed();
    this.focus();
  }

  /**
   * @param {{
   *   session: string,
   *   out: boolean,
   *   busy: boolean,
   *   stoppable: boolean,
   *   stopping: boolean,
   *   may: May,
   * }} about
   */
  show({ session, out, busy, stoppable, stopping, may }) {
    this.turnTo(session);
    if (out) this.#takeBack();
    this.hidden = out; // nobody is spoken to
    this.#busy = busy;
    this.#box.disabled = this.#send.disabled = !may("send");
    set(this.#stop, {
      hidden: !(stoppable || stopping) || !may("stop"),
      "aria-disabled": stopping ? "true" : null,
    });
    say(this.#stopWords, stopping ? "Stopping…" : "Stop");
    this.#dress();
  }

  focus() {
    this.#box.focus();
  }

  /** What a new message does to an answer that is going. */
  get mode() {
    return modeOf(this.#mode.value).mode;
  }

  /** @param {Mode} mode */
  setMode(mode) {
    this.#mode.value = mode;
    remember("mode", mode);
    this.#dress();
  }

  /**
   * After an answer one can type at once, unless the person has gone on meanwhile to something else.
   * @param {Element | null} from where they were when they gave it
   */
  back(from) {
    const now = document.activeElement;
    if (now === from || now === null || now === document.body) this.focus();
  }

  /** After a click elsewhere one can type at once; on glass that would bring up a keyboard. */
  ready() {
    if (matchMedia("(pointer: fine)").matches) this.#box.focus();
  }

  /**
   * Words that the person had said already come back into the box, before what is there.
   * @param {string} text
   */
  insert(text) {
    this.#box.value = this.#box.value.trim() ? `${text}\n${this.#box.value}` : text;
    this.#typed();
    this.#box.focus();
  }

  /**
   * A message that was thought unsent has arrived after all.
   * @param {Record<string, Message>} messages
   */
  arrived(messages) {
    if (!this.#kept || !messages[this.#kept.id]) return;
    if (this.#box.value === this.#kept.text) this.#empty();
    this.#kept = null;
  }

  /**
   * What is typed from here on is said there: at once, and not when it is drawn.
   * @param {string} session
   */
  turnTo(session) {
    if (session === this.#session) return;
    const typed = this.#session ? "" : this.#box.value; // before the page knew where it was
    if (!this.#session) remember(DRAFT, null);
    this.#session = session;
    this.#kept = null;
    const draft = remembered(DRAFT + session) ?? "";
    this.#box.value = [draft, typed].filter(Boolean).join("\n");
    this.#typed();
    for (const { text, mode } of this.#early.splice(0)) this.#say(text, mode);
  }

  /** There is nobody to send it to: it is a draft again. */
  #takeBack() {
    for (const { text } of this.#early.splice(0).reverse()) this.insert(text);
  }

  #typed() {
    remember(DRAFT + this.#session, this.#box.value);
    this.#grow();
    this.#dress();
  }

  #empty() {
    this.#box.value = "";
    this.#typed();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#submit(event.altKey ? "queue" : undefined);
  }

  #submit(mode = this.mode) {
    const text = this.#box.value;
    this.#box.focus();
    if (!text.trim()) return;
    this.#empty();
    if (this.#session) this.#say(text, mode);
    else this.#early.push({ text, mode });
    this.#dress();
  }

  /** @param {string} text @param {Mode} mode */
  async #say(text, mode) {
    const session = this.#session;
    const id =
      this.#kept?.text === text
        ? this.#kept.id
        : (crypto.randomUUID?.() ?? `m-${Date.now()}-${Math.random().toString(36).slice(2)}`);
    const sent = await this.#doing.send(text, mode, id);
    if (sent) {
      if (this.#kept?.id === id) this.#kept = null;
      return;
    }
    if (session !== this.#session) {
      remember(DRAFT + session, text);
      return;
    }
    this.#kept = { id, text };
    this.insert(text);
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight, window.innerHeight * 0.36)}px`;
  }

  #dress() {
    const { place, hint } = modeOf(this.#mode.value);
    const usual = this.#early.length ? SOON : this.#busy ? place : "Say something";
    this.#box.placeholder = this.#box.disabled ? "You may read here, not write" : usual;
    set(this.#send, { "data-ready": !!this.#box.value.trim() });
    const words = this.#busy ? ` sends, and it ${hint}` : " sends";
    if (this.#hint.dataset.words === words) return;
    this.#hint.dataset.words = words;
    /** @param {string} label */
    const key = (label) => h("kbd", {}, label);
    this.#hint.replaceChildren(
      h("span", {}, key("Esc"), " stops"),
      h("span", {}, key("Enter"), words),
      h("span", {}, key("Alt"), "+", key("Enter"), " queues"),
      h("span", {}, key("Ctrl"), "+", key("/"), " all keys"),
    );
  }
}

customElements.define("lw-composer", Composer);
