// One answer: what a run said, thought and called, in the order it did so, and how it ended.

import { Call, Output } from "./calls.js";
import { copyButton } from "./clipboard.js";
import { arrange, button, h, say, set } from "./dom.js";
import { Folding, Long } from "./folding.js";
import { Markdown } from "./markdown.js";
import { pace } from "./pace.js";
import { count, plain } from "./words.js";

/**
 * @import { Message, Noted, Part, Speech } from "./types.d.ts"
 * @import { Steered as Said, Turn as Answer } from "./types.d.ts"
 */

export const CUT = new Set(["stopped", "superseded", "shutdown", "parent", "lost"]);
const NODES = 12; // of a part, before its text
const STEPS = 250; // to show it again
/** @type {Record<string, string>} */
const ENDS = {
  failed: "This answer failed.",
  shutdown: "The server was shut down here.",
  parent: "Ended together with the run that had started it.",
  lost: "The server's process died here. What had been said is kept; nothing is run again by itself.",
  withdrawn: "Taken back.",
};

/**
 * @typedef {{cut: boolean, mark: boolean, messages: Record<string, Message>, asked: string}} About
 * @typedef {{
 *   element: HTMLElement,
 *   more?: HTMLElement,
 *   show(part: Part, cut: boolean, messages: About["messages"], asked: string): void,
 * }} Blank what draws a part
 * @typedef {{again: (() => void) | null, goOn: (() => void) | null, changes: (() => void) | null}} Offered
 * @typedef {Blank & {part: Part} & Omit<About, "mark">} View and what it has drawn
 */

