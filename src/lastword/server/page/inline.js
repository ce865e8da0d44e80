// What stands within a line of markdown: code, bold, italic, links. It gives small trees of tags
// and strings, and the only address that can become a link is one of http or https.
//
// It goes from left to right once. What closes a mark is looked for at most once in vain: where
// there is none behind one place, there is none behind a later one. So a text costs what it is
// long, whatever is in it, and `meter` counts that.

/** @import { Leaf, Meter, Tree } from "./types.d.ts" */

const DEEPEST = 6;
const LONGEST = 6000; // a longer paragraph is shown as it is: nobody writes one, and a flood must not cost
const PIECE = 2000; // characters
const LONGEST_LINK = 2000; // characters of each of its parts
const ESCAPABLE = new Set("\\`*_{}[]()#+-.!|<>~");
const SPECIAL = /[\\`![h*_~\n]/g;
const BARE = /https?:\/\/[^\s<>"'`]+/y;
const WORD = /\w/;
const SPACE = /\s/;

/** @param {string} text @param {Meter} meter @returns {Leaf[]} */
export function inline(text, meter, depth = 0) {
  if (depth > DEEPEST || text.length > LONGEST) return asItIs(text, meter);
  meter.steps += text.length;
  return new Line(text, meter, depth).nodes();
}

/**
 * Lines that are nothing but lines, in pieces: only those near the screen are laid out.
 * @param {string} text
 * @param {Meter} meter
 * @returns {Leaf[]}
 */
export function asItIs(text, meter) {
  /** @type {Leaf[]} */
  const pieces = [];
  for (let from = 0, end = 0; from < text.length; from = end) {
    const some = text.slice(from, from + PIECE);
    const rest = from + PIECE < text.length;
    end = from + ((rest && (some.lastIndexOf("\n") + 1 || some.lastIndexOf(" ") + 1)) || some.length);
    pieces.push({ tag: "span", look: "plain piece", children: [text.slice(from, end)] });
  }
  meter.steps += text.length;
  meter.nodes += pieces.length;
  return pieces;
}

/** @param {Tree["tag"]} tag @param {Leaf[]} children @param {string} [href] @returns {Tree} */
function element(tag, children, href) {
  return href ? { tag, children, href } : { tag, children };
}

/** @typedef {{nodes: Leaf[], end: number}} Meant */

class Line {
  #text;
  #meter;
  #depth;
  /** @type {Leaf[]} */
  #nodes = [];
  /** @type {Map<number, number> | null} */
  #ticks = null; // where the last run of so many ticks begins
  /** @type {Set<string>} */
  #none = new Set(); // marks that nothing closes from here on

  /** @param {string} text @param {Meter} meter @param {number} depth */
  constructor(text, meter, depth) {
    this.#text = text;
    this.#meter = meter;
    this.#depth = depth;
  }

  nodes() {
    const text = this.#text;
    let last = 0;
    SPECIAL.lastIndex = 0;
    for (let found = SPECIAL.exec(text); found; found = SPECIAL.exec(text)) {
      const at = found.index;
      const meant = this.#at(at);
      if (meant) {
        this.#add(text.slice(last, at));
        for (const node of meant.nodes) this.#add(node);
        last = meant.end;
      }
      SPECIAL.lastIndex = meant ? meant.end : at + this.#run(at);
    }
    this.#add(text.slice(last));
    return this.#nodes;
  }

