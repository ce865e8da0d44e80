// Seconds to pixels. Time in which nothing happened is folded into a short break, so that two runs
// with a lunch between them can both be read.

/** @import { Scale, Stretch, Tick } from "./types.d.ts" */

const BREAK = 30; // pixels of a folded gap
const NARROWEST = 64; // pixels of a stretch, however short
const LONGEST = 3600;
const STEPS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, LONGEST];

/**
 * @param {number[][]} spans when something was going: from, to
 * @param {number} from left edge, pixels
 * @param {number} to right edge
 * @returns {Scale}
 */
export function scaleOf(spans, from, to) {
  const stretches = joined(spans);
  const seconds = stretches.map(([a, b]) => Math.max(0.02, b - a));
  const room = to - from - BREAK * (stretches.length - 1);
  const widths = shared(seconds, Math.max(room, NARROWEST * stretches.length));
  let x = from;
  const parts = stretches.map(([a, b], index) => {
    const part = { a, b: Math.max(b, a + 0.02), x, width: widths[index] };
    x += widths[index] + BREAK;
    return part;
  });
  return {
    parts,
    x: (at) => place(parts, at),
    ticks: () => parts.flatMap(ticksOf),
    breaks: breaksOf(parts),
  };
}

/** What overlaps, or is only a moment apart, is one stretch. @param {number[][]} spans */
function joined(spans) {
  const sorted = spans.slice().sort((one, other) => one[0] - other[0]);
  const total = sorted.reduce((sum, [a, b]) => sum + b - a, 0);
  const near = Math.max(1.5, total * 0.15);
  /** @type {number[][]} */
  const stretches = [];
  for (const [a, b] of sorted) {
    const last = stretches.at(-1);
    if (last && a - last[1] <= near) last[1] = Math.max(last[1], b);
    else stretches.push([a, b]);
  }
  return stretches;
}

/**
 * Room by length, but never less than can be seen.
 * @param {number[]} seconds
 * @param {number} room
 */
function shared(seconds, room) {
  const total = seconds.reduce((sum, one) => sum + one, 0);
  const small = seconds.map((one) => (one / total) * room < NARROWEST);
  const left = room - NARROWEST * small.filter(Boolean).length;
  const rest = seconds.reduce((sum, one, index) => sum + (small[index] ? 0 : one), 0) || 1;
  return seconds.map((one, index) => (small[index] ? NARROWEST : (one / rest) * left));
}

/** @param {Stretch[]} parts @param {number} at */
function place(parts, at) {
  for (const [index, part] of parts.entries()) {
    if (at < part.a) return index ? part.x - BREAK / 2 : part.x;
    if (at <= part.b) return part.x + ((at - part.a) / (part.b - part.a)) * part.width;
  }
  const last = parts.at(-1);
  return last ? last.x + last.width : 0;
}

/** @param {Stretch} part @returns {Tick[]} */
function ticksOf({ a, b, x, width }) {
  const step = STEPS.find((one) => (one / (b - a)) * width >= 84) ?? LONGEST;
  /** @type {Tick[]} */
  const ticks = [{ x, at: a, first: true }];
  for (let t = step; t < b - a && (t / (b - a)) * width < width - 30; t += step) {
    ticks.push({ x: x + (t / (b - a)) * width, after: t });
  }
  return ticks;
}

/** @param {Stretch[]} parts */
function breaksOf(parts) {
  return parts
    .slice(1)
    .map((part, index) => ({ x: part.x - BREAK / 2, seconds: part.a - parts[index].b }));
}
