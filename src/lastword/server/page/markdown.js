// Markdown as nodes, while it is still being written. Only the last block can change, so all
// before it stays as it is; and the last one is patched, not made anew, so that a selection in it
// survives the next word. Nothing here knows HTML: a tag in a text is text.
//
// What a word costs does not grow with the text before it: a block that is longer than a window
// goes on as another one, code is taken line by line, and from so many nodes on the rest is plain.

import { Meter, topBlocks } from "./blocks.js";
import { Code, codeIn } from "./code.js";
import { codeBox, preOf, speak } from "./codebox.js";
import { colour } from "./colours.js";
import { h, set } from "./dom.js";
import { pace } from "./pace.js";
import { follow, Pieces, whole } from "./pieces.js";

/** @import { Fence, Leaf, Tree } from "./types.d.ts" */

const WINDOW = 16_000; // characters that are looked at together
const MOST_NODES = 4000; // of a text

/** A text that grows, in an element. */
export class Markdown {
  #element;
  #text = "";
  #all = ""; // of which the text may be the beginning
  #done = 0; // characters of the blocks that cannot change any more
  /** @type {ChildNode | null} */
  #after = null; // the last node of theirs
  /** @type {Tree[]} */
  #open = []; // the tree of the block that can
  /** @type {Code | null} */
  #code = null; // a code block that is not closed yet
  /** @type {Pieces | null} */
  #plain = null; // what there were too many nodes for
  #live = false; // whether there was something before the last words came
  #nodes = 0;
  steps = 0; // that it took

  /** @param {Element} element */
  constructor(element) {
    this.#element = element;
  }