  /**
   * Neighbouring strings are one, so that a growing text stays the same node.
   * @param {Leaf} node
   */
  #add(node) {
    if (node === "") return;
    const nodes = this.#nodes;
    if (typeof node === "string" && typeof nodes.at(-1) === "string") {
      nodes.push(nodes.pop() + node);
    } else {
      this.#meter.nodes += 1;
      nodes.push(node);
    }
  }

  /** How far to go where nothing was meant: ticks stand and fall together. @param {number} at */
  #run(at) {
    return this.#text[at] === "`" ? this.#length(at) : 1;
  }

  /**
   * What is meant at a place, and where it ends; null if nothing is.
   * @param {number} at
   * @returns {Meant | null}
   */
  #at(at) {
    const text = this.#text;
    switch (text[at]) {
      case "\n":
        return { nodes: [element("br", [])], end: at + 1 };
      case "\\":
        if (!ESCAPABLE.has(text[at + 1])) return null;
        return { nodes: [text[at + 1]], end: at + 2 };
      case "`":
        return this.#code(at);
      case "!":
        return text[at + 1] === "[" ? this.#link(at, at + 1) : null;
      case "[":
        return this.#link(at, at);
      case "h":
        return this.#bare(at);
      case "~":
        return this.#between(at, "~~", "s");
      default:
        return this.#strong(at) ?? this.#slanted(at);
    }
  }

  /** @param {number} at */
  #code(at) {
    const text = this.#text;
    const length = this.#length(at);
    this.#ticks ??= this.#allTicks();
    if ((this.#ticks.get(length) ?? -1) <= at) return null;
    let close = text.indexOf("`", at + length);
    while (this.#length(close) !== length) close = text.indexOf("`", close + this.#length(close));
    this.#meter.steps += close - at;
    const code = unpadded(text.slice(at + length, close));
    return { nodes: [element("code", [code])], end: close + length };
  }

  /** How many of the same stand here. @param {number} at */
  #length(at) {
    let end = at + 1;
    while (this.#text[end] === this.#text[at]) end += 1;
    this.#meter.steps += end - at;
    return end - at;
  }

  /** @returns {Map<number, number>} */
  #allTicks() {
    const last = new Map();
    for (const found of this.#text.matchAll(/`+/g)) last.set(found[0].length, found.index);
    this.#meter.steps += this.#text.length;
    return last;
  }

  /** @param {number} from @param {number} open */
  #link(from, open) {
    const text = this.#text;
    const shut = this.#first(/[[\]]/, open + 1);
    if (text[shut] !== "]" || text[shut + 1] !== "(") return null;
    let at = this.#spaces(shut + 2);
    if (text[at] === "<") at += 1;
    const end = this.#address(at);
    const address = text.slice(at, end);
    const close = this.#title(text[end] === ">" ? end + 1 : end);
    if (text[close] !== ")") return null;
    const label = text.slice(open + 1, shut).replaceAll("\n", " ");
    const whole = text.slice(from, close + 1);
    return { nodes: link([label || address], address) ?? [whole], end: close + 1 };
  }

  /**
   * Where the first of these stands, not too far from here.
   * @param {RegExp} pattern
   * @param {number} from
   */
  #first(pattern, from) {
    const until = Math.min(this.#text.length, from + LONGEST_LINK);
    const away = this.#text.slice(from, until).search(pattern);
    this.#meter.steps += away < 0 ? until - from : away;
    return away < 0 ? until : from + away;
  }

  /** @param {number} from */
  #spaces(from) {
    return this.#first(/\S/, from);
  }

  /** An address may have brackets in it, one within none. @param {number} from */
  #address(from) {
    let end = this.#first(/[\s<>()]/, from);
    while (this.#text[end] === "(") {
      const shut = this.#first(/[\s<>()]/, end + 1);
      if (this.#text[shut] !== ")") return end;
      end = this.#first(/[\s<>()]/, shut + 1);
    }
    return end;
  }

  /** @param {number} from */
  #title(from) {
    const quote = this.#spaces(from);
    if (quote === from || this.#text[quote] !== '"') return quote;
    return this.#spaces(this.#first(/"/, quote + 1) + 1);
  }

  /** @param {number} at */
  #bare(at) {
    BARE.lastIndex = at;
    const found = BARE.exec(this.#text)?.[0];
    if (!found) return null;
    this.#meter.steps += found.length;
    return { nodes: autolink(found), end: at + found.length };
  }

  /** @param {number} at */
  #strong(at) {
    const mark = this.#text.slice(at, at + 2);
    return mark === "**" || mark === "__" ? this.#between(at, mark, "strong") : null;
  }

  /**
   * What stands between a mark and its like, if neither faces a space.
   * @param {number} at
   * @param {string} mark
   * @param {Tree["tag"]} tag
   */
  #between(at, mark, tag) {
    const text = this.#text;
    const from = at + mark.length;
    if (!text.startsWith(mark, at) || this.#isSpace(from) || this.#none.has(mark)) return null;
    let close = text.indexOf(mark, from + 1);
    while (close > 0 && this.#isSpace(close - 1)) close = text.indexOf(mark, close + 1);
    this.#meter.steps += (close < 0 ? text.length : close) - at;
    if (close < 0) this.#none.add(mark);
    if (close < 0) return null;
    if (text[from] === mark[0] && text[close + mark.length] === mark[0]) close += 1; // three of them
    return this.#within(tag, from, close, close + mark.length);
  }

  /**
   * One star or line on either side, with none between; a line within a word is the word's.
   * @param {number} at
   */
  #slanted(at) {
    const text = this.#text;
    const mark = text[at];
    const close = text.indexOf(mark, at + 1);
    this.#meter.steps += (close < 0 ? text.length : close) - at;
    const open = !this.#isWord(at - 1) && text[at - 1] !== mark && !this.#isSpace(at + 1);
    const shut = close > at + 1 && !this.#isSpace(close - 1) && text[close + 1] !== mark;
    if (!open || !shut || (mark === "_" && this.#isWord(close + 1))) return null;
    return this.#within("em", at + 1, close, close + 1);
  }

  /** @param {Tree["tag"]} tag @param {number} from @param {number} to @param {number} end */
  #within(tag, from, to, end) {
    const inner = inline(this.#text.slice(from, to), this.#meter, this.#depth + 1);
    return { nodes: [element(tag, inner)], end };
  }

  /** @param {number} at */
  #isSpace(at) {
    return at >= this.#text.length || SPACE.test(this.#text[at]);
  }

  /** @param {number} at */
  #isWord(at) {
    return at >= 0 && at < this.#text.length && WORD.test(this.#text[at]);
  }
}

/** A space at either end is there to keep a tick from the ticks. @param {string} code */
function unpadded(code) {
  const line = code.replaceAll("\n", " ");
  const padded = line.startsWith(" ") && line.endsWith(" ") && line.trim() !== "";
  return padded ? line.slice(1, -1) : line;
}

/** @param {Leaf[]} children @param {string} address */
function link(children, address) {
  const href = allowed(address);
  return href ? [element("a", children, href)] : null;
}

/** A sentence's own marks at the end of an address are the sentence's. @param {string} text */
function autolink(text) {
  let end = text.length;
  while (".,;:!?*_~".includes(text[end - 1])) end -= 1;
  if (text[end - 1] === ")" && !text.includes("(")) end -= 1;
  const address = text.slice(0, end);
  return [...(link([address], address) ?? [address]), text.slice(end)];
}

/** @param {string} address */
function allowed(address) {
  if (address.length > LONGEST_LINK) return null;
  try {
    const url = new URL(address);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
