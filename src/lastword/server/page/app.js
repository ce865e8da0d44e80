// The page as a whole: keeps the state, carries the person's wishes to the server, and has
// everything drawn once a frame, however many words came in it.

import { Announcer, news } from "./announce.js";
import { Anew, lastTurn } from "./anew.js";
import { Changes } from "./changes.js";
import { command } from "./commands.js";
import "./composer.js";
import "./conversation.js";
import "./head.js";
import "./queue.js";
import "./sessions.js";
import "./timeline.js";
import { askTitle, showKeys } from "./dialogs.js";
import { Desk } from "./desk.js";
import { isLink } from "./key.js";
import { Keeping } from "./keeping.js";
import { listenForKeys } from "./keys.js";
import { Notices } from "./notices.js";
import { blank, reduce } from "./state.js";
import { addressed, Shelf } from "./shelf.js";
import { enter } from "./signin.js";
import { nextTheme, theme } from "./theme.js";
import { Telling } from "./telling.js";
import { Usage } from "./usage.js";
import { going, phase, stoppable } from "./view.js";
import { call, sessionPath, Stream } from "./wire.js";

/**
 * @import { Cells } from "./told.d.ts"
 * @import { Action, Event, Link, Me, Mode, Older, Right } from "./types.d.ts"
 * @import { Problem } from "./wire.js"
 */

/**
 * What index.html has.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 */
function find(tag) {
  return /** @type {HTMLElementTagNameMap[T]} */ (document.querySelector(tag));
}

