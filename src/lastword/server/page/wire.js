// Talking with the server: calls that either answer or give a Problem, and the stream of events.
// Every address is relative, so the page works wherever it is mounted.

const PATIENCE = 20000; // ms; a stop answers within its own deadline, long before that
const SLOWEST = 8000; // ms between two attempts to reach a server that is away

/** What the server said was wrong, or that it could not be reached ("offline"). */
export class Problem extends Error {
  constructor(status, body) {
    super(body.title ?? `the server answered ${status}`);
    this.status = status;
    this.slug = String(body.type ?? "")
      .split(":")
      .pop();
    this.title = body.title ?? `The server answered ${status}`;
    this.detail = body.detail ?? "";
  }
}

/** @returns {Promise<any>} what was answered; throws a Problem otherwise */
export async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
      cache: "no-store",
    });
    const answer = await response.json().catch(() => ({}));
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

export function sessionPath(id, rest = "") {
  return `v1/sessions/${encodeURIComponent(id)}${rest}`;
}

/**
 * The events of one session. The browser reconnects by itself and says where it left off; where it
 * gives up (a server that answers with an error while it starts), this goes on.
 */
export class Stream {
  #session;
  #heard;
  #source = null;
  #timer = 0;
  #wait = 500;
  #over = false;
  #last = ""; // where a stream of our own making goes on; the browser's own retries know it

  /** @param {string} session @param {{event: Function, link: Function, problem: Function}} heard */
  constructor(session, heard) {
    this.#session = session;
    this.#heard = heard;
    this.#open();
  }

  close() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#source?.close();
  }

  /** Do not wait any longer: there is reason to think that the server is back. */
  hurry() {
    if (this.#over || this.#source?.readyState === EventSource.OPEN) return;
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#open();
  }

  #open() {
    const after = this.#last ? `?after=${encodeURIComponent(this.#last)}` : "";
    const source = new EventSource(sessionPath(this.#session, `/events${after}`));
    this.#source = source;
    source.onopen = () => {
      this.#wait = 500;
      this.#heard.link("open");
    };
    source.onmessage = ({ data, lastEventId }) => {
      this.#last = lastEventId;
      if (!this.#over) this.#heard.event(JSON.parse(data));
    };
    source.onerror = () => {
      if (this.#over) return;
      this.#heard.link("reconnecting");
      if (source.readyState === EventSource.CLOSED) this.#ask();
    };
  }

  /** An EventSource does not tell why it was refused, so the session itself is asked. */
  async #ask() {
    try {
      await call("GET", sessionPath(this.#session));
    } catch (problem) {
      if (this.#over) return;
      if (problem.status === 401 || problem.status === 403 || problem.status === 404) {
        this.close();
        this.#heard.problem(problem);
        return;
      }
    }
    if (this.#over) return;
    this.#wait = Math.min(SLOWEST, this.#wait * 1.6);
    this.#timer = setTimeout(() => this.#open(), this.#wait);
  }
}
