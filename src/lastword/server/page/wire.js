// Talking with the server: calls that either answer or give a Problem, and the stream of events.
// Every address is relative, so the page works wherever it is mounted.

import { parsed } from "./json.js";
import { bearer } from "./key.js";

/** @import { Event as Told } from "./types.d.ts" */

const PATIENCE = 20000; // ms; a stop answers within its own deadline, long before that
const SOONEST = 500; // ms between two attempts to reach a server that is away
const SLOWEST = 8000;
const SILENCE = 45000; // ms; a stream shows every 15 s that it lives

const JSON_BODY = { "Content-Type": "application/json" };

/** What the server said was wrong, or that it could not be reached ("offline"). */
export class Problem extends Error {
  /** @param {number} status @param {{type?: string, title?: string, detail?: string}} body */
  constructor(status, body) {
    super(body.title ?? `the server answered ${status}`);
    this.status = status;
    this.slug = String(body.type ?? "").split(":").at(-1) ?? "";
    this.title = body.title ?? `The server answered ${status}`;
    this.detail = body.detail ?? "";
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {string} [key]
 * @returns {Promise<any>} what was answered; throws a Problem otherwise
 */
export async function call(method, path, body, key) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { ...bearer(key), ...(body === undefined ? {} : JSON_BODY) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
      cache: "no-store",
    });
    const answer = await parsed(await response.text()).catch(() => ({}));
    if (response.ok) return answer;
    throw new Problem(response.status, answer);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(0, {
      type: "offline",
      title: "The server cannot be reached",
      detail: "It may be restarting.",
    });
  }
}

/**
 * A file of the server's, which may be long in coming.
 * @param {string} path
 * @returns {Promise<Blob>}
 */
export async function download(path) {
  const response = await fetch(path, { headers: bearer(), cache: "no-store" }).catch(() => null);
  if (!response) throw new Problem(0, { type: "offline", title: "The server cannot be reached" });
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({})));
  return response.blob();
}

/** @param {string} id */
export function sessionPath(id, rest = "") {
  return `v1/sessions/${encodeURIComponent(id)}${rest}`;
}

/**
 * The events of one session, by fetch: an EventSource cannot say who asks. It goes on where it left
 * off when the connection ends, or has been silent for too long.
 */
export class Stream {
  #session;
  #heard;
  #aborter = new AbortController();
  #timer = 0;
  #wait = SOONEST;
  #open = false;
  #over = false;
  #last = ""; // the id of the last event that came

  /**
   * @param {string} session
   * @param {{
   *   event: (event: Told) => void,
   *   link: (link: "open" | "reconnecting") => void,
   *   problem: (problem: Problem) => void,
   * }} heard
   */
  constructor(session, heard) {
    this.#session = session;
    this.#heard = heard;
    this.#begin();
  }

  close() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#aborter.abort();
  }

  /** Do not wait any longer: there is reason to think that the server is back. */
  hurry() {
    if (this.#over || this.#open) return;
    this.#begin();
  }

  async #begin() {
    clearTimeout(this.#timer);
    this.#aborter.abort();
    const aborter = (this.#aborter = new AbortController());
    let problem = null;
    try {
      await this.#follow(aborter);
    } catch (error) {
      problem = error;
    }
    aborter.abort(); // what is left of it is not read
    if (this.#over || aborter !== this.#aborter) return;
    this.#open = false;
    if ([401, 403, 404].includes(problem?.status)) {
      this.close();
      this.#heard.problem(problem);
      return;
    }
    this.#heard.link("reconnecting");
    this.#timer = setTimeout(() => this.#begin(), this.#wait);
    this.#wait = Math.min(SLOWEST, this.#wait * 1.6);
  }

  /** @param {AbortController} aborter */
  async #follow(aborter) {
    let silence = 0;
    const alive = () => {
      clearTimeout(silence);
      silence = setTimeout(() => aborter.abort(), SILENCE);
    };
    try {
      alive();
      const response = await fetch(sessionPath(this.#session, "/events"), {
        headers: { ...bearer(), ...(this.#last ? { "Last-Event-ID": this.#last } : {}) },
        signal: aborter.signal,
        cache: "no-store",
      });
      if (!response.ok)
        throw new Problem(response.status, await response.json().catch(() => ({})));
      this.#open = true;
      this.#wait = SOONEST;
      this.#heard.link("open");
      const frames = new Frames();
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
        alive();
        for (const frame of frames.in(piece.value)) {
          const event = await this.#read(frame);
          if (this.#over || aborter.signal.aborted) return;
          if (event) this.#heard.event(event);
        }
      }
    } finally {
      clearTimeout(silence);
    }
  }

  /**
   * The event that a frame tells of; none, if it is a sign of life.
   * @param {string} frame
   * @returns {Promise<Told | null>}
   */
  async #read(frame) {
    const lines = frame.split("\n");
    /** @param {string} name */
    const told = (name) => lines.find((line) => line.startsWith(name))?.slice(name.length);
    const data = told("data: ");
    if (data === undefined) return null;
    const event = await parsed(data);
    this.#last = told("id: ") ?? this.#last;
    return event;
  }
}

/** Cuts what comes in pieces where one event ends, each character looked at once. */
class Frames {
  /** @type {string[]} */
  #parts = [];
  #held = ""; // a line's end that may be half of an event's

  /** @param {string} piece */
  *in(piece) {
    let text = this.#held + piece;
    this.#held = "";
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      yield this.#parts.join("") + text.slice(0, end);
      this.#parts = [];
      text = text.slice(end + 2);
    }
    if (text.endsWith("\n")) {
      this.#held = "\n";
      text = text.slice(0, -1);
    }
    if (text) this.#parts.push(text);
  }
}
