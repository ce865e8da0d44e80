// The timeline as shapes: generations as lanes, runs as bars, tools, processes and waits as spans
// below them, the fence as a line and what it refused as hollow marks behind it. Pure: a state and
// a width give a list of shapes, each with what it tells when it is pointed at.

import { lanesOf } from "./timeline-lanes.js";
import { scaleOf } from "./timeline-scale.js";
import { clock, lasted } from "./words.js";

/** @import { Lane, Receipt, Scale, Shape, Span, State } from "./types.d.ts" */

const TOP = 18;
const BAR = 17;
const GAP = 9;
const LETTER = 5.9; // pixels of an average letter of the labels
const MARKS = 6; // hollow marks that are drawn; the rest is a number
/** @type {Span["kind"][][]} */
const ROWS = [["tool", "wait"], ["process"]];
/** What a fence is labelled with. @type {Record<string, string>} */
const WHY = {
  stopped: "stop",
  superseded: "new message",
  shutdown: "shutdown",
  parent: "parent stopped",
  lost: "lost",
};
/** @type {Record<Span["kind"], [number, number]>} */
const SPANS = { tool: [6, 8], wait: [6, 8], process: [3, 5] };

/**
 * @param {State} state @param {{width: number, runs: number, now: number}} view
 * @returns {{height: number, shapes: Shape[]}}
 */
export function timelineOf(state, { width, runs, now }) {
  const lanes = lanesOf(state, runs, now);
  if (!lanes.length) return { height: 0, shapes: [] };
  const left = width < 560 ? 50 : 74;
  const right = lanes.some((lane) => lane.receipt?.dropped) ? 140 : 48;
  const scale = scaleOf(
    lanes.flatMap((lane) => [[lane.a, lane.b], ...lane.spans.map((span) => [span.a, span.b])]),
    left,
    width - right,
  );
  /** @type {Shape[]} */
  const shapes = [];
  let y = TOP;
  for (const lane of lanes) {
    const bottom = drawLane(shapes, lane, y, scale, width);
    y = bottom + GAP;
  }
  /** @type {Shape[]} */
  const lines = [];
  drawFences(
    lines,
    lanes.filter((lane) => lane.fence),
    scale,
    y,
    width,
  );
  if (lanes.at(-1)?.live) drawNow(lines, scale.x(now), y, now);
  return { height: y + 18, shapes: [...axis(scale, y, width), ...lines, ...shapes] }; // words are on top
}

/**
 * @param {Shape[]} shapes
 * @param {Lane} lane
 * @param {number} y
 * @param {Scale} scale
 * @param {number} width
 */
function drawLane(shapes, lane, y, scale, width) {
  const { turn, receipt } = lane;
  const x = scale.x(lane.a);
  const wide = Math.max(4, scale.x(lane.b) - x);
  const outcome = lane.live ? "going" : turn.outcome || "ended";
  shapes.push({
    key: `lane ${turn.run}`,
    tag: "text",
    class: "lane",
    x: 2,
    y: y + 12.5,
    text: width < 560 ? `g ${turn.generation}` : `gen ${turn.generation}`,
  });
  shapes.push({
    key: `run ${turn.run}`,
    tag: "rect",
    class: `bar ${outcome}`,
    x,
    y,
    width: wide,
    height: BAR,
    rx: 4,
    tell: [
      lane.words ? `“${lane.words}”` : `run ${turn.run}`,
      `run ${turn.run}, generation ${turn.generation}`,
      outcome === "going" ? "going" : outcome,
      `${clock(lane.a)}, ${lasted(lane.b - lane.a)}`,
    ],
  });
  const marks = receipt?.dropped ? refused(shapes, lane, receipt, x + wide, y + BAR / 2) : 0;
  label(shapes, lane, x, wide, y, marks, width);
  return spans(shapes, lane, y + BAR + 3, scale);
}

/**
 * In the bar if it fits, else behind it.
 * @param {Shape[]} shapes
 * @param {Lane} lane
 * @param {number} x
 * @param {number} wide
 * @param {number} y
 * @param {number} marks
 * @param {number} width
 */
function label(shapes, lane, x, wide, y, marks, width) {
  const inside = Math.floor((wide - 12) / LETTER);
  const whole = lane.words;
  const behind = x + wide + 8 + marks;
  const fits = inside >= Math.min(whole.length, 8);
  const room = fits ? inside : Math.floor((width - behind - 6) / LETTER);
  if (!whole || room < 4) return;
  const text = whole.length <= room ? whole : `${whole.slice(0, room - 1)}…`;
  shapes.push({
    key: `words ${lane.turn.run}`,
    tag: "text",
    class: fits ? "words" : "words behind",
    x: fits ? x + 7 : behind,
    y: y + 12.5,
    text,
  });
}

/**
 * Not to scale: what was refused came within moments, and has to be seen. @returns pixels taken
 * @param {Shape[]} shapes
 * @param {Lane} lane
 * @param {Receipt} receipt
 * @param {number} x
 * @param {number} y
 */
