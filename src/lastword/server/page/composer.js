// Where the person speaks. It can be used at any moment, also before the page knows which session it
// shows: what is sent until then leaves once that is known. What could not be sent stays in the box,
// under the id it was sent with; until it is acknowledged, a reload brings it back as well.

import { Attaching } from "./attaching.js";
import { button, h, say, set } from "./dom.js";
import { icon, square } from "./icons.js";
import { remember, remembered } from "./memory.js";
import { Menu } from "./menu.js";
import { MODES, modeOf } from "./modes.js";
import { hold, newId, outgoing, release } from "./outgoing.js";

/** @import { Attached } from "./attaching.js" */
/** @import { Outgoing } from "./outgoing.js" */
/** @import { May, Mode, State } from "./types.d.ts" */

const DRAFT = "draft "; // and the session; none, if that is not known yet
const USUAL = 3; // ways in which a new message meets an answer; the others are under *more*
const SOON = "This is sent as soon as the page is ready";

/**
 * @typedef {{
 *   send: (text: string, mode: Mode, id: string, files: Attached[]) => Promise<boolean>,
 *   refused: (why: string) => void,
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
  #mode = modeOf(remembered("mode")).mode;
  #modes = button("", () => {}, { class: "plain modes", hidden: true });
  #send = button("Send", () => this.#submit(), { class: "send go" }, icon("send"));
  #stop = button("Stop", () => (this.#doing.stop(), this.ready()), {
    class: "stop",
    hidden: true,
  });
  #stopWords = document.createTextNode("Stop");
  #hint = h("p", { class: "hint" });
  #session = "";
  /** @type {{id: string, text: string, mode: Mode, files: Attached[]}[]} */
  #early = []; // what was sent before the page knew where
  /** @type {Outgoing | null} */
  #kept = null; // what was tried and could not be sent
  /** @type {Outgoing[]} */
  #before = []; // what an earlier page had sent, and did not hear of
  /** @type {Set<string>} */
  #going = new Set(); // what this one has sent, and did not hear of
  #busy = false;
  #attaching = new Attaching(
    () => this.#dress(),
    (why) => this.#doing.refused(why),
  );
  /** @type {Doing} */
  #doing;

  /** @param {Doing} doing */
  begin(doing) {
    this.#doing = doing;
    this.#stop.replaceChildren(square(), this.#stopWords);
    new Menu(this.#modes, () => this.#choices());
    this.append(
      this.#attaching.element,
      h(
        "div",
        { class: "box" },
        this.#box,
        h("div", { class: "levers" }, this.#attaching.press, this.#modes, this.#send, this.#stop),
      ),
      this.#hint,
    );
    this.#box.addEventListener("input", () => this.#typed());
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    window.addEventListener("resize", () => this.#grow());
    this.#attaching.listen(this.closest("main") ?? this);
    const before = outgoing("");
    this.#box.value = [...before.map(({ text }) => text), remembered(DRAFT)].filter(Boolean).join("\n");
    for (const { id } of before) release("", id);
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
    const mute = !may("send");
    this.#box.disabled = this.#send.disabled = this.#attaching.press.disabled = mute;
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
    return this.#mode;
  }

  /** @param {Mode} mode */
  setMode(mode) {
    this.#mode = mode;
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
   * What is known of the session: a message that was thought unsent may have arrived after all.
   * @param {State} state
   */
  heard({ session, known, messages, sending }) {
    if (session !== this.#session) return;
    /** @param {Outgoing} one */
    const has = ({ id }) => id in messages && !sending[id];
    if (this.#kept && has(this.#kept)) {
      if (this.#box.value === this.#kept.text) this.#empty();
      else this.#drop();
    }
    if (!known || !this.#before.length) return;
    const all = this.#before.splice(0);
    for (const { id } of all) release(session, id);
    const lost = all.filter((one) => !has(one));
    if (lost.length) this.insert(lost.map(({ text }) => text).join("\n"));
    const gone = lost.flatMap(({ files = [] }) => files);
    if (gone.length) this.#doing.refused(`attach this again, if you like: ${gone.join(", ")}.`);
    if (lost.length === 1 && lost[0].text === this.#box.value) this.#keep(lost[0]);
  }

  /** It is in the box, and keeps its id there. @param {Outgoing} one */
  #keep({ id, text }) {
    this.#kept = { id, text };
    hold(this.#session, { id, text, boxed: true });
  }

  #drop() {
    if (this.#kept) release(this.#session, this.#kept.id);
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
    this.#attaching.turnTo(session);
    this.#typed();
    this.#takeUp(outgoing(session).filter(({ id }) => !this.#going.has(id)));
    for (const { mode, files, ...one } of this.#early.splice(0)) {
      hold(session, { ...one, files: files.map(({ name }) => name) });
      release("", one.id);
      this.#carry(one, mode, files);
    }
  }

  /** What was not acknowledged, here or on an earlier page. @param {Outgoing[]} all */
  #takeUp(all) {
    this.#before = all.filter(({ boxed }) => !boxed);
    for (const one of all.filter(({ boxed }) => boxed)) {
      if (one.text === this.#box.value) this.#kept = one;
      else release(this.#session, one.id); // the person has made something else of it
    }
  }

  /** There is nobody to send it to: it is a draft again. */
  #takeBack() {
    for (const { id, text } of this.#early.splice(0).reverse()) {
      this.insert(text);
      release("", id);
    }
  }

  #typed() {
    remember(DRAFT + this.#session, this.#box.value);
    this.#grow();
    this.#dress();
  }

  #empty() {
    this.#box.value = "";
    this.#drop();
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
    const files = this.#attaching.here;
    if (!text.trim() && !files.length) return;
    const id = this.#kept?.text === text ? this.#kept.id : newId();
    this.#empty();
    this.#attaching.put([]);
    this.say(text, mode, id, files);
    this.#dress();
  }

  /**
   * Say it: in the session that is shown, or in the first one that is. Before anything else it is
   * written down, so it is there again if this page is gone before the server has it.
   * @param {string} text
   * @param {Mode} mode
   * @param {Attached[]} files
   */
  say(text, mode, id = newId(), files = []) {
    hold(this.#session, { id, text, files: files.map(({ name }) => name) });
    if (this.#session) this.#carry({ id, text }, mode, files);
    else this.#early.push({ id, text, mode, files });
  }

  /** @param {Outgoing} one @param {Mode} mode @param {Attached[]} files */
  async #carry({ id, text }, mode, files) {
    const session = this.#session;
    this.#going.add(id);
    const sent = await this.#doing.send(text, mode, id, files);
    this.#going.delete(id);
    if (sent) return release(session, id);
    if (files.length) this.#attaching.put(files, session);
    if (session === this.#session) {
      this.insert(text);
      return this.#keep({ id, text });
    }
    const draft = remembered(DRAFT + session);
    remember(DRAFT + session, draft ? `${text}\n${draft}` : text);
    hold(session, { id, text, boxed: true });
  }

  /** What a new message can do to the answer that is going. */
  #choices() {
    return MODES.map(({ mode, name, line }, index) => ({
      name,
      hint: line,
      checked: mode === this.#mode,
      rest: index >= USUAL,
      act: () => (this.setMode(mode), this.ready()),
    }));
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight, window.innerHeight * 0.36)}px`;
  }

  #dress() {
    const { name, place, hint } = modeOf(this.#mode);
    this.#modes.hidden = !this.#busy || this.#box.disabled;
    set(say(this.#modes, name), { "aria-label": `${name}: what a new message does` });
    const usual = this.#early.length ? SOON : this.#busy ? place : "Say something";
    this.#box.placeholder = this.#box.disabled ? "You may read here, not write" : usual;
    const ready = this.#box.value.trim() || this.#attaching.here.length > 0;
    set(this.#send, { "data-ready": !!ready });
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
