// What a person does with a session as a whole: call it something, pin it, have all of it in a file.

import { h } from "./dom.js";
import { download, call, sessionPath } from "./wire.js";

/**
 * @import { Notices } from "./notices.js"
 * @import { SessionChange } from "./told.d.ts"
 * @import { Session } from "./types.d.ts"
 */

export class Keeping {
  #notices;
  #changed;

  /** @param {Notices} notices @param {() => void} changed */
  constructor(notices, changed) {
    this.#notices = notices;
    this.#changed = changed;
  }

  /** @param {string} session @param {string} title */
  rename(session, title) {
    return this.#change(session, { title });
  }

  /** @param {Session} session */
  pin({ id, pinned }) {
    return this.#change(id, { pinned: !pinned });
  }

  /** @param {string} session @param {SessionChange} change */
  async #change(session, change) {
    try {
      await call("PATCH", sessionPath(session), change);
    } catch (problem) {
      this.#notices.problem(problem);
    }
    this.#changed();
  }

  /** All that happened, as the server exports it. @param {string} session */
  async take(session) {
    try {
      const href = URL.createObjectURL(await download(sessionPath(session, "/export")));
      h("a", { href, download: `${session}.jsonl` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    } catch (problem) {
      this.#notices.problem(problem);
    }
  }
}