/** @param {string} id */
function named(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

const parts = {
  sessions: find("lw-sessions"),
  head: find("lw-head"),
  conversation: find("lw-conversation"),
  timeline: find("lw-timeline"),
  queue: find("lw-queue"),
  composer: find("lw-composer"),
};
const telling = new Telling();
const announcer = new Announcer(named("polite"), named("urgent"));
const notices = new Notices(named("notice"), named("banner"), () => app.drawSoon());

/** @type {Record<string, string>} */
const MARKS = { stopping: "■ ", asking: "? ", standing: "? ", idle: "", quiet: "", waiting: "" };
const LISTED = new Set(["messageis", "placed", "itemis", "turnis", "askopened", "askclosed"]); // what the list of sessions tells too

class App {
  state = blank(addressed()); // from the first moment on it can be stopped
  /** @type {Me | null} */
  me = null;
  /** @type {Link} */
  link = "connecting";
  skew = 0; // seconds that the server's clock is ahead of this one
  /** @type {Stream | null} */
  #stream = null;
  #drawn = false;
  #told = this.state;
  #farewell = ""; // what there is to say of the session that was shown before

  /** @param {Right} what */
  may = (what) => this.me?.rights?.includes(what) ?? true;

  /** @param {Action} action */
  dispatch(action) {
    const next = reduce(this.state, action);
    if (next === this.state) return;
    this.state = next;
    this.drawSoon();
  }

  drawSoon() {
    if (this.#drawn) return;
    this.#drawn = true;
    const draw = () => {
      this.#drawn = false;
      this.#draw();
    };
    // a page that nobody sees gets no frames, and still should be up to date when it is looked at
    if (document.hidden) setTimeout(draw, 200);
    else requestAnimationFrame(draw);
  }

  #draw() {
    const { state, me } = this;
    const link = notices.out ? "signed out" : this.link;
    const now = Date.now() / 1000 + this.skew;
    announcer.say(news(this.#told, state));
    telling.heard(this.#told, state);
    this.#told = state;
    const level = me?.level ?? "";
    parts.head.show(state, { link, level, theme: theme(), me });
    parts.conversation.show(state, notices.out ? null : me);
    parts.timeline.show(state, this.skew);
    parts.queue.show(state);
    parts.composer.show({
      session: state.session,
      out: notices.out,
      busy: going(state),
      stoppable: stoppable(state),
      stopping: phase(state) === "stopping" && !!state.stopping,
      may: this.may,
    });
    parts.composer.heard(state);
    parts.sessions.show({ ...shelf.rows(state), me, now });
    notices.link(link, state);
    const mark = telling.mark || (MARKS[phase(state)] ?? "● ");
    document.title = `${mark}${state.title || "lastword"}${state.title ? " · lastword" : ""}`;
    document.body.dataset.session = state.known ? state.session : "";
    document.body.dataset.phase = phase(state);
  }

  /** Show a session: what it was before is replaced only once it has come. @param {string} id */
  async open(id) {
    if (id === this.state.session && this.#stream) return;
    this.close();
    // what was said to the session of the address, before it was opened, is on its way there
    if (id !== this.state.session) this.#turnTo(id);
    this.link = "connecting";
    parts.conversation.pin();
    this.drawSoon();
    if (shelf.isFresh(id)) this.#nothingYet();
    else this.watch(id);
  }

  /** @param {string} id */
  #turnTo(id) {
    this.state = blank(id);
    this.#told = this.state;
    parts.composer.turnTo(id);
    parts.head.closePopup();
    notices.clear();
    if (this.#farewell) notices.say(this.#farewell);
    this.#farewell = "";
  }

  watch(id = this.state.session) {
    if (this.#stream || id !== this.state.session) return;
    this.#stream = new Stream(id, {
      event: (event) => this.#heard(event),
      link: (link) => this.#linked(link),
      problem: (problem) => this.#refused(problem),
    });
  }

  close() {
    this.#stream?.close();
    this.#stream = null;
  }

  hurry() {
    this.#stream?.hurry();
  }

  /** How programs ended before this page was there: the log does not tell. */
  async #recall() {
    const { session } = this.state;
    try {
      /** @type {Cells} */
      const { cells } = await call("GET", sessionPath(session, "/cells"));
      if (session === this.state.session) this.dispatch({ type: "programs", cells });
    } catch {
      // it is told when the page connects again
    }
  }

  /** @param {Event} event */
  #heard(event) {
    const { before } = this.state;
    const kinds = event.kind === "changes" ? event.changes.map((one) => one.change) : [];
    const skew = event.at - Date.now() / 1000;
    if (kinds.includes("grew") && Math.abs(skew - this.skew) > 2) this.skew = skew;
    this.dispatch({ type: "event", event });
    if (event.kind === "snapshot" || kinds.some((one) => LISTED.has(one))) shelf.soon();
    if (event.kind === "snapshot" && event.items.length) this.#recall();
    if (kinds.includes("usageis")) usage.heard();
    if (event.kind === "snapshot") usage.read(!event.items.length);
    // what the person had fetched stays there
    if (event.kind === "snapshot" && before && before < event.before)
      this.loadOlder(event.before - before);
    if (kinds.includes("processis") && !this.me?.level && !this.state.level) this.meet(); // now it is known how they are held
    if (event.kind === "closed" && event.why === "deleted") this.#deleted();
  }

  /** Who asks, and whom. */
  async meet() {
    try {
      this.me = await call("GET", "v1/me");
      this.drawSoon();
    } catch (problem) {
      if (problem.status === 401) notices.signedOut();
    }
  }

  /** @param {Link} link */
  #linked(link) {
    if (link === "open" && this.link === "reconnecting") notices.clear();
    this.link = link;
    this.drawSoon();
  }

  /** @param {Problem} problem */
  #refused(problem) {
    this.#stream = null;
    if (problem.status === 401) notices.signedOut();
    else if (problem.status === 404 && this.state.items.length) this.#deleted();
    else if (problem.status === 404) this.#nothingYet();
    else notices.problem(problem);
  }

  /** A session that nobody has said anything in: there is nothing to watch until somebody does. */
  #nothingYet() {
    this.link = "open";
    this.dispatch({ type: "fresh" });
  }

  #deleted() {
    this.close();
    this.#farewell = "That session was deleted.";
    shelf.forget(this.state.session);
  }

  async loadOlder(entries = 200) {
    const { session, before } = this.state;
    try {
      const limit = Math.min(entries, 1000);
      /** @type {Older} */
      const past = await call("GET", sessionPath(session, `/past?before=${before}&limit=${limit}`));
      if (session === this.state.session && before === this.state.before)
        this.dispatch({ type: "older", past });
    } catch (problem) {
      notices.problem(problem);
    }
  }
}

