// Drawing that may take long, a little at a time. However much there is to draw, the page never
// does more than so many steps of it before it listens again: a key that was pressed comes first.

/** @import { Meter } from "./types.d.ts" */

const EACH = 60_000; // steps in one task; a step is a character looked at
const NODE = 25; // steps that it takes to make a node and have it laid out

class Pace {
  steps = 0; // taken in this task
  most = 0; // that were ever taken in one
  /** @type {Set<() => boolean>} */
  #waiting = new Set(); // of what is left to do; the newest is nearest to where the person looks
  #timer = 0;

  /** Whether there is time for more in this task. */
  get free() {
    return this.steps < EACH;
  }

  /**
   * Do a piece of work now if there is time, and the rest of it later. It tells whether there is a rest.
   * @param {() => boolean} work
   */
  run(work) {
    this.#waiting.delete(work);
    if (!this.free || work()) this.#waiting.add(work);
    this.#timer ||= setTimeout(() => this.#next());
  }

  /** So much was done. @param {Meter} meter */
  took(meter) {
    this.steps += meter.steps + NODE * meter.nodes;
    this.most = Math.max(this.most, this.steps);
  }

  /** Whether all is drawn. */
  get idle() {
    return this.#waiting.size === 0;
  }

  #next() {
    this.#timer = 0;
    this.steps = 0;
    for (const work of [...this.#waiting].reverse()) {
      if (!this.free) break;
      this.run(work);
    }
  }
}

export const pace = new Pace();
