// What an answer changed in files: shown, taken back, and brought back, in the words of a terminal
// (surfaces/changes).

import { showChanges } from "./dialogs.js";
import { count, plain } from "./words.js";
import { call, sessionPath } from "./wire.js";

/**
 * @import { Notices } from "./notices.js"
 * @import { ChangedFileOut, FilesOut, LineOut, UndoIn, UndoneOut } from "./told.d.ts"
 * @import { App, Turn } from "./types.d.ts"
 */

/** @typedef {{title: string, lines: LineOut[]}} Shown a file, and what became of it */

const MOST = 400; // lines of a diff
const MOST_FILES = 100; // of which each is named
const LONGEST = 2000; // characters in which an answer says what it has changed
const ANYWAY = "/undo anyway PATH takes it back all the same.";
const REDO = "/redo brings back what was taken back last.";
const PIECES = /"((?:\\["\\]|[^"])*)"|'([^']*)'|\\(.)|([^\s"'\\]+)|(\s+)|(.)/gs;

export class Changes {
  #app;
  #notices;

  /** @param {App} app @param {Notices} notices */
  constructor(app, notices) {
    this.#app = app;
    this.#notices = notices;
  }

  /** @param {string} words the paths that are meant; none: all */
  async diff(words) {
    const paths = this.#paths(words);
    if (paths) await this.show(undefined, paths);
  }

  /**
   * To be looked at, and then perhaps taken back: what is shown, and nothing else.
   * @param {string} [run] of which; of the last that has changed something, if none is said
   * @param {string[]} [paths] only these; none: all
   */
  async show(run, paths = []) {
    const { session } = this.#app.state;
    const which = run ? `?run=${encodeURIComponent(run)}` : "";
    /** @type {FilesOut | null} */
    const told = await this.#asked("GET", `/files${which}`);
    if (!told) return;
    const notes = [...told.notes, ...(told.taken_back ? [REDO] : [])];
    const back = await showChanges(heading(told), shownOf(told, paths), notes, !told.taken_back);
    if (!back || session !== this.#app.state.session) return;
    this.#tell(await this.#asked("POST", "/undo", { run: told.run, paths, anyway: false }), ANYWAY);
  }

  /** @param {string} words the paths that are meant; none: all; `anyway` before them is a word */
  async undo(words) {
    const paths = this.#paths(words);
    if (!paths) return;
    const anyway = paths[0] === "anyway";
    if (anyway && !paths[1])
      return this.#wrong("say which paths: /undo anyway PATH. Nothing was taken back");
    /** @type {UndoIn} */
    const what = { paths: anyway ? paths.slice(1) : paths, anyway };
    this.#tell(await this.#asked("POST", "/undo", what), ANYWAY);
  }

  async redo() {
    this.#tell(await this.#asked("POST", "/redo"), "");
  }

  /** What was left is to be read in peace. @param {UndoneOut | null} done @param {string} hint */
  #tell(done, hint) {
    if (done?.left.length) this.#notices.problem({ title: done.words, detail: hint });
    else if (done) this.#notices.say(done.words);
  }

  /** @param {string} detail */
  #wrong(detail) {
    this.#notices.problem({ title: "Not done:", detail });
  }

  /** @param {string} words */
  #paths(words) {
    const paths = split(words);
    if (!paths) this.#wrong("No closing quotation");
    return paths;
  }

  /**
   * What was answered; null if nothing was done, or the person looks at another session.
   * @param {string} method
   * @param {string} path
   * @param {UndoIn} [body]
   */
  async #asked(method, path, body) {
    const { session } = this.#app.state;
    this.#notices.clear();
    try {
      const answer = await call(method, sessionPath(session, path), body);
      return session === this.#app.state.session ? answer : null;
    } catch (problem) {
      if (session === this.#app.state.session) this.#notices.problem(problem);
      return null;
    }
  }
}

/**
 * Words as a shell reads them: in quotes, a space is part of one.
 * @param {string} words
 * @returns {string[] | null} none, if a quote is not closed
 */
export function split(words) {
  /** @type {string[]} */
  const all = [];
  let open = false;
  for (const [, double, single, escaped, bare, space, odd] of words.matchAll(PIECES)) {
    if (odd) return null;
    if (!space && !open) all.push("");
    open = !space;
    const text = double?.replace(/\\(["\\])/g, "$1") ?? single ?? escaped ?? bare;
    if (open) all.push(all.pop() + text);
  }
  return all;
}

/** How much it was. @param {FilesOut} told */
export function heading({ files, taken_back }) {
  const come = files.reduce((sum, one) => sum + one.come, 0);
  const gone = files.reduce((sum, one) => sum + one.gone, 0);
  const lines = `+${come.toLocaleString("en")} −${gone.toLocaleString("en")}`;
  return `Changed: ${count(files.length, "path")}, ${lines}${taken_back ? " (taken back)" : ""}`;
}

/** Whether it says at its end that it has changed files. @param {Turn} turn */
export function hasChanged({ parts }) {
  const last = parts.at(-1);
  return last?.kind === "progress" && /(^|\n)Changed \d[^\n]*$/.test(last.text.slice(-LONGEST));
}

/**
 * @param {FilesOut} told
 * @param {string[]} paths only these; none: all
 * @returns {Shown[]}
 */
export function shownOf({ files }, paths) {
  let room = MOST;
  const meant = files.filter((one) => !paths.length || paths.includes(one.path));
  const shown = meant.slice(0, MOST_FILES).map((one) => {
    /** @type {LineOut[]} */
    const lines = one.lines.slice(0, room).map(({ mark, text }) => ({ mark, text: plain(text) }));
    const more = one.lines.length - lines.length;
    room -= lines.length;
    const rest = `${more.toLocaleString("en")} more lines; /diff PATH shows one file`;
    if (more) lines.push({ mark: "@", text: rest });
    return { title: titleOf(one), lines };
  });
  const left = meant.length - shown.length;
  return left ? [...shown, { title: count(left, "more path"), lines: [] }] : shown;
}

/** @param {ChangedFileOut} file */
function titleOf({ path, became, doubt }) {
  return plain(`${path}: ${became}${doubt ? ` (${doubt})` : ""}`);
}
