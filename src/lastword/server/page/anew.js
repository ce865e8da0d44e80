// Asking the last turn anew: in the same words, or in others. The server says whether it still is the
// last, in the step in which it would accept what takes its place.

import { newId } from "./outgoing.js";
import { call, sessionPath } from "./wire.js";

/**
 * @import { Notices } from "./notices.js"
 * @import { AgainIn } from "./told.d.ts"
 * @import { App, Item, Parts, State } from "./types.d.ts"
 */

/** The last turn, if there is one. @param {State} state */
export function lastTurn({ items }) {
  const last = items.findLast((item) => item.kind === "turn");
  return last?.kind === "turn" ? last : null;
}

/**
 * The messages that a turn answers, in the order in which they stand before it.
 * @param {Item[]} items
 * @param {string} run
 * @returns {string[]} their ids
 */
export function answeredBy(items, run) {
  const at = items.findIndex((item) => item.kind === "turn" && item.run === run);
  /** @type {string[]} */
  const found = [];
  for (let i = at - 1; i >= 0; i--) {
    const item = items[i];
    if (item.kind !== "message" || item.outcome) break;
    found.unshift(item.id);
  }
  return found;
}

export class Anew {
  #app;
  #notices;
  #parts;

  /** @param {App} app @param {Notices} notices @param {Parts} parts */
  constructor(app, notices, parts) {
    this.#app = app;
    this.#notices = notices;
    this.#parts = parts;
  }

  /**
   * Have it asked anew: this one, or it is refused. Without a text, as it was.
   * @param {string | undefined} run
   * @param {{id?: string, text?: string}} [said]
   * @returns {Promise<boolean>} whether the server has it
   */
  async ask(run, said = {}) {
    const { session } = this.#app.state;
    this.#parts.conversation.pin();
    this.#notices.clear();
    /** @type {AgainIn} */
    const asked = { id: newId(), ...(run ? { run } : {}), ...said };
    try {
      await call("POST", sessionPath(session, "/again"), asked);
      this.#app.watch(session);
      return true;
    } catch (problem) {
      this.#notices.problem(problem);
      return false;
    }
  }
}
