// What is under the pointer has to be what the person meant. A card takes no answer in its first
// half second, nor a click until it has stood still for as long, and none from a press that began
// before that: not the second click of two, not a key that is held, not one that was pressed while
// the page was busy.

const STILL = 500; // ms

/** Watches a card for as long as it is on the page. */
export class Steady {
  #card;
  #changed;
  #scrolled;
  #place = "";
  #first = 0; // when it was seen
  #since = Infinity; // when it was first seen, or moved last
  #ready = false;
  /** @type {boolean | null} */
  #press = null; // whether the press that was begun last on it was meant for it

  /**
   * @param {HTMLElement} card
   * @param {() => number} scrolled how far the person has scrolled: that moves it too, and is meant
   * @param {(ready: boolean) => void} changed told when it can be answered
   */
  constructor(card, scrolled, changed) {
    this.#card = card;
    this.#scrolled = scrolled;
    this.#changed = changed;
    changed(false);
    card.addEventListener("pointerdown", (event) => this.#pointed(event), true);
    card.addEventListener("keydown", (event) => this.#keyed(event), true);
    requestAnimationFrame(this.#look);
  }

  /** What is on the card is not what was there: as if it had just come. */
  renew() {
    this.#place = "";
    this.#first = 0;
    this.#since = Infinity;
    this.#press = null;
    this.#ready = false;
    this.#changed(false);
  }

  /**
   * Whether a click was meant for the card. One without a press is made by whoever reads it aloud.
   * @param {MouseEvent} click
   */
  takes(click) {
    const meant = this.#press ?? (!click.detail && this.#isOld(click));
    this.#press = null;
    return meant;
  }

  /** @param {PointerEvent} event */
  #pointed(event) {
    this.#measure();
    this.#press = event.timeStamp >= this.#since + STILL;
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.key === "Enter" || event.key === " ")
      this.#press = !event.repeat && this.#isOld(event);
  }

  /** @param {Event} event */
  #isOld(event) {
    return this.#first > 0 && event.timeStamp >= this.#first + STILL;
  }

  #measure() {
    const { left, top, width, height } = this.#card.getBoundingClientRect();
    const place = [left, top + this.#scrolled(), width, height].map(Math.round).join(" ");
    if (place !== this.#place) this.#since = performance.now();
    this.#place = place;
    this.#first ||= this.#since;
  }

  #look = () => {
    if (!this.#card.isConnected) return;
    this.#measure();
    const ready = performance.now() >= this.#since + STILL;
    if (ready !== this.#ready) this.#changed(ready);
    this.#ready = ready;
    requestAnimationFrame(this.#look);
  };
}
