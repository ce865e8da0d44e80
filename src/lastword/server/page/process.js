// A process that goes on: what it writes, and what the person may do about it. What is said of that
// is the server's words, the same as in a terminal and in an editor, and stands below its buttons.

import { button, h, say, set } from "./dom.js";
import { following, follow, whole } from "./pieces.js";
import { Steady } from "./steady.js";
import { clock, count, lasted, plain, short } from "./words.js";

/** @import { Done, May, Process, Processes } from "./types.d.ts" */

const SHOWN = 8000; // characters of what it wrote last: as many, however much it writes
const LOOK = 800; // ms between two looks at what it writes
const LONGEST = 65_000; // characters of a line that is written to it
const SIGNALS = [
  ["INT", "Interrupt", "As Ctrl-C does (INT)"],
  ["HUP", "Hang up", "As a terminal does that is closed; many read their settings again (HUP)"],
  ["TERM", "Terminate", "Ask it to end, and what it waits for (TERM)"],
  ["KILL", "Kill", "Without asking, and what it waits for (KILL)"],
];

export class ProcessRow {
  #doing;
  #session;
  /** @type {Process} */
  #process;
  #steady;
  #text = "";
  #at = 0; // bytes of its output that were read
  #look = 0; // which of those who look at its output may go on doing so
  #touched = false;
  #busy = false;
  #how = ""; // it ended
  #command = h("code");
  #about = h("small");
  #cut = h("p", { class: "fine", hidden: true });
  #output = following(h("pre", { class: "output", tabindex: "0" }));
  #read = button("Output", () => this.#toggle(), { "aria-expanded": "false" });
  #end = button("End it", (click) => this.#act(click, this.#doing.end), {
    title: "It, and all that it started: asked first, then killed",
  });
  #line = h("input", { type: "text", maxlength: LONGEST, autocomplete: "off", spellcheck: "false" });
  #write = button("Write", (click) => this.#writeLine(click), { type: "submit" });
  #finish = button("Finish", (click) => this.#act(click, this.#doing.finish), {
    class: "plain",
    title: "The end of its input, as Ctrl-D is",
  });
  #form = h(
    "form",
    { on: { submit: (event) => event.preventDefault() } },
    this.#line,
    this.#write,
    this.#finish,
  );
  #signals = SIGNALS.map(([name, label, title]) =>
    button(label, (click) => this.#act(click, this.#doing.signal, name), { class: "plain", title }),
  );
  #sends = h("div", { class: "signals", role: "group" }, h("span", {}, "Signal"), ...this.#signals);
  #panel = h("div", { class: "panel", hidden: true }, this.#cut, this.#output, this.#form, this.#sends);
  #told = h("p", { class: "told", role: "status" });
  element = h(
    "div",
    { class: "process", role: "group" },
    h("div", { class: "about" }, this.#command, this.#about),
    this.#read,
    this.#end,
    this.#panel,
    this.#told,
  );

  /**
   * @param {Processes & {may: May}} doing what can be asked of the server, each of a process of a session
   * @param {string} session that it is of: another may be shown by the time that something is pressed
   * @param {() => number} scrolled
   */
  constructor(doing, session, scrolled) {
    this.#doing = doing;
    this.#session = session;
    this.#steady = new Steady(this.element, scrolled, (ready) => this.#open(ready));
  }

  /** Whether the person is about something here, so that it is not to go from under their hands. */
  get held() {
    return this.#touched || this.element.contains(document.activeElement);
  }

  /** @param {Process} process */
  show(process) {
    const { id, takes_input: reads } = process;
    const ended = process.ended_at && !this.#process?.ended_at;
    this.#process = process;
    say(this.#command, short(plain(process.command), 80));
    say(this.#about, this.#aboutIt());
    this.#name(id);
    const acts = id && !process.ended_at;
    const here = document.activeElement;
    const leaves = !acts && (here === this.#end || this.#form.contains(here) || this.#sends.contains(here));
    this.#read.hidden = !id;
    this.#end.hidden = !acts || !this.#doing.may("stop");
    this.#sends.hidden = this.#end.hidden || !this.#doing.may("approve");
    this.#form.hidden = this.#sends.hidden || !reads;
    if (leaves) this.#read.focus();
    if (ended && id && this.held) this.#readOn();
  }

  #aboutIt() {
    const { id, pid, started_at: since, ended_at: until, kept } = this.#process;
    const how = this.#how ? `has ended: ${plain(this.#how)}` : "has ended";
    const fate = until ? how : kept ? "kept: a stop leaves it" : "ends with its answer";
    const time = until ? lasted(until - since) : `since ${clock(since)}`;
    return [id, `pid ${pid}`, time, fate].filter(Boolean).join(" · ");
  }

  /** @param {string} id */
  #name(id) {
    set(this.element, { "aria-label": `Process ${id || this.#process.pid}` });
    set(this.#output, { "aria-label": `What ${id} wrote` });
    set(this.#line, { "aria-label": `Write a line to ${id}`, placeholder: "Write a line to it" });
    set(this.#sends, { "aria-label": `Send a signal to ${id}` });
  }

  /** @param {boolean} ready */
  #open(ready) {
    set(this.element, { "data-early": !ready });
    for (const one of [this.#end, this.#write, this.#finish, ...this.#signals])
      set(one, { "aria-disabled": ready ? null : "true" });
  }

  /** The same button puts it away. */
  #toggle() {
    const open = this.#panel.hidden;
    this.#touched = true;
    this.#panel.hidden = !open;
    set(this.#read, { "aria-expanded": String(open) });
    this.#look++;
    if (open) this.#follow();
  }

  /** What it writes is shown while somebody looks. */
  async #follow() {
    const look = this.#look;
    while (look === this.#look && this.element.isConnected) {
      const more = document.hidden || (await this.#readOn());
      if (!more) return;
      await new Promise((wake) => setTimeout(wake, LOOK));
    }
  }

  /** @returns {Promise<boolean>} whether there may be more to read later */
  async #readOn() {
    const from = this.#at;
    const piece = await this.#doing.read(this.#session, this.#process.id, from);
    if ("wrong" in piece) {
      this.#tell(piece.wrong, true);
      return piece.offline;
    }
    if (from !== this.#at) return true; // somebody else has read it
    const text = (piece.begin === from ? this.#text : "") + piece.text;
    const first = Math.max(0, text.length - SHOWN);
    this.#text = text.slice(first && whole(text, first));
    this.#at = piece.end;
    this.#how = piece.ended;
    say(this.#output, plain(this.#text) || "It has written nothing.");
    this.#cut.hidden = piece.total <= SHOWN;
    say(this.#cut, `The last of ${count(piece.total, "byte")}`);
    follow(this.#output);
    if (this.#process.ended_at) say(this.#about, this.#aboutIt());
    return !this.#process.ended_at;
  }

  /** @param {MouseEvent} click */
  async #writeLine(click) {
    const line = this.#line.value;
    const written = await this.#act(click, this.#doing.write, line);
    if (written && this.#line.value === line) this.#line.value = "";
  }

  /** @param {MouseEvent} click @param {Done} ask @returns {Promise<boolean>} whether it was done */
  async #act(click, ask, what = "") {
    if (!this.#steady.takes(click) || this.#busy) return false;
    this.#busy = this.#touched = true;
    set(this.element, { "aria-busy": "true" });
    const { wrong, told = "" } = await ask(this.#session, this.#process.id, what);
    this.#busy = false;
    set(this.element, { "aria-busy": null });
    this.#tell(wrong || told, !!wrong);
    return !wrong;
  }

  /** @param {string} text @param {boolean} wrong */
  #tell(text, wrong) {
    set(this.#told, { class: wrong ? "told wrong" : "told" });
    say(this.#told, plain(text));
  }
}