const app = new App();
const shelf = new Shelf(app, notices);
const desk = new Desk(app, notices, parts);
const anew = new Anew(app, notices, parts);
const usage = new Usage(app);
const changes = new Changes(app, notices);
const keeping = new Keeping(notices, () => shelf.refresh());

parts.sessions.begin({
  create: () => shelf.create(),
  remove: (session) => shelf.remove(session),
  rename: async (session) => {
    const title = await askTitle(session);
    if (title !== null) keeping.rename(session.id, title);
  },
  pin: (session) => keeping.pin(session),
  take: (session) => keeping.take(session.id),
  search: (words) => shelf.search(words),
  more: () => shelf.more(),
});
parts.head.begin({
  menu: () => drawer(),
  keys: showKeys,
  telling,
  theme: () => (nextTheme(), app.drawSoon()),
  processes: { ...desk.processes, may: app.may },
});
parts.conversation.begin({
  may: app.may,
  older: () => app.loadOlder(),
  answer: (question, choice) => desk.answer(question, choice),
  program: desk.program,
  putBack: (text) => parts.composer.insert(text),
  again: async (run, said) => {
    const asked = await anew.ask(run, said);
    parts.composer.ready();
    return asked;
  },
  goOn: () => suggested("Go on."),
  changes: (run) => void changes.show(run),
  ready: () => parts.composer.ready(),
  suggest: (text) => suggested(text),
});
parts.timeline.begin();
parts.queue.begin(desk.queue);
const controls = {
  stop: () => desk.stop(),
  mode: () => parts.composer.mode,
  /** @param {Mode} mode */
  setMode: (mode) => parts.composer.setMode(mode),
  showReceipt: () => parts.conversation.showLastReceipt(),
  showProcesses: () => parts.head.openProcesses(),
  showQueue: () => parts.queue.focusFirst(),
  showUsage: () => parts.head.openUsage(),
  /** @param {string} paths */
  diff: (paths) => void changes.diff(paths),
  /** @param {string} paths */
  undo: (paths) => void changes.undo(paths),
  redo: () => void changes.redo(),
  showProgram: () => parts.conversation.focusQuestion(),
  /** @param {string} text */
  again: (text) => void anew.ask(lastTurn(app.state)?.run, text ? { text } : {}),
  /** @param {string} title */
  rename: (title) => void keeping.rename(app.state.session, title),
  keep: () => void keeping.take(app.state.session),
  /** @param {string} words */
  say: (words) => notices.say(words),
};
parts.composer.begin({
  send: async (text, mode, id, files) =>
    (!files.length && command(text, controls)) || desk.send(text, mode, id, files),
  refused: (why) => notices.problem({ title: "Not attached:", detail: why }),
  stop: () => desk.stop(),
});
listenForKeys({
  stop: () => desk.stop(),
  parts,
  create: () => shelf.create(),
  closeDrawer: () => drawer(false),
});

/** Say what the person pressed instead of typing it. @param {string} text */
function suggested(text) {
  parts.composer.say(text, "takeover");
  parts.composer.ready();
}

/** On a narrow screen the sessions come in from the side. */
function drawer(open = !document.body.classList.contains("drawer")) {
  const was = document.body.classList.contains("drawer");
  document.body.classList.toggle("drawer", open);
  named("scrim").hidden = !open;
  if (open) parts.sessions.focus();
  return was;
}

named("scrim").addEventListener("click", () => drawer(false));
window.addEventListener("hashchange", () => {
  if (isLink()) return location.reload(); // another link was opened here
  drawer(false);
  shelf.follow();
});
window.addEventListener("online", () => app.hurry());
document.addEventListener("visibilitychange", () => app.drawSoon());

app.drawSoon(); // the address may say where it is
await enter();
await app.meet();
await shelf.begin();
