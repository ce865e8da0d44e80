// What the models of the session were asked: read once, and added up from then on as it is told.

import { call, sessionPath } from "./wire.js";

/** @import { App } from "./types.d.ts" */

const NONE = { requests: 0, input_tokens: 0, output_tokens: 0, model: "", filled: 0 };

export class Usage {
  #app;
  #told = 0; // how often something was used, as far as this page heard

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
  }

  heard() {
    this.#told++;
  }

  /**
   * What was used meanwhile may be in it, or may not: then it is read once more.
   * @param {boolean} fresh nothing was said yet, so there is nothing to read
   */
  async read(fresh) {
    const { session } = this.#app.state;
    if (fresh) return this.#app.dispatch({ type: "usage", usage: NONE });
    for (let told = -1; told !== this.#told && session === this.#app.state.session; ) {
      told = this.#told;
      try {
        const usage = await call("GET", sessionPath(session, "/usage"));
        if (told === this.#told && session === this.#app.state.session)
          this.#app.dispatch({ type: "usage", usage });
      } catch {
        return; // it is read when the page connects again
      }
    }
  }
}
