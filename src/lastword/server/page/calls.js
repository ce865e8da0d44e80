// A tool call: what it is and how it stands in one line; its arguments and its result on demand;
// the output of its processes below it while it runs.

import { h, say, set } from "./dom.js";
import { argumentsLine, lasted, plain } from "./words.js";

const LOOKS = {
  completed: "done",
  "not started": "never",
  "may have executed": "maybe",
  intended: "going",
  begun: "going",
};
const MOST_SHOWN = 40000; // characters of a result; more is told, not drawn

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
  #part = null;
  #shown = "";
  element = h("div", { class: "call" }, this.#details, this.#output.element);

  /** @param part the call @param {boolean} cut whether its run was fenced @param {string} asked calls that wait for the person */
  show(part, cut, _, asked) {
    const waits = asked.split(" ").includes(part.call);
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
    say(this.#about, argumentsLine(part.arguments));
    say(this.#tag, look === "waits" ? "waits for your permission" : tagOf(part, cut));
    this.#output.show(look === "going" || !part.content ? part.output : "", look === "going");
    if (this.#details.open) this.#fill();
  }

  #fill() {
    if (!this.#details.open) return;
    const { arguments: given, content } = this.#part;
    const result =
      content.length > MOST_SHOWN
        ? `${content.slice(0, MOST_SHOWN)}\n… ${content.length - MOST_SHOWN} more characters`
        : content;
    const key = `${given.length} ${result.length}`;
    if (this.#body.dataset.key === key) return;
    this.#body.dataset.key = key;
    this.#body.replaceChildren(
      ...block("Called with", argumentRows(given)),
      ...block(
        this.#part.error ? "Error" : "Result",
        result ? [h("pre", { tabindex: "0" }, plain(result))] : [h("p", {}, "Nothing came back.")],
      ),
    );
  }
}

function block(title, nodes) {
  return nodes.length ? [h("p", { class: "heading" }, title), ...nodes] : [];
}

/** Each argument by its name; a text as it is, so that a file's lines are read as lines. */
export function argumentRows(text) {
  let found = null;
  try {
    found = JSON.parse(text);
  } catch {
    return text ? [h("pre", { tabindex: "0" }, plain(text))] : [];
  }
  if (found === null || typeof found !== "object")
    return [h("pre", { tabindex: "0" }, plain(text))];
  const rows = Object.entries(found).flatMap(([name, value]) => [
    h("dt", {}, plain(name)),
    h("dd", {}, h("pre", {}, plain(typeof value === "string" ? value : JSON.stringify(value)))),
  ]);
  return rows.length ? [h("dl", {}, ...rows)] : [h("p", {}, "Nothing.")];
}

function tagOf(part, cut) {
  // the log does not tell how long a call waited to be allowed, so there it is the whole time
  const took =
    !part.until || !part.at
      ? ""
      : part.began
        ? lasted(part.until - part.began)
        : `${lasted(part.until - part.at)} in all`;
  switch (part.status) {
    case "completed":
      return [part.error ? "completed with an error" : "completed", size(part.content), took]
        .filter(Boolean)
        .join(" · ");
    case "may have executed":
      return ["may have executed", part.began && took && `cut off after ${took}`]
        .filter(Boolean)
        .join(" · ");
    case "not started":
      return "not started";
    default:
      if (cut) return part.status === "begun" ? "was going at the stop" : "had not begun";
      return part.status === "intended" ? "about to start" : "running";
  }
}

function size(content) {
  const lines = content ? content.replace(/\n$/, "").split("\n").length : 0;
  return lines > 1 ? `${lines} lines` : "";
}

/** Output as it comes, the newest in view: only what is new is added. */
export class Output {
  #pre = h("pre", { tabindex: "0", "aria-label": "Live output" });
  #text = "";
  element = h("div", { class: "output", hidden: true }, this.#pre);

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