function refused(shapes, { turn }, receipt, x, y) {
  const first = (receipt.refused ?? []).slice(0, MARKS);
  first.forEach((one, index) => {
    shapes.push({
      key: `refused ${turn.run} ${index}`,
      tag: "circle",
      class: "refused",
      cx: x + 9 + index * 9,
      cy: y,
      r: 3,
      tell: [`${one.what}, refused`, `${lasted(one.after)} after the fence`],
    });
  });
  const at = x + 9 + first.length * 9;
  const text = `${receipt.dropped.toLocaleString("en")} refused`;
  shapes.push({
    key: `refused ${turn.run}`,
    tag: "text",
    class: "count",
    x: at + 1,
    y: y + 4,
    text,
    tell: [
      `${receipt.dropped} effects refused after the fence`,
      "nothing of them was shown or done",
    ],
  });
  return first.length * 9 + 10 + text.length * LETTER + 6;
}

/**
 * Spans of a lane in as few rows as they need without covering one another.
 * @param {Shape[]} shapes
 * @param {Lane} lane
 * @param {number} top
 * @param {Scale} scale
 */
function spans(shapes, lane, top, scale) {
  let y = top;
  for (const kinds of ROWS) {
    const [height, pitch] = SPANS[kinds[0]];
    /** @type {number[]} */
    const rows = [];
    for (const span of lane.spans
      .filter((one) => kinds.includes(one.kind))
      .sort((one, other) => one.a - other.a)) {
      const x = scale.x(span.a);
      const wide = Math.max(span.kind === "process" ? 3 : 5, scale.x(span.b) - x);
      let row = rows.findIndex((end) => end + 2 <= x);
      if (row < 0) row = rows.length < 4 ? rows.push(0) - 1 : rows.length - 1;
      rows[row] = x + wide;
      shapes.push({
        key: span.key,
        tag: "rect",
        class: `span ${span.kind} ${span.look}`,
        x,
        y: y + row * pitch,
        width: wide,
        height,
        rx: height / 2,
        tell: span.tell,
      });
    }
    y += rows.length * pitch;
  }
  return y;
}

/**
 * @param {Shape[]} shapes
 * @param {Lane[]} lanes
 * @param {Scale} scale
 * @param {number} bottom
 * @param {number} width
 */
function drawFences(shapes, lanes, scale, bottom, width) {
  let free = -Infinity;
  for (const { turn, receipt, fence } of lanes) {
    const x = scale.x(fence);
    const reason = receipt?.reason ?? turn.outcome;
    const text = WHY[reason] ?? reason;
    shapes.push({
      key: `fence ${turn.run}`,
      tag: "line",
      class: "fence",
      x1: x,
      x2: x,
      y1: 4,
      y2: bottom,
      tell: [
        `the fence: ${text}`,
        `${clock(fence)}.${String(Math.floor((fence % 1) * 1000)).padStart(3, "0")}`,
        `nothing of generation ${turn.generation} acts from here on`,
      ],
    });
    const wide = text.length * LETTER;
    const before = x + 5 + wide > width; // there is no room behind it
    if ((before ? x - 5 - wide : x) < free) continue;
    shapes.push({
      key: `fence words ${turn.run}`,
      tag: "text",
      class: before ? "why before" : "why",
      x: before ? x - 5 : x + 5,
      y: 12,
      text,
    });
    free = x + 12 + (before ? 0 : wide);
  }
}

/** @param {Shape[]} shapes @param {number} x @param {number} bottom @param {number} now */
function drawNow(shapes, x, bottom, now) {
  shapes.push({
    key: "now",
    tag: "line",
    class: "now",
    x1: x,
    x2: x,
    y1: 4,
    y2: bottom,
    tell: ["now", clock(now)],
  });
  shapes.push({ key: "now words", tag: "text", class: "lane", x: x + 5, y: 12, text: "now" });
}

/** @param {Scale} scale @param {number} y @param {number} width @returns {Shape[]} */
function axis(scale, y, width) {
  /** @type {Shape} */
  const line = {
    key: "axis",
    tag: "line",
    class: "axis",
    x1: scale.parts[0].x,
    x2: width - 8,
    y1: y,
    y2: y,
  };
  /** @type {Shape[]} */
  const ticks = scale.ticks().flatMap(({ x, at, after, first }, index) => [
    {
      key: `tick ${index}`,
      tag: "line",
      class: first ? "tick first" : "tick",
      x1: x,
      x2: x,
      y1: TOP - 4,
      y2: y,
    },
    {
      key: `tick words ${index}`,
      tag: "text",
      class: "time",
      x: x + (first ? 0 : 3),
      y: y + 13,
      text: first ? clock(at) : `+${lasted(after ?? 0).replace(".0 ", " ")}`,
    },
  ]);
  /** @type {Shape[]} */
  const breaks = scale.breaks.map(({ x, seconds }, index) => ({
    key: `break ${index}`,
    tag: "text",
    class: "break",
    x,
    y: y + 4,
    text: "⋯",
    tell: [`${lasted(seconds)} in which nothing was going`],
  }));
  return [line, ...ticks, ...breaks];
}
