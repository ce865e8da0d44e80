// Markdown as nodes, while it is still being written. Only the last block can change, so all
// before it stays as it is; and the last one is patched, not made anew, so that a selection in it
// survives the next word. Nothing here knows HTML: a tag in a text is text.

import { inline } from "./inline.js";

const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(\s+|$)/;
const QUOTE = /^ {0,3}> ?/;
const DEEPEST = 8; // lists and quotes within one another; deeper ones are text

/** A text that grows, in an element. */
export class Markdown {
  #element;
  #text = "";
  #done = 0; // characters of the blocks that cannot change any more
  #settled = 0; // nodes of theirs
  #open = []; // the tree of the block that can

  constructor(element) {
    this.#element = element;
  }

  /** Show this text. If it continues the last one, what is there is continued. */
  show(text) {
    if (text === this.#text) return;
    if (!text.startsWith(this.#text)) this.#restart();
    this.#text = text;
    const blocks = blocksOf(text.slice(this.#done).split("\n"), 0);
    const trees = blocks.map((block) => block.tree);
    patch(this.#element, this.#settled, this.#open, trees);
    if (blocks.length > 1) {
      this.#done += blocks.at(-1).from;
      this.#settled += blocks.length - 1;
    }
    this.#open = trees.slice(-1);
  }

  #restart() {
    this.#element.replaceChildren();
    this.#done = this.#settled = 0;
    this.#open = [];
  }
}

/** Bring the nodes from an index on from one tree to another. */
function patch(parent, from, before, now) {
  for (let i = 0; i < now.length; i++) {
    const old = before[i];
    const tree = now[i];
    const node = parent.childNodes[from + i];
    if (typeof tree === "string") {
      if (typeof old !== "string") swap(parent, node, document.createTextNode(tree));
      else if (tree.startsWith(old))
        tree.length > old.length && node.appendData(tree.slice(old.length));
      else node.data = tree;
    } else if (old && typeof old !== "string" && old.tag === tree.tag && old.href === tree.href) {
      patch(node, 0, old.children, tree.children);
      dress(node, tree);
    } else {
      swap(parent, node, made(tree));
    }
  }
  while (parent.childNodes.length > from + now.length) parent.lastChild.remove();
}

function swap(parent, node, other) {
  if (node) node.replaceWith(other);
  else parent.append(other);
}

function made(tree) {
  const element = document.createElement(tree.tag);
  dress(element, tree);
  if (tree.tag === "pre") element.tabIndex = 0; // a wide one is scrolled with the keyboard
  if (tree.href) {
    element.href = tree.href;
    element.rel = "noopener noreferrer";
    element.target = "_blank";
  }
  patch(element, 0, [], tree.children);
  return element;
}

function dress(element, tree) {
  if (tree.start > 1) element.start = tree.start;
  if (tree.language) element.dataset.language = tree.language;
}

const tree = (tag, children, more = {}) => ({ tag, children, ...more });

/** The blocks of some lines; `from` is where in the text each begins. */
function blocksOf(lines, depth) {
  const blocks = [];
  let offset = 0;
  for (let i = 0; i < lines.length;) {
    if (!lines[i].trim()) {
      offset += lines[i++].length + 1;
      continue;
    }
    const [block, used] = blockAt(lines, i, depth);
    blocks.push({ tree: block, from: offset });
    for (const end = i + used; i < end; i++) offset += lines[i].length + 1;
  }
  return blocks;
}

function blockAt(lines, i, depth) {
  const line = lines[i];
  const fence = FENCE.exec(line);
  if (fence) return codeAt(lines, i, fence);
  const heading = HEADING.exec(line);
  if (heading) return [tree(`h${Math.min(6, heading[1].length + 2)}`, inline(heading[2])), 1];
  if (RULE.test(line)) return [tree("hr", []), 1];
  if (depth < DEEPEST && QUOTE.test(line)) return quoteAt(lines, i, depth);
  if (depth < DEEPEST && ITEM.test(line)) return listAt(lines, i, depth);
  if (isTable(lines, i)) return tableAt(lines, i);
  return paragraphAt(lines, i, depth);
}

function codeAt(lines, i, [, indent, mark, language]) {
  const close = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`);
  const body = [];
  let j = i + 1;
  for (; j < lines.length && !close.test(lines[j]); j++)
    body.push(lines[j].replace(new RegExp(`^ {0,${indent.length}}`), ""));
  const closed = j < lines.length;
  return [tree("pre", [tree("code", [body.join("\n")])], { language }), j - i + (closed ? 1 : 0)];
}

function quoteAt(lines, i, depth) {
  let j = i;
  while (j < lines.length && QUOTE.test(lines[j])) j++;
  const inner = lines.slice(i, j).map((line) => line.replace(QUOTE, ""));
  return [
    tree(
      "blockquote",
      blocksOf(inner, depth + 1).map((block) => block.tree),
    ),
    j - i,
  ];
}

function listAt(lines, i, depth) {
  const [, , bullet, number] = ITEM.exec(lines[i]);
  const items = [];
  let j = i;
  let blank = false;
  for (; j < lines.length; j++) {
    const line = lines[j];
    const mark = RULE.test(line) ? null : ITEM.exec(line);
    const indented = /^(?: {2,}|\t)/.test(line);
    if (!line.trim()) blank = true;
    else if (
      mark &&
      (mark[3] === undefined) === (number === undefined) &&
      (mark[1].length < 2 || !items.length)
    ) {
      items.push([line.slice(mark[0].length)]);
      blank = false;
      continue;
    } else if (!indented && (blank || starts(line))) break;
    items.at(-1).push(indented ? line.replace(/^(?: {1,4}|\t)/, "") : line);
    if (line.trim()) blank = false;
  }
  const children = items.map((item) => tree("li", itemOf(item, depth)));
  return [tree(bullet ? "ul" : "ol", children, bullet ? {} : { start: Number(number) }), j - i];
}

/** An item that is one paragraph stands without one, so that a list is as tight as it was written. */
function itemOf(lines, depth) {
  const blocks = blocksOf(lines, depth + 1).map((block) => block.tree);
  return blocks.flatMap((block, index) =>
    index === 0 && block.tag === "p" ? block.children : [block],
  );
}

function isTable(lines, i) {
  return (
    lines[i].includes("|") &&
    /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$/.test(lines[i + 1] ?? "")
  );
}

function tableAt(lines, i) {
  let j = i + 2;
  while (j < lines.length && lines[j].includes("|")) j++;
  const row = (line, tag) => {
    const cells = line
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|");
    return tree(
      "tr",
      cells.map((cell) => tree(tag, inline(cell.trim()))),
    );
  };
  const body = lines.slice(i + 2, j).map((line) => row(line, "td"));
  return [tree("table", [tree("thead", [row(lines[i], "th")]), tree("tbody", body)]), j - i];
}

function paragraphAt(lines, i, depth) {
  let j = i + 1;
  while (j < lines.length && lines[j].trim() && !starts(lines[j], depth) && !isTable(lines, j)) j++;
  return [tree("p", inline(lines.slice(i, j).join("\n").trimEnd())), j - i];
}

/** Whether a line ends the paragraph before it. */
function starts(line, depth = 0) {
  const item = depth < DEEPEST ? ITEM.exec(line) : null;
  return (
    FENCE.test(line) ||
    HEADING.test(line) ||
    RULE.test(line) ||
    (depth < DEEPEST && QUOTE.test(line)) ||
    (item !== null && item[4] !== "")
  );
}
