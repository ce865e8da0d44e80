// What the person said: copied, and if the last turn answers it, said in other words.

import { copyButton } from "./clipboard.js";
import { arrange, button, h, say, set } from "./dom.js";
import { Long } from "./folding.js";
import { remember, remembered } from "./memory.js";
import { newId } from "./outgoing.js";
import { bringsAnswers, saidIn } from "./program-words.js";
import { clock } from "./words.js";

/** @import { Doing, Message, MessageItem, State } from "./types.d.ts" */

/** @type {Record<string, string>} */
const NEVER = {
  stopped: "stopped before it was answered",
  superseded: "replaced before it was answered",
  shutdown: "not answered: the server was shut down",
  lost: "not answered: the server's process died",
  failed: "could not be answered",
  refused: "refused",
};

export class MessageView {
  #text = new Long("div", { class: "words" });
  #fate = h("small");
  #who = h("small", { class: "who" });
  #acts = h("div", { class: "acts" });
  #copy = copyButton(() => this.#words, "the message");
  #edit = button("Edit", () => this.#begin(), { class: "plain", "aria-label": "Edit the message" });
  /** @type {Editor | null} */
  #editor = null;
  #words = "";
  #name = ""; // under which a draft of it is kept
  #answer = ""; // the last turn, by its run, if it answers this and can be asked anew
  #run = ""; // the one that the person began to say anew: no other is meant
  /** @type {unknown[]} */
  #shown = [];
  /** @type {Doing} */
  #doing;
  element = h("div", { class: "me" });

  /**
   * @param {MessageItem} item
   * @param {State} state
   * @param {{editable: string, last: string, doing: Doing}} about
   */
  show(item, { messages, sending, session }, { editable, last, doing }) {
    const mine = editable === item.id;
    const late = !!this.#editor && last !== this.#run;
    const shown = [item, messages[item.id], sending[item.id], mine, mine && last, late];
    if (shown.every((one, index) => one === this.#shown[index]) && this.#shown.length) return;
    this.#shown = shown;
    this.#doing = doing;
    this.#name = `edit ${session} ${item.id}`;
    this.#answer = mine ? last : "";
    this.#editor?.late(late);
    this.#draw(item, messages[item.id] ?? { text: "…" }, sending);
    this.#arrange();
  }

  #arrange() {
    const begun = remembered(this.#name) !== null;
    const offered = !!this.#answer || begun;
    const name = begun ? "Go on editing" : "Edit";
    set(say(this.#edit, name), { "aria-label": `${name} the message` });
    arrange(this.#acts, [this.#copy, ...(offered ? [this.#edit] : [])]);
    this.element.classList.toggle("latest", offered);
    const words = this.#editor ? [this.#editor.element] : [this.#text.element, this.#text.more];
    const below = this.#editor ? [] : [this.#fate, this.#acts];
    arrange(this.element, [this.#who, ...words, ...below]);
    this.element.classList.toggle("editing", !!this.#editor);
  }

  /** @param {MessageItem} item @param {Message} message @param {State["sending"]} sending */
  #draw({ id, outcome, error }, message, sending) {
    const by = message.origin && message.origin !== "person" ? message.origin : "";
    const answers = bringsAnswers(message);
    this.#words = saidIn(message);
    this.#text.show(this.#words);
    const never = answers && outcome ? "did not reach it" : (NEVER[outcome] ?? "");
    say(
      this.#fate,
      [sending[id] ? "sending…" : "", never, error, attached(message)].filter(Boolean).join(" · "),
    );
    say(this.#who, by ? `by a ${by}` : "");
    this.#fate.hidden = !this.#fate.textContent;
    this.#who.hidden = !by;
    this.#acts.hidden = answers;
    set(this.element, {
      class: `me ${outcome ? "never" : ""} ${sending[id] ? "sending" : ""} ${answers ? "answers" : ""}`,
      "data-message": id,
      title: clock(message.at),
    });
  }

  #begin() {
    const run = (this.#run = this.#answer);
    this.#editor = new Editor(remembered(this.#name) ?? this.#words, {
      typed: (text) => remember(this.#name, text === this.#words ? null : text),
      send: (said) => this.#doing.again(run, said),
      moveOut: (text) => this.#doing.putBack(text),
      done: (how) => this.#finish(how),
    });
    this.#editor.late(!run);
    this.#arrange();
    this.#editor.focus();
  }

  /** @param {"sent" | "moved" | "closed"} how what was closed is there when it is opened again */
  #finish(how) {
    if (how !== "closed") remember(this.#name, null);
    this.#editor = null;
    this.#arrange();
    if (how === "sent") this.#doing.ready();
    else if (how === "closed") this.#edit.focus();
  }
}

/** @param {Message} message */
function attached(message) {
  const { attachments = [] } = bringsAnswers(message) ? {} : message;
  return attachments.map((one) => one.name || one.media_type).join(", ");
}

const ANEW = "The answer below stays here, and is left out of what the model is shown.";
const LATE = "This is not the last message any more, so it is not said anew.";

/** Where a message is said anew. What is typed into it is kept until it was sent. */
class Editor {
  #box;
  #doing;
  #busy = false;
  #late = false;
  #tried = { id: newId(), text: "" }; // the same words again are the same message
  #words = h("small");
  #send = button("Send again", () => this.#go(), { class: "go" });
  element;

  /**
   * @param {string} text
   * @param {{
   *   typed(text: string): void,
   *   send(said: {id: string, text: string}): Promise<boolean>,
   *   moveOut(text: string): void,
   *   done(how: "sent" | "moved" | "closed"): void,
   * }} doing
   */
  constructor(text, doing) {
    this.#doing = doing;
    const typed = () => doing.typed(this.#box.value);
    this.#box = h("textarea", { "aria-label": "Your message, in other words", on: { input: typed } });
    this.#box.value = text;
    this.element = h(
      "div",
      { class: "editor", on: { keydown: (event) => this.#key(event) } },
      this.#box,
      h(
        "div",
        { class: "choices" },
        this.#words,
        button("Cancel", () => doing.done("closed")),
        this.#send,
      ),
    );
  }

  /** What it was to replace is not the last any more. @param {boolean} late */
  late(late) {
    this.#late = late;
    if (this.#busy) return; // it may be what was sent from here
    say(this.#words, late ? LATE : ANEW);
    say(this.#send, late ? "Put it in the box" : "Send again");
  }

  focus() {
    this.#box.focus();
    this.#box.setSelectionRange(this.#box.value.length, this.#box.value.length);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") this.#doing.done("closed");
    else if (event.key === "Enter" && event.target === this.#box && !event.shiftKey) this.#go();
    else return;
    event.preventDefault();
    event.stopPropagation(); // Esc gives it up here, and stops nothing
  }

  async #go() {
    const text = this.#box.value;
    if (!text.trim() || this.#busy) return;
    if (this.#late) {
      this.#doing.done("moved");
      return this.#doing.moveOut(text);
    }
    if (text !== this.#tried.text) this.#tried = { id: newId(), text };
    this.#busy = true;
    const sent = await this.#doing.send(this.#tried);
    this.#busy = false;
    this.late(this.#late);
    if (sent) this.#doing.done("sent");
  }
}
