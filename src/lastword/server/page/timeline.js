// The timeline on the page: draws the shapes, keeps what stays, and tells of what is pointed at.

import { around, button, h, say, set, svg } from "./dom.js";
import { icon } from "./icons.js";
import { remember, remembered } from "./memory.js";
import { timelineOf } from "./timeline-model.js";

/** @import { Shape, State } from "./types.d.ts" */

/** @type {[number, string][]} */
const ZOOMS = [
  [1, "last run"],
  [4, "last 4"],
  [12, "last 12"],
];
const EVERY = 200; // ms
/** @type {["rect" | "line" | "circle", string, string][]} */
const LEGEND = [
  ["rect", "bar", "an answer"],
  ["rect", "span tool", "a tool call"],
  ["rect", "span wait", "waits for you"],
  ["rect", "span process", "a process"],
  ["line", "fence", "a stop"],
  ["circle", "refused", "refused after it"],
];
const NARROW = 760; // pixels of a window in which it does not open by itself

export class Timeline extends HTMLElement {
  /** @type {Map<string, SVGElement>} */
  #nodes = new Map();
  #svg = svg("svg", {
    role: "group",
    "aria-label": "Timeline. Arrow keys go from mark to mark.",
    tabindex: "0",
  });
  #tip = h("div", { class: "tip", role: "status", hidden: true });
  #scroll = h("div", { class: "drawing" }, this.#svg);
  #fold = button("Timeline", () => this.#toggle(), {
    class: "fold plain",
    "aria-controls": "drawing",
  });
  #zooms = ZOOMS.map(([runs, name]) => button(name, () => this.#zoom(runs), { "data-runs": runs }));
  #runs = Number(remembered("zoom")) || 4;
  #chosen = remembered("timeline"); // until then it opens with the first stop
  #folded = this.#chosen !== "open";
  /** @type {State | null} */
  #state = null;
  /** @type {Shape[]} */
  #shapes = [];
  #width = 0;
  #skew = 0;
  #drawn = 0;
  /** @type {string | null} */
  #at = null; // key of the mark that was reached with the keyboard

  begin() {
    this.#fold.prepend(icon("fold"));
    this.#scroll.id = "drawing";
    const zoom = h(
      "div",
      { class: "zoom", role: "group", "aria-label": "How many runs" },
      ...this.#zooms,
    );
    this.append(h("div", { class: "caption" }, this.#fold, zoom), legend(), this.#scroll, this.#tip);
    new ResizeObserver(([entry]) => {
      this.#width = Math.floor(entry.contentRect.width);
      this.#draw();
    }).observe(this.#scroll);
    this.#svg.addEventListener("pointerover", (event) =>
      this.#point(around(event, "[data-key]")?.dataset.key),
    );
    this.#svg.addEventListener("pointerleave", () => this.#point(null));
    this.#svg.addEventListener("keydown", (event) => this.#key(event));
    this.#svg.addEventListener("focus", () => this.#walk(0));
    this.#svg.addEventListener("blur", () => this.#point(null));
    setInterval(() => this.#state?.active && !document.hidden && this.#draw(), EVERY); // it grows while a run goes
    this.#dress();
  }

  /**
   * @param {number} skew seconds that the server's clock, by which all is drawn, is ahead
   * @param {State} state
   */
  show(state, skew) {
    this.#skew = skew;
    if (state === this.#state) return;
    const grows = this.#state?.active && state.active && Date.now() - this.#drawn < EVERY;
    this.#state = state;
    this.#opens();
    if (!grows) this.#draw(); // while a run goes it is drawn often enough
  }

  #draw() {
    if (!this.#state) return;
    this.#drawn = Date.now();
    const any = this.#state.items.some((item) => item.kind === "turn" && item.at);
    this.hidden = !any;
    if (!any || this.#folded || this.#width < 60) return;
    const { shapes, height } = timelineOf(this.#state, {
      width: this.#width,
      runs: this.#runs,
      now: Date.now() / 1000 + this.#skew,
    });
    this.#shapes = shapes;
    const taller = String(height) !== this.#svg.getAttribute("height");
    set(this.#svg, { viewBox: `0 0 ${this.#width} ${height}`, width: this.#width, height });
    const before = this.#nodes;
    this.#nodes = new Map();
    for (const shape of shapes) {
      const node = before.get(shape.key) ?? svg(shape.tag);
      before.delete(shape.key);
      this.#nodes.set(shape.key, node);
      dress(node, shape);
    }
    for (const node of before.values()) node.remove();
    if (
      this.#svg.childNodes.length !== shapes.length ||
      [...this.#svg.childNodes].some((node, index) => node !== this.#nodes.get(shapes[index].key))
    )
      this.#svg.replaceChildren(...this.#nodes.values());
    if (taller) this.#scroll.scrollTop = height; // the newest run is the lowest
    if (!this.#tip.hidden) this.#point(this.#tip.dataset.key);
  }

  /** What it is for is seen at the first stop; who has opened or closed it decides from then on. */
  #opens() {
    if (this.#chosen || !this.#state) return;
    const folded = window.innerWidth < NARROW || !wasStopped(this.#state);
    if (folded === this.#folded) return;
    this.#folded = folded;
    this.#dress();
  }

  #toggle() {
    this.#chosen = this.#folded ? "open" : "folded";
    remember("timeline", this.#chosen);
    this.#folded = !this.#folded;
    this.#dress();
    this.#draw();
  }

  /** @param {number} runs */
  #zoom(runs) {
    this.#runs = runs;
    remember("zoom", String(runs));
    this.#dress();
    this.#draw();
  }

  #dress() {
    this.classList.toggle("closed", this.#folded);
    set(this.#fold, { "aria-expanded": String(!this.#folded) });
    this.#zooms.forEach((one, index) =>
      set(one, { "aria-pressed": String(ZOOMS[index][0] === this.#runs) }),
    );
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.#walk(step);
  }

  /** @param {number} step */
  #walk(step) {
    const tells = this.#shapes.filter((shape) => shape.tell);
    if (!tells.length) return;
    const here = tells.findIndex((shape) => shape.key === this.#at);
    const next = here < 0 ? tells.length - 1 : (here + step + tells.length) % tells.length;
    this.#at = tells[next].key;
    this.#point(this.#at);
  }

  /** @param {string | null | undefined} key */
  #point(key) {
    for (const node of this.#svg.querySelectorAll(".pointed")) node.classList.remove("pointed");
    const shape = key ? this.#shapes.find((one) => one.key === key) : null;
    const node = shape && this.#nodes.get(shape.key);
    this.#tip.hidden = !node || !shape.tell;
    if (!node || !shape.tell) return;
    node.classList.add("pointed");
    this.#tip.dataset.key = shape.key;
    const [what, ...more] = shape.tell;
    this.#tip.replaceChildren(
      h("b", {}, what),
      ...more.filter(Boolean).map((text) => h("span", {}, text)),
    );
    const mark = node.getBoundingClientRect();
    const home = this.getBoundingClientRect();
    const x = mark.left - home.left + Math.min(mark.width / 2, 60);
    this.#tip.style.left = `${Math.max(8, Math.min(x - this.#tip.offsetWidth / 2, home.width - this.#tip.offsetWidth - 8))}px`;
    this.#tip.style.bottom = `${home.bottom - mark.top + 8}px`;
  }
}

/** @param {State} state */
function wasStopped({ items }) {
  return items.some((item) => item.kind === "receipt" && item.receipt.reason === "stopped");
}

/** What its marks mean. */
function legend() {
  const places = {
    rect: { x: 1, y: 3, width: 12, height: 6, rx: 2 },
    line: { x1: 7, x2: 7, y1: 0, y2: 12 },
    circle: { cx: 7, cy: 6, r: 3 },
  };
  const rows = LEGEND.map(([tag, look, words]) =>
    h(
      "li",
      {},
      svg(
        "svg",
        { viewBox: "0 0 14 12", width: 14, height: 12, "aria-hidden": "true" },
        svg(tag, { class: look, ...places[tag] }),
      ),
      words,
    ),
  );
  return h("ul", { class: "legend", "aria-label": "What the marks mean" }, ...rows);
}

/** @param {SVGElement} node @param {Shape} shape */
function dress(node, { key, tag: _, text, tell, class: look, ...places }) {
  const rounded = Object.fromEntries(
    Object.entries(places).map(([name, value]) => [name, Math.round(value * 10) / 10]),
  );
  const pointed = node.classList.contains("pointed") ? " pointed" : "";
  set(node, {
    ...rounded,
    class: `${look}${tell ? " tells" : ""}${pointed}`,
    "data-key": tell ? key : null,
  });
  if (text !== undefined) say(node, text);
}

customElements.define("lw-timeline", Timeline);
