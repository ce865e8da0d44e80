// What the person wants done, carried to the server. Whatever goes wrong is said in words, and
// nothing that they wrote is thrown away.

import { findTurn } from "./apply.js";
import { confirmEnd } from "./dialogs.js";
import { GONE, LATE as PROGRAM_LATE } from "./program-words.js";
import { headline } from "./receipt-rows.js";
import { isHeard } from "./stopping.js";
import { call, sessionPath } from "./wire.js";
import { phase, stoppable } from "./view.js";

/**
 * @import { Attached } from "./attaching.js"
 * @import { Notices } from "./notices.js"
 * @import { MessageIn, OutputOut, QueueChange, ReceiptOut } from "./told.d.ts"
 * @import { Stopped, StopIn, TicketOut } from "./told.d.ts"
 * @import { Answers, App, Cell, Choice, Mode, Parts, Processes, Programs } from "./types.d.ts"
 * @import { Question, QueueDoing, Wrong } from "./types.d.ts"
 * @import { Problem } from "./wire.js"
 */

const TRIES = 4; // of a stop that cannot be said because the server is away
const BETWEEN = 800; // ms
const MOST_OUTPUT = 8000; // bytes of what a process wrote that are shown
/** @type {Record<string, string>} */
const LATE = {
  "answer-late": "Too late: what asked was stopped, so nothing was run.",
  answered: "This was answered already, perhaps in another window.",
  "stale-answer": "This question was asked by an earlier run. Nothing was run.",
  "unknown-question": "This question is not open any more.",
};

/**
 * @typedef {Promise<TicketOut | Stopped>} Answer it was a message, or meant stop
 * @typedef {{session: string, id: string, answer: Answer, stopped: boolean}} Sent
 */

export class Desk {
  #app;
  #notices;
  #parts;
  /** @type {Set<Sent>} */
  #sends = new Set(); // messages that are not answered for yet
  /** @type {Sent | null} */
  #last = null; // the newest of all that were sent

  /** @param {App} app @param {Notices} notices @param {Parts} parts */
  constructor(app, notices, parts) {
    this.#app = app;
    this.#notices = notices;
    this.#parts = parts;
  }