  /**
   * Show this text. If it continues the last one, what is there is continued.
   * @param {string} text
   * @param {string} [all] of which it is the beginning
   */
  show(text, all = text) {
    this.#all = all;
    if (text === this.#text) return;
    if (!text.startsWith(this.#text)) this.#restart();
    this.#live = this.#text !== "";
    this.#text = text;
    pace.run(this.#advance);
  }

  #restart() {
    this.#element.replaceChildren();
    this.#done = this.#nodes = 0;
    this.#open = [];
    this.#text = "";
    this.#after = this.#code = this.#plain = null;
  }

  /** @returns {boolean} whether there is more to do */
  #advance = () => {
    for (let more = true; more; ) {
      if (!pace.free) return true;
      const meter = new Meter();
      more = this.#step(meter);
      pace.took(meter);
      this.steps += meter.steps;
    }
    return false;
  };

  /** @param {Meter} meter */
  #step(meter) {
    if (this.#code) return this.#goOnCode(meter, this.#code);
    if (this.#nodes > MOST_NODES) return this.#goOnPlain(meter);
    const rest = this.#text.length - this.#done;
    const size = rest > WINDOW ? cut(this.#text, this.#done) : rest;
    const { blocks, fence, stopped } = topBlocks(this.#text.substr(this.#done, size), meter);
    const trees = blocks.map((block) => block.tree);
    this.#patch(trees);
    const last = blocks.at(-1);
    const goesOn = !stopped && !fence && blocks.length > 1; // the last one may
    const ends = stopped || fence?.after || (goesOn && last ? last.from : rest > size && size);
    if (!ends) return false;
    this.#done += ends;
    this.#nodes += meter.nodes;
    this.#settle(goesOn ? trees.length - 1 : trees.length);
    if (fence) this.#begin(fence);
    return rest > size || stopped > 0 || fence !== null;
  }

  /** Have these where the block is that can change. @param {Tree[]} trees */
  #patch(trees) {
    patch(this.#element, this.#after, this.#open, trees);
    this.#open = trees;
  }

  /** So many of them stay as they are. @param {number} trees */
  #settle(trees) {
    for (let i = 0; i < trees; i++)
      this.#after = this.#after ? this.#after.nextSibling : this.#element.firstChild;
    this.#open = this.#open.slice(trees);
  }

  /** @param {Fence} fence */
  #begin(fence) {
    const from = this.#done;
    this.#code = new Code(fence, () => codeIn(this.#all, from, fence));
    this.#element.append(this.#code.element);
    this.#after = this.#code.element;
  }

  /** @param {Meter} meter @param {Code} code */
  #goOnCode(meter, code) {
    const before = this.#done;
    this.#done += code.take(this.#text, before, this.#live, meter);
    if (code.closed) this.#code = null;
    return this.#done > before && this.#done < this.#text.length;
  }

  /** @param {Meter} meter */
  #goOnPlain(meter) {
    if (!this.#plain) {
      this.#patch([]);
      this.#plain = new Pieces(this.#element.appendChild(h("div", { class: "plain" })));
    }
    const end = whole(this.#text, Math.min(this.#text.length, this.#done + WINDOW));
    const some = this.#text.slice(this.#done, end);
    meter.steps += some.length;
    this.#plain.add(some);
    this.#done += some.length;
    return some.length > 0 && this.#done < this.#text.length;
  }
}

/**
 * How much of a text to look at that goes on: whole lines if there are any, or else whole words.
 * @param {string} text
 * @param {number} from
 */
function cut(text, from) {
  const some = text.slice(from, from + WINDOW);
  return some.lastIndexOf("\n") + 1 || some.lastIndexOf(" ") + 1 || whole(some, WINDOW);
}

/**
 * Bring the nodes after one, or all that there are, from one tree to another.
 * @param {Element} parent
 * @param {ChildNode | null} after
 * @param {Leaf[]} before
 * @param {Leaf[]} now
 */
function patch(parent, after, before, now) {
  let node = after ? after.nextSibling : parent.firstChild;
  now.forEach((tree, index) => {
    const next = node?.nextSibling ?? null;
    const same = node && patched(node, before[index], tree);
    if (!same && node) node.replaceWith(made(tree));
    else if (!same) parent.append(made(tree));
    node = next;
  });
  while (node) {
    const next = node.nextSibling;
    node.remove();
    node = next;
  }
}

/**
 * Make a node that showed one tree show another; false if it cannot.
 * @param {ChildNode} node
 * @param {Leaf | undefined} old
 * @param {Leaf} tree
 */
function patched(node, old, tree) {
  if (typeof tree === "string") {
    if (typeof old !== "string") return false;
    const text = /** @type {Text} */ (node);
    if (!tree.startsWith(old)) text.data = tree;
    else if (tree.length > old.length) text.appendData(tree.slice(old.length));
    return true;
  }
  if (!isLike(old, tree)) return false;
  const outer = /** @type {HTMLElement} */ (node);
  const element = tree.tag === "pre" ? preOf(outer) : outer;
  patch(element, null, old.children, tree.children);
  dress(outer, tree);
  if (tree.tag !== "pre" || codeOf(tree) === codeOf(old)) return true;
  follow(element);
  colour(element, tree.language);
  return true;
}

/** @param {Leaf | undefined} old @param {Tree} tree @returns {old is Tree} */
function isLike(old, tree) {
  if (!old || typeof old === "string") return false;
  return old.tag === tree.tag && old.href === tree.href && old.look === tree.look;
}

/** @param {Tree} tree */
function codeOf(tree) {
  const [code] = tree.children;
  return typeof code === "string" ? code : code.children[0];
}

/** @param {Leaf} tree */
function made(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  if (tree.tag === "pre") return madeCode(tree);
  const element = document.createElement(tree.tag);
  dress(element, tree);
  if (tree.look) element.className = tree.look;
  if (tree.href) set(element, { href: tree.href, rel: "noopener noreferrer", target: "_blank" });
  patch(element, null, [], tree.children);
  return element;
}

/** @param {Tree} tree */
function madeCode(tree) {
  const { box, pre } = codeBox(() => pre.textContent ?? "");
  dress(box, tree);
  patch(pre, null, [], tree.children);
  colour(pre, tree.language);
  return box;
}

/** @param {HTMLElement} element @param {Tree} tree */
function dress(element, tree) {
  if (tree.start && tree.start > 1) set(element, { start: tree.start });
  if (tree.tag === "pre") speak(element, tree.language);
  if (tree.align) element.dataset.align = tree.align;
}
