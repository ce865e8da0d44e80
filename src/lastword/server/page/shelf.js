// The list of sessions, which of them is shown, and the address that says so.

import { remember, remembered } from "./memory.js";
import { confirmDelete } from "./dialogs.js";
import { call, sessionPath } from "./wire.js";

/**
 * @import { Notices } from "./notices.js"
 * @import { SessionsOut } from "./told.d.ts"
 * @import { App, Session, State } from "./types.d.ts"
 */

const EVERY = 4000; // ms between two looks at what the other sessions do
const SOON = 250;

export class Shelf {
  #app;
  #notices;
  /** @type {Session[]} */
  #sessions = [];
  /** @type {Session[]} */
  #rows = []; // the same ones, as long as there is nothing new in them
  /** @type {unknown[]} */
  #about = []; // which they were made of
  /** @type {string | null} */
  #next = null;
  #limit = 50;
  #words = ""; // that are looked for
  #fresh = remembered("fresh"); // a session that exists on this page only, until something is said in it
  #timer = 0;

  /** @param {App} app @param {Notices} notices */
  constructor(app, notices) {
    this.#app = app;
    this.#notices = notices;
  }

  async begin() {
    await this.refresh();
    this.follow();
    setInterval(() => !document.hidden && !this.#notices.out && this.refresh(), EVERY);
  }

  /**
   * What the list shows: the session on the page is told by its own events, which are sooner.
   * @param {State} state
   */
  rows({ session, title }) {
    const about = [this.#sessions, this.#words, session, title];
    if (about.some((one, index) => one !== this.#about[index])) {
      this.#about = about;
      this.#rows = this.#rowsWith(session, title);
    }
    return { sessions: this.#rows, current: session, more: this.#next !== null };
  }

  /** @param {string} session @param {string} title */
  #rowsWith(session, title) {
    const sessions = this.#sessions.map((one) =>
      one.id === session ? { ...one, title: one.title || title } : one,
    );
    if (session && !this.#words && !sessions.some((one) => one.id === session))
      sessions.unshift({ id: session, title, state: "idle", at: 0, fresh: true });
    return sessions;
  }

  /** @param {string} id */
  isFresh(id) {
    return id === this.#fresh && !this.#sessions.some((one) => one.id === id);
  }

  /** Go where the address says; to the newest session if it says nothing. */
  follow() {
    const id = addressed();
    if (id) this.#app.open(id);
    else if (this.#sessions.length) location.replace(address(this.#sessions[0].id));
    else this.create(true);
  }

  create(replace = false) {
    if (!this.#fresh || !this.isFresh(this.#fresh)) remember("fresh", (this.#fresh = madeUp()));
    if (replace) location.replace(address(this.#fresh));
    else location.hash = address(this.#fresh);
    if (!replace) this.follow(); // the next key is for the new one, whenever the address is told
    document.querySelector("lw-composer")?.focus();
  }

  /** @param {Session} session */
  async remove(session) {
    if (!(await confirmDelete(session))) return;
    try {
      await call("DELETE", sessionPath(session.id));
      this.forget(session.id);
    } catch (problem) {
      this.#notices.problem(problem);
    }
    await this.refresh();
  }

  /** @param {string} id */
  forget(id) {
    if (id === this.#fresh) this.#used(); // what was deleted is nobody's new session
    this.#sessions = this.#sessions.filter((one) => one.id !== id);
    if (this.#app.state.session !== id) return this.#app.drawSoon();
    this.#app.close();
    if (this.#sessions.length) location.replace(address(this.#sessions[0].id));
    else this.create(true);
  }

  /** @param {string} words that are to be in a title */
  search(words) {
    this.#words = words;
    return this.refresh();
  }

  more() {
    this.#limit += 50;
    return this.refresh();
  }

  /** The one on the page may have another title by now. */
  #titled() {
    const { session, title } = this.#app.state;
    const now = this.#sessions.find((one) => one.id === session)?.title;
    if (now && now !== title) this.#app.dispatch({ type: "titled", title: now });
  }

  #used() {
    this.#fresh = null;
    remember("fresh", null);
  }

  /** Several reasons to look within a moment are one. */
  soon() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.refresh();
    }, SOON);
  }

  async refresh() {
    const words = this.#words;
    try {
      /** @param {boolean} pinned @returns {Promise<SessionsOut>} */
      const list = (pinned) =>
        call(
          "GET",
          `v1/sessions?limit=${this.#limit}&pinned=${pinned}&words=${encodeURIComponent(words)}`,
        );
      const [first, { sessions: others, next }] = await Promise.all([list(true), list(false)]);
      if (words !== this.#words) return; // it is looked for something else by now
      const sessions = [...first.sessions, ...others];
      this.#sessions = sessions;
      this.#next = next;
      this.#titled();
      if (sessions.some((one) => one.id === this.#fresh)) this.#used();
      if (sessions.some((one) => one.id === this.#app.state.session)) this.#app.watch(); // said in another window
      this.#app.drawSoon();
    } catch (problem) {
      if (problem.status === 401) this.#notices.signedOut(); // any other is told by the stream, or passes
      this.#app.drawSoon();
    }
  }
}

/** The session that the address says; nothing, if it says none. */
export function addressed() {
  try {
    return decodeURIComponent(/^#\/s\/(.+)$/.exec(location.hash)?.[1] ?? "");
  } catch {
    return ""; // it is no address of ours
  }
}

/** @param {string} id */
function address(id) {
  return `#/s/${encodeURIComponent(id)}`;
}

function madeUp() {
  return `s-${Date.now().toString(36)}-${Math.floor(Math.random() * 1679616)
    .toString(36)
    .padStart(4, "0")}`;
}