  /**
   * @param {string} text
   * @param {Mode} mode
   * @param {string} id
   * @param {Attached[]} files
   * @returns {Promise<boolean>} whether the server has it
   */
  async send(text, mode, id, files) {
    const { session } = this.#app.state;
    const stopWord = !files.length && /^\W*stop\b.{0,12}$/i.test(text); // may be one: the server knows, and it is not shown before
    const earlier = stopWord ? this.#unheard(session) : [];
    if (!stopWord)
      this.#app.dispatch({
        type: "sending",
        message: { id, text, attachments: files.map((one) => ({ ...one, uri: "" })) },
        at: Date.now() / 1000,
      });
    this.#parts.conversation.pin();
    this.#notices.clear();
    try {
      const answer = await this.#carry(session, id, {
        text,
        id,
        on_message: mode,
        heed_stop: !files.length,
        attachments: files.map(({ name, media_type, data }) => ({ name, media_type, data })),
      });
      if ("receipt" in answer) {
        this.#forget(session, id);
        for (const one of earlier) this.#stopSent(one);
        if (!earlier.length) this.#tellIdle(answer.receipt);
      } else if (session === this.#app.state.session) {
        this.#app.dispatch({ type: "sent", id });
      }
      this.#app.watch(session);
      return true;
    } catch (problem) {
      this.#forget(session, id);
      this.#unsent(problem);
      return false;
    }
  }

  /**
   * Until it is answered a message is on its way, and a stop is meant for it too.
   * @param {string} session
   * @param {string} id
   * @param {MessageIn} message
   */
  async #carry(session, id, message) {
    /** @type {Answer} */
    const answer = call("POST", sessionPath(session, "/messages"), message);
    const one = { session, id, answer, stopped: false };
    this.#sends.add(one);
    this.#last = one;
    try {
      return await answer;
    } finally {
      this.#sends.delete(one);
    }
  }

  /** What is on its way to a session, and no stop was asked for yet. @param {string} session */
  #underWay(session) {
    return [...this.#sends].filter((one) => one.session === session && !one.stopped);
  }

  /** What a stop may overtake: the server is not known to have it. @param {string} session */
  #unheard(session) {
    return this.#underWay(session).filter(({ id }) => !isHeard(this.#app.state, id));
  }

  /** @param {string} session @param {string} id */
  #forget(session, id) {
    if (session === this.#app.state.session) this.#app.dispatch({ type: "unsent", id });
  }

  /** @param {Problem} problem */
  #unsent(problem) {
    /** @type {Record<string, Wrong>} */
    const whys = {
      offline: {
        title: "Not sent:",
        detail: "the server cannot be reached. It is kept in the box; Enter tries again.",
      },
      busy: {
        title: "Not sent:",
        detail: "something is going, and you asked to speak only when idle. It is kept in the box.",
      },
      "queue-full": {
        title: "Not sent:",
        detail: "too many messages wait already. It is kept in the box.",
      },
      closing: {
        title: "Not sent:",
        detail: "the server is shutting down. It is kept in the box; Enter tries again.",
      },
    };
    this.#notices.problem(whys[problem.slug] ?? problem);
  }

  /** Stop what is going. The page falls silent before the server has even heard of it. */
  async stop() {
    const { state, link } = this.#app;
    const { session } = state;
    const sends = this.#underWay(session);
    const now = phase(state);
    if (!session) return this.#notices.say("No session is open yet.");
    if (state.stopping && now === "stopping" && !sends.length) return;
    if (!this.#app.may("stop"))
      return this.#notices.say("You have no right to stop anything here.");
    if (link === "open" && !stoppable(state) && !sends.length) {
      this.#notices.say(
        now === "stopping"
          ? "It is stopped; what was started is still ending."
          : "Nothing is running.",
      );
      return;
    }
    const sent = sends.map((one) => one.id);
    const late = this.#unheard(session);
    for (const one of sends) one.stopped = true;
    this.#app.dispatch({ type: "stop", at: Date.now() / 1000, sent });
    this.#notices.clear();
    const all = [this.#stopAll(session, sends), ...late.map((one) => this.#stopSent(one))];
    const receipts = (await Promise.all(all)).filter((one) => one !== null);
    if (session !== this.#app.state.session) return;
    const fences = receipts.filter((one) => !one.idle).map((one) => one.generation);
    const told = this.#app.link === "open" ? fences : [];
    this.#app.dispatch({ type: "stop answered", sent, fence: Math.max(0, ...told) });
  }

  /**
   * @param {string} session
   * @param {Sent[]} sends
   * @returns {Promise<ReceiptOut | null>} none, if it could not be had
   */
  async #stopAll(session, sends) {
    try {
      const receipt = await this.#askStop(session, {});
      if (!sends.length) this.#tellIdle(receipt);
      return receipt;
    } catch (problem) {
      // the session begins with what is being sent
      if (sends.length && problem.slug === "unknown-session") return null;
      return this.#notStopped(problem);
    }
  }

  /**
   * The stop may have overtaken a message: then it is stopped as soon as it has arrived.
   * @param {Sent} one
   * @returns {Promise<ReceiptOut | null>}
   */
  async #stopSent(one) {
    one.stopped = true;
    const { session } = one;
    let what;
    try {
      const answer = await one.answer;
      if ("receipt" in answer) return null;
      const { run, outcome } = answer;
      const isHere = session === this.#app.state.session;
      if (!run || outcome || (isHere && findTurn(this.#app.state, run)?.outcome)) return null;
      what = { run };
    } catch (problem) {
      // only the answer may be lost; what was said since the stop is left alone
      if (problem.slug !== "offline" || one !== this.#last) return null;
      what = {};
    }
    try {
      return await this.#askStop(session, what);
    } catch (problem) {
      const gone = problem.slug === "stale-run" || problem.slug === "unknown-session";
      return gone ? null : this.#notStopped(problem);
    }
  }

  /** @param {string} session @param {StopIn} what @returns {Promise<ReceiptOut>} */
  async #askStop(session, what) {
    for (let tries = 1; ; tries++) {
      try {
        return (await call("POST", sessionPath(session, "/stop"), what)).receipt;
      } catch (problem) {
        if (problem.slug !== "offline" || tries === TRIES) throw problem;
        await new Promise((wake) => setTimeout(wake, BETWEEN));
      }
    }
  }

  /** @param {Problem} problem */
  #notStopped(problem) {
    this.#notices.problem(
      problem.slug === "offline"
        ? {
            title: "The stop could not be said:",
            detail: "the server cannot be reached. If it is gone, so is what it ran.",
          }
        : problem,
    );
    return null;
  }

  /** @param {ReceiptOut} receipt */
  #tellIdle(receipt) {
    if (receipt.idle) this.#notices.say(`${headline(receipt.rows)}.`);
  }

  /** @param {Question} question @param {Choice} choice */
  async answer(question, choice) {
    const { session } = this.#app.state;
    const from = document.activeElement;
    try {
      await call("POST", sessionPath(session, `/permissions/${encodeURIComponent(question.id)}`), {
        generation: question.generation,
        ...choice,
      });
    } catch (problem) {
      if (!LATE[problem.slug]) {
        this.#notices.problem(problem);
        return;
      }
      this.#notices.say(LATE[problem.slug]);
    }
    if (session === this.#app.state.session)
      this.#app.dispatch({ type: "answered", id: question.id });
    this.#parts.composer.back(from);
  }

  /** @type {Programs} */
  program = {
    answer: (cell, given) => this.#resume(cell, given),
    end: (cell) => this.#endProgram(cell),
  };

  /** What has no answer goes on waiting. @param {Cell} cell @param {Answers} answers */
  async #resume({ id, generation }, { results, allow }) {
    const { session } = this.#app.state;
    const from = document.activeElement;
    const body = { generation, results, allow };
    const ticket = await this.#told(id, () =>
      call("POST", sessionPath(session, `/cells/${encodeURIComponent(id)}/resume`), body),
    );
    if (!ticket) return;
    const { run, message } = ticket;
    if (session === this.#app.state.session)
      this.#app.dispatch({ type: "answering", cell: id, sent: { generation, run, message } });
    this.#parts.conversation.pin();
    this.#parts.composer.back(from);
  }

  /** @param {Cell} cell */
  async #endProgram({ id }) {
    const { session } = this.#app.state;
    if (!(await confirmEnd())) return;
    const from = document.activeElement;
    const path = sessionPath(session, `/cells/${encodeURIComponent(id)}`);
    if (await this.#told(id, () => call("DELETE", path))) this.#parts.composer.back(from);
  }

  /**
   * What came of asking something of a program; null if that was too late, or went wrong.
   * @template T
   * @param {string} cell
   * @param {() => Promise<T>} ask
   */
  async #told(cell, ask) {
    const { session } = this.#app.state;
    try {
      return await ask();
    } catch (problem) {
      const late = PROGRAM_LATE[problem.slug];
      if (late) this.#notices.say(late);
      else this.#notices.problem(problem);
      if (GONE.has(problem.slug) && session === this.#app.state.session)
        this.#app.dispatch({ type: "program gone", cell });
      return null;
    }
  }

  /** @type {Processes} */
  processes = {
    read: (session, id, from) => this.#ofProcess(() => outputOf(processPath(session, id), from)),
    write: (session, id, line) =>
      this.#ofProcess(() => call("POST", `${processPath(session, id)}/input`, { text: `${line}\n` })),
    finish: (session, id) =>
      this.#ofProcess(() => call("POST", `${processPath(session, id)}/input`, { text: "", end: true })),
    signal: (session, id, signal) =>
      this.#ofProcess(() => call("POST", `${processPath(session, id)}/signal`, { signal })),
    end: (session, id) => this.#ofProcess(() => call("DELETE", processPath(session, id))),
  };

  /**
   * What came of it; or, to be said where it is listed, what was `wrong`.
   * @template T
   * @param {() => Promise<T>} ask
   */
  async #ofProcess(ask) {
    try {
      return await ask();
    } catch (problem) {
      if (problem.status === 401) this.#notices.signedOut();
      const offline = problem.slug === "offline";
      return { wrong: (!offline && problem.detail) || `${problem.title}.`, offline };
    }
  }

  /** @type {QueueDoing} */
  queue = {
    edit: (id, text) => this.#change("PATCH", `/queue/${encodeURIComponent(id)}`, { text }),
    move: (id, to) => this.#change("PATCH", `/queue/${encodeURIComponent(id)}`, { to }),
    remove: (id) => this.#change("DELETE", `/queue/${encodeURIComponent(id)}`),
    resume: () => this.#change("POST", "/queue/resume"),
  };

  /** @param {string} method @param {string} path @param {QueueChange} [body] */
  async #change(method, path, body) {
    const { session } = this.#app.state;
    const queue = await this.#asked(() => call(method, sessionPath(session, path), body));
    if (queue?.messages && session === this.#app.state.session) {
      this.#app.dispatch({ type: "queue", messages: queue.messages, hushed: queue.hushed });
      await new Promise((drawn) => requestAnimationFrame(drawn));
    }
  }

  /** @template T @param {() => Promise<T>} ask */
  async #asked(ask) {
    try {
      return await ask();
    } catch (problem) {
      if (problem.slug === "not-waiting")
        this.#notices.say("That message has had its turn already.");
      else this.#notices.problem(problem);
      return null;
    }
  }
}

/** @param {string} session @param {string} id */
function processPath(session, id) {
  return sessionPath(session, `/processes/${encodeURIComponent(id)}`);
}

/**
 * What a process wrote from there on; if that is more than is shown, the last of it.
 * @param {string} path
 * @param {number} from
 * @returns {Promise<OutputOut>}
 */
async function outputOf(path, from) {
  const piece = await call("GET", `${path}/output?offset=${from}&limit=${MOST_OUTPUT}`);
  if (piece.end >= piece.total) return piece;
  return call("GET", `${path}/output?offset=${Math.max(0, piece.total - MOST_OUTPUT)}`);
}
