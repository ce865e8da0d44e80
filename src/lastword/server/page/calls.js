// A tool call: what it is and how it stands in one line; what it changes below it, if it is an edit;
// its arguments and its result on demand; the output of its processes below it while it runs.

import { h, say, set } from "./dom.js";
import { editOf } from "./edits.js";
import { Long } from "./folding.js";
import { runs, withSigns } from "./lines.js";
import { pace } from "./pace.js";
import { argumentsLine, byWhom, lasted, parsed, plain } from "./words.js";

/** @import { Edit } from "./edits.js" */
/** @import { Call as Part } from "./types.d.ts" */

/** @type {Record<Part["status"], string>} */
const LOOKS = {
  completed: "done",
  "not started": "never",
  "may have executed": "maybe",
  intended: "going",
  begun: "going",
};

export class Call {
  #name = h("b");
  #about = h("code");
  #tag = h("span", { class: "tag" });
  #summary = h(
    "summary",
    {},
    h("span", { class: "what" }, this.#name, " ", this.#about),
    this.#tag,
  );
  #body = h("div", { class: "inside" });
  #details = h("details", { on: { toggle: () => this.#fill() } }, this.#summary, this.#body);
  #output = new Output();
  /** @type {Part} */
  #part;
  /** @type {string | null} */
  #given = null; // the arguments that its line tells of
  /** @type {Edit | null} */
  #edit = null;
  #lines = h("pre", {
    class: "lines diff",
    tabindex: "0",
    role: "region",
    "aria-label": "What it changes",
    hidden: true,
  });
  #shown = "";
  element = h("div", { class: "call" }, this.#details, this.#lines, this.#output.element);

  /**
   * @param {Part} part the call
   * @param {boolean} cut whether its run was fenced
   * @param {unknown} _
   * @param {string} asked calls that wait for the person, a line each
   */
  show(part, cut, _, asked) {
    const waits = asked.split("\n").includes(part.call);
    if (part === this.#part && `${cut} ${waits}` === this.#shown) return;
    this.#part = part;
    this.#shown = `${cut} ${waits}`;
    const going = LOOKS[part.status] === "going";
    const look =
      going && cut
        ? part.status === "begun"
          ? "maybe"
          : "never"
        : going && waits
          ? "waits"
          : LOOKS[part.status];
    set(this.element, { class: `call ${part.error ? "failed" : look}`, "data-call": part.call });
    say(this.#name, part.nature === "post" ? "send" : plain(part.name) || "a call from before");
    if (part.arguments !== this.#given) this.#dress(part.arguments);
    this.#given = part.arguments;
    say(this.#tag, look === "waits" ? "waits for permission" : tagOf(part, cut, this.#edit));
    this.#lines.hidden = !this.#edit || look === "waits"; // the question shows it
    this.#output.show(look === "going" || !part.content ? part.output : "", look === "going");
    if (this.#details.open) this.#fill();
  }

  /** @param {string} given */
  #dress(given) {
    pace.took({ steps: given.length, nodes: 0 });
    say(this.#about, argumentsLine(given));
    this.#edit = editOf(given);
    this.#lines.replaceChildren(...runs(withSigns(this.#edit?.lines ?? [])));
  }

  #fill() {
    if (!this.#details.open) return;
    const { arguments: given, content } = this.#part;
    const key = `${given.length} ${content.length}`;
    if (this.#body.dataset.key === key) return;
    this.#body.dataset.key = key;
    this.#body.replaceChildren(
      ...block("Called with", argumentRows(given)),
      ...block(
        this.#part.error ? "Error" : "Result",
        content ? foreign(content) : [h("p", {}, "Nothing came back.")],
      ),
    );
  }
}

/** @param {string} title @param {Node[]} nodes */
function block(title, nodes) {
  return nodes.length ? [h("p", { class: "heading" }, title), ...nodes] : [];
}

/** @param {string} text */
function foreign(text) {
  const long = new Long("pre", { tabindex: "0" });
  long.show(text);
  return [long.element, long.more];
}

/**
 * Each argument by its name; a text as it is, so that a file's lines are read as lines.
 * @param {string} text
 */
function argumentRows(text) {
  const found = parsed(text);
  if (found === null || typeof found !== "object") return text ? foreign(text) : [];
  const rows = Object.entries(found).flatMap(([name, value]) => [
    h("dt", {}, plain(name)),
    h("dd", {}, ...foreign(typeof value === "string" ? value : JSON.stringify(value))),
  ]);
  return rows.length ? [h("dl", {}, ...rows)] : [h("p", {}, "Nothing.")];
}

/** @param {Part} part @param {boolean} cut @param {Edit | null} edit */
function tagOf(part, cut, edit) {
  // without an answer the log does not tell when a call began, so there it is the whole time
  const answer = answerOf(part);
  const took =
    !part.until || !part.at
      ? ""
      : part.began
        ? lasted(part.until - part.began)
        : `${lasted(part.until - part.at)} in all`;
  switch (part.status) {
    case "completed":
      return [
        part.error ? "completed with an error" : "completed",
        edit && !part.error ? `+${edit.come} −${edit.gone}` : size(part.content),
        took,
        answer,
      ]
        .filter(Boolean)
        .join(" · ");
    case "may have executed":
      return ["may have executed", part.began && took && `cut off after ${took}`, answer]
        .filter(Boolean)
        .join(" · ");
    case "not started":
      return ["not started", answer].filter(Boolean).join(" · ");
    default:
      if (cut) return part.status === "begun" ? "was going at the stop" : "had not begun";
      return part.status === "intended" ? "about to start" : "running";
  }
}

/** Who allowed it, or did not. @param {Part} part */
function answerOf({ answer }) {
  return answer ? `${answer.allowed ? "allowed" : "denied"}${byWhom(answer.by)}` : "";
}

/** @param {string} content */
function size(content) {
  let lines = 1;
  for (let at = content.indexOf("\n"); at >= 0 && at < content.length - 1; lines++)
    at = content.indexOf("\n", at + 1);
  return lines > 1 ? `${lines} lines` : "";
}

/** Output as it comes, the newest in view: only what is new is added. */
export class Output {
  #pre = h("pre", { tabindex: "0", "aria-label": "Live output" });
  #text = "";
  element = h("div", { class: "output", hidden: true }, this.#pre);

  /** @param {string} text @param {boolean} live */
  show(text, live) {
    this.element.hidden = !text;
    set(this.element, { "data-live": live });
    if (text === this.#text) return;
    const follows = this.#pre.scrollHeight - this.#pre.scrollTop - this.#pre.clientHeight < 24;
    if (this.#text && text.startsWith(this.#text))
      this.#pre.append(plain(text.slice(this.#text.length)));
    else this.#pre.replaceChildren(plain(text));
    this.#text = text;
    if (follows) this.#pre.scrollTop = this.#pre.scrollHeight;
  }
}
