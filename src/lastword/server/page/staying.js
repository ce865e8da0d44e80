// A scroller that stays at its end while more comes, unless the person goes elsewhere in it. A scroll
// event tells of a moment that is over: by then more may have been drawn. So where the scroller is
// is held against where its end was when it was last laid out, and only the person can leave it.

const NEAR = 80; // pixels from the end that still count as being there
const ABOVE = 12; // pixels that are left above a card

export class Staying {
  #box;
  #card;
  #changed;
  #pinned = true;
  #end = 0; // where the end was when it was last looked for
  #put = 0; // where it was put last
  #followed = 0; // pixels that it was scrolled, but not by the person

  /**
   * @param {HTMLElement} box
   * @param {HTMLElement} content
   * @param {() => Element | null} card what has to be seen from its top: a card that is higher than the box
   * @param {(pinned: boolean) => void} changed
   */
  constructor(box, content, card, changed) {
    this.#box = box;
    this.#card = card;
    this.#changed = changed;
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const sizes = new ResizeObserver(() => this.#follow());
    sizes.observe(content);
    sizes.observe(box);
  }

  /** How far the person has scrolled. */
  get scrolled() {
    return this.#box.scrollTop - this.#followed;
  }

  /** Go to the end, and stay there. */
  pin() {
    this.#pin(true);
    this.#put = Infinity;
    this.#follow();
  }

  #follow() {
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    const before = this.#end;
    const bottom = scrollHeight - clientHeight;
    this.#end = Math.min(bottom, this.#top(scrollTop));
    if (!this.#pinned) return;
    const beyond = this.#end < bottom && scrollTop > this.#put + 1; // they went down a card
    this.#box.scrollTop = beyond ? scrollTop + this.#end - before : this.#end;
    if (!beyond) this.#put = this.#box.scrollTop;
    this.#followed += this.#box.scrollTop - scrollTop;
  }

  /** @param {number} scrollTop */
  #top(scrollTop) {
    const card = this.#card()?.getBoundingClientRect();
    return card ? card.top - this.#box.getBoundingClientRect().top + scrollTop - ABOVE : Infinity;
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    const end = Math.min(this.#end, scrollHeight - clientHeight); // a wider window has less to scroll
    this.#pin(scrollTop > end - NEAR);
  }

  /** @param {boolean} pinned */
  #pin(pinned) {
    this.#pinned = pinned;
    this.#changed(pinned);
  }
}