export class Turn {
  /** @type {View[]} */
  #parts = [];
  /** @type {Answer} */
  #turn;
  /** @type {About} */
  #about;
  #end = h("p", { class: "end", hidden: true });
  #mark = h("p", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  #acts = h("div", { class: "acts" });
  #copy = copyButton(() => spoken(this.#turn), "the answer");
  /** @type {Offered} */
  #offered = { again: null, goOn: null, changes: null };
  #changes = button("Changes", () => this.#offered.changes?.(), {
    class: "plain",
    "aria-label": "Changes in files",
  });
  #again = button("Try again", () => this.#offered.again?.(), { class: "plain" });
  #goOn = button("Go on", () => this.#offered.goOn?.(), { class: "plain" });
  element = h("article", { class: "it", "aria-label": "Answer" });

  /** @param {Answer} turn @param {Omit<About, "cut"> & {live: boolean}} about */
  show(turn, { live, mark, messages, asked }) {
    const cut = CUT.has(turn.outcome);
    set(this.element, {
      "data-run": turn.run,
      "data-outcome": turn.outcome || (live ? "going" : ""),
      "aria-busy": live ? "true" : null,
    });
    this.#turn = turn;
    this.#about = { cut, mark, messages, asked };
    this.#parts.length = Math.min(this.#parts.length, turn.parts.length);
    this.#tell(turn);
    pace.run(this.#advance);
  }

  /** What can be done with it, once it has ended. @param {Offered} offered */
  offer(offered) {
    this.#offered = offered;
    const { outcome, parts } = this.#turn;
    const words = outcome && parts.some((part) => part.kind === "text" && part.text);
    const acts = [
      ...(words ? [this.#copy] : []),
      ...(offered.changes ? [this.#changes] : []),
      ...(offered.again ? [this.#again] : []),
      ...(offered.goOn ? [this.#goOn] : []),
    ];
    arrange(this.#acts, acts);
    this.#acts.hidden = !acts.length;
    this.element.classList.toggle("latest", !!(offered.again || offered.changes));
  }

  /** Draw what is not drawn yet, or has changed. @returns {boolean} whether there is more to do */
  #advance = () => {
    const { parts } = this.#turn;
    const { cut, mark } = this.#about;
    let index = 0;
    while (index < parts.length && (this.#isDrawn(index) || pace.free)) this.#show(index++);
    const nodes = this.#parts.flatMap(({ element, more }) => (more ? [element, more] : [element]));
    arrange(this.element, [...nodes, ...(mark ? [this.#mark] : []), this.#end, this.#acts]);
    this.#cutMark(cut);
    return index < parts.length;
  };

  /** @param {number} index */
  #isDrawn(index) {
    const { cut, messages, asked } = this.#about;
    const view = this.#parts[index];
    const part = this.#turn.parts[index];
    if (view?.part !== part) return false;
    if (part.kind === "said") return view.messages === messages;
    return !isOpen(part) || (view.cut === cut && view.asked === asked);
  }

  /** @param {number} index */
  #show(index) {
    if (this.#isDrawn(index)) return;
    const { cut, messages, asked } = this.#about;
    const part = this.#turn.parts[index];
    const before = this.#parts[index];
    const same = before?.part.kind === part.kind;
    if (!same) pace.took({ steps: 0, nodes: NODES });
    const drawn = { part, cut, messages, asked };
    const view = Object.assign(same ? before : makers[part.kind](), drawn);
    this.#parts[index] = view;
    view.show(part, cut, messages, asked);
    pace.took({ steps: STEPS, nodes: 0 });
  }

  /**
   * Where an answer was cut: after its last word, if a word was the last that it did.
   * @param {boolean} cut
   */
  #cutMark(cut) {
    const last = this.#parts.at(-1);
    const text = cut && last?.part.kind === "text" ? last.element : null;
    for (const view of this.#parts)
      if (view.part.kind === "text") view.element.classList.toggle("cut", view.element === text);
  }

  /** @param {Answer} turn */
  #tell({ outcome, error, rollback, parts, fenced_at: fencedAt, generation }) {
    const nothing =
      CUT.has(outcome) && parts.length === 0 && generation
        ? "Stopped before it said anything."
        : "";
    const left = rollback ? "Left out of what the model is shown." : "";
    const why = fencedAt ? "" : ENDS[outcome]; // a receipt says it better
    const words = [why || nothing, plain(error), left].filter(Boolean).join(" ");
    this.#end.hidden = !words;
    set(this.#end, { class: outcome === "failed" ? "end failed" : "end" });
    say(this.#end, words);
  }
}

/** What an answer says, as it was written. @param {Answer} turn */
function spoken({ parts }) {
  const texts = parts.map((part) => (part.kind === "text" ? part.text.trim() : ""));
  return texts.filter(Boolean).join("\n\n");
}

/**
 * Whether it is a call of which it is not known what became.
 * @param {Part} part
 * @returns {boolean}
 */
export function isOpen(part) {
  return part.kind === "call" && (part.status === "begun" || part.status === "intended");
}

/** @type {Record<Part["kind"], () => Blank>} */
const makers = {
  text: () => new Text(),
  thinking: () => new Thinking(),
  call: () => new Call(),
  progress: () => new Progress(),
  said: () => new Steered(),
  note: () => new Note(),
};

class Text {
  element = h("div", { class: "text" });
  #folding = new Folding(new Markdown(this.element));
  more = this.#folding.element;

  /** @param {Speech} part */
  show(part) {
    this.#folding.show(part.text);
  }
}

/** Folded: it is there for whoever wants to know. */
class Thinking {
  #words = new Long("p");
  #size = h("span");
  #counted = 0; // characters whose words are counted
  #many = 0;
  element = h(
    "details",
    { class: "thinking" },
    h("summary", {}, "Thinking ", this.#size),
    this.#words.element,
    this.#words.more,
  );

  /** @param {Speech} part */
  show({ text }) {
    this.#words.show(text);
    if (text.length < this.#counted) this.#counted = this.#many = 0;
    const fresh = text.slice(this.#counted);
    const goesOn = /\S/.test(text[this.#counted - 1] ?? " ") && /\S/.test(fresh[0] ?? " ");
    this.#many += (fresh.match(/\S+/g)?.length ?? 0) - (goesOn ? 1 : 0);
    this.#counted = text.length;
    say(this.#size, count(this.#many, "word"));
  }
}

class Progress {
  #output = new Output();
  element = h("div", {}, this.#output.element);

  /** @param {Speech} part */
  show(part) {
    set(this.element, { class: part.text.trim().includes("\n") ? "call" : "progress" });
    this.#output.show(part.text, true);
  }
}

class Steered {
  #text = h("span");
  element = h("div", { class: "steered" }, h("small", {}, "you added"), this.#text);

  /** @param {Said} part @param {unknown} _ @param {Record<string, Message>} messages */
  show(part, _, messages) {
    say(this.#text, messages[part.id]?.text ?? "");
  }
}

class Note {
  element = h("p", { class: "note" });

  /** @param {Noted} part */
  show(part) {
    say(this.element, plain(part.text));
  }
}
