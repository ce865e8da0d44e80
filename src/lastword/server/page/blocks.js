// The blocks of a markdown text, as small trees: headings, lists, quotes, tables, code. Every line
// is looked at a fixed number of times, by code that does not go back in it, so a text costs what
// it is long, and `meter` counts that. A block of too many nodes is shown as it was written.

import { asItIs, inline } from "./inline.js";

/** @import { Fence, Leaf, Tree } from "./types.d.ts" */

const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])(\s+|$)/;
const QUOTE = /^ {0,3}> ?/;
/** @type {Tree["tag"][]} */
const HEADINGS = ["h3", "h4", "h5", "h6", "h6", "h6"]; // what is above them is the page's
const COLUMN = /^\s*(:?)-+(:?)\s*$/;
const DEEPEST = 8; // lists and quotes within one another; deeper ones are text
const MOST_NODES = 2000; // of a block
const ENOUGH = 1000; // nodes that are made in one go
const CODE = 14; // nodes that a code block is as costly as: it is scrolled by itself

/**
 * @param {Tree["tag"]} tag
 * @param {Leaf[]} children
 * @param {Partial<Tree>} [more]
 * @returns {Tree}
 */
const tree = (tag, children, more = {}) => ({ tag, children, ...more });

/** @typedef {{blocks: {tree: Tree, from: number}[], stopped: number}} Read */

/** What a text costs: steps are characters looked at, nodes are what is to be made. */
export class Meter {
  steps = 0;
  nodes = 0;
}

/**
 * The blocks of a text, up to code that is not closed in it; `from` is where in the text each begins.
 * @param {string} text
 * @param {Meter} meter
 * @returns {Read & {fence: (Fence & {after: number}) | null}} `fence` tells what
 * opened the code, and where its first line is; `stopped` where there were enough of them, or 0
 */
export function topBlocks(text, meter) {
  const { blocks, stopped } = read(text.split("\n"), 0, meter, ENOUGH);
  const last = blocks.at(-1);
  const open = last?.tree.open;
  const line = open ? text.indexOf("\n", last.from) + 1 : 0;
  if (!open || !line) return { blocks, fence: null, stopped }; // the line that opens it may go on
  return { blocks: blocks.slice(0, -1), fence: { ...open, after: line }, stopped };
}

/** @param {string[]} lines @param {number} depth @param {Meter} meter */
function blocksOf(lines, depth, meter) {
  return read(lines, depth, meter).blocks.map((block) => block.tree);
}

/** @param {string[]} lines @param {number} depth @param {Meter} meter @returns {Read} */
function read(lines, depth, meter, enough = Infinity) {
  /** @type {Read["blocks"]} */
  const blocks = [];
  let offset = 0;
  for (let i = 0; i < lines.length;) {
    meter.steps += lines[i].length + 1;
    if (!lines[i].trim()) {
      offset += lines[i++].length + 1;
      continue;
    }
    if (meter.nodes > enough) return { blocks, stopped: offset };
    const before = meter.nodes;
    const [block, used] = blockAt(lines, i, depth, meter);
    const many = meter.nodes - before > MOST_NODES;
    if (many) meter.steps += meter.nodes - before;
    if (many) meter.nodes = before;
    const shown = many ? tree("p", asItIs(lines.slice(i, i + used).join("\n"), meter)) : block;
    blocks.push({ tree: shown, from: offset });
    for (const end = i + used; i < end; i++) offset += lines[i].length + 1;
  }
  return { blocks, stopped: 0 };
}

/**
 * @param {string[]} lines
 * @param {number} i
 * @param {number} depth
 * @param {Meter} meter
 * @returns {[Tree, number]} it, and how many lines it has
 */
function blockAt(lines, i, depth, meter) {
  const line = lines[i];
  meter.steps += line.length;
  meter.nodes += 1;
  const fence = fenceOf(line);
  if (fence) return codeAt(lines, i, fence, meter);
  const heading = headingOf(line);
  if (heading) return [tree(HEADINGS[heading.level - 1], inline(heading.text, meter)), 1];
  if (isRule(line)) return [tree("hr", []), 1];
  if (depth < DEEPEST && QUOTE.test(line)) return quoteAt(lines, i, depth, meter);
  if (depth < DEEPEST && ITEM.test(line)) return listAt(lines, i, depth, meter);
  const columns = columnsAt(lines, i, meter);
  if (columns) return tableAt(lines, i, columns, meter);
  return paragraphAt(lines, i, depth, meter);
}

/** How many spaces a line begins with; four would make it something else. @param {string} line */
function indentOf(line) {
  let indent = 0;
  while (indent < 4 && line[indent] === " ") indent += 1;
  return indent;
}

/** @param {string} line @param {number} from @param {string} mark */
function runOf(line, from, mark) {
  let end = from;
  while (line[end] === mark) end += 1;
  return end - from;
}

/** What opens a code block; null if nothing does. @param {string} line @returns {Fence | null} */
export function fenceOf(line) {
  const indent = indentOf(line);
  const mark = line[indent];
  if (indent > 3 || (mark !== "`" && mark !== "~")) return null;
  const length = runOf(line, indent, mark);
  const about = line.slice(indent + length);
  if (length < 3 || about.includes("`")) return null;
  return { indent, mark, length, language: about.trim().slice(0, 60).split(/\s/)[0] };
}

/** Whether a line closes what a fence opened. @param {string} line @param {Fence} fence */
export function closes(line, { mark, length }) {
  const indent = indentOf(line);
  if (indent > 3 || line[indent] !== mark) return false;
  const run = runOf(line, indent, mark);
  return run >= length && !line.slice(indent + run).trim();
}

/**
 * A line of code, without the indent that its fence has.
 * @param {string} line
 * @param {Fence} fence
 */
export function unindented(line, { indent }) {
  return line.slice(Math.min(indent, indentOf(line)));
}

/** @param {string} line */
function headingOf(line) {
  const indent = indentOf(line);
  const level = indent > 3 ? 0 : runOf(line, indent, "#");
  const rest = line.slice(indent + level);
  if (level < 1 || level > 6 || !/^\s/.test(rest)) return null;
  const text = rest.trim();
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return { level, text: text.slice(0, end).trimEnd() };
}

/** Three or more of one mark, and nothing else. @param {string} line */
function isRule(line) {
  const marks = line.trim();
  const mark = marks[0];
  if (indentOf(line) > 3 || (mark !== "-" && mark !== "*" && mark !== "_")) return false;
  let found = 0;
  for (const one of marks) {
    if (one === mark) found += 1;
    else if (one !== " " && one !== "\t") return false;
  }
  return found > 2;
}

/**
 * @param {string[]} lines
 * @param {number} i
 * @param {Fence} fence
 * @param {Meter} meter
 * @returns {[Tree, number]}
 */
function codeAt(lines, i, fence, meter) {
  meter.nodes += CODE;
  /** @type {string[]} */
  const body = [];
  let j = i + 1;
  for (; j < lines.length && !closes(lines[j], fence); j++) {
    meter.steps += lines[j].length + 1;
    body.push(unindented(lines[j], fence));
  }
  const closed = j < lines.length;
  const about = { language: fence.language, open: closed ? null : fence };
  if (closed && body.length) body.push(""); // the last line may go on otherwise
  return [tree("pre", [tree("code", [body.join("\n")])], about), j + (closed ? 1 : 0) - i];
}

/**
 * @param {string[]} lines
 * @param {number} i
 * @param {number} depth
 * @param {Meter} meter
 * @returns {[Tree, number]}
 */
function quoteAt(lines, i, depth, meter) {
  let j = i;
  while (j < lines.length && QUOTE.test(lines[j])) j++;
  const inner = lines.slice(i, j).map((line) => line.replace(QUOTE, ""));
  return [tree("blockquote", blocksOf(inner, depth + 1, meter)), j - i];
}

/**
 * @param {string[]} lines
 * @param {number} i
 * @param {number} depth
 * @param {Meter} meter
 * @returns {[Tree, number]}
 */
function listAt(lines, i, depth, meter) {
  const [, , bullet, number] = ITEM.exec(lines[i]) ?? [];
  /** @type {string[][]} */
  const items = [];
  let j = i;
  let blank = false;
  for (; j < lines.length; j++) {
    const line = lines[j];
    meter.steps += line.length + 1;
    const mark = isRule(line) ? null : ITEM.exec(line);
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
    items.at(-1)?.push(indented ? line.replace(/^(?: {1,4}|\t)/, "") : line);
    if (line.trim()) blank = false;
  }
  const before = meter.nodes;
  meter.nodes += items.length;
  /** @type {Tree[]} */
  const children = [];
  for (const item of items) {
    if (meter.nodes - before > MOST_NODES) break; // it is shown as it was written
    children.push(tree("li", itemOf(item, depth, meter)));
  }
  return [tree(bullet ? "ul" : "ol", children, bullet ? {} : { start: Number(number) }), j - i];
}

/**
 * An item that is one paragraph stands without one, so that a list is as tight as it was written.
 * @param {string[]} lines
 * @param {number} depth
 * @param {Meter} meter
 * @returns {Leaf[]}
 */
function itemOf(lines, depth, meter) {
  return blocksOf(lines, depth + 1, meter).flatMap((block, index) =>
    index === 0 && block.tag === "p" ? block.children : [block],
  );
}

/**
 * How the columns of a table that begins here are aligned; null if none begins.
 * @param {string[]} lines
 * @param {number} i
 * @param {Meter} meter
 */
function columnsAt(lines, i, meter) {
  const under = lines[i + 1] ?? "";
  if (!lines[i].includes("|") || !/^[\s|:-]/.test(under) || !under.includes("-")) return null;
  meter.steps += under.length;
  const columns = cellsOf(under).map((cell) => COLUMN.exec(cell));
  if (columns.length < 2 && !under.includes("|")) return null;
  if (!columns.every((column) => column !== null)) return null;
  return columns.map(([, left, right]) => (right ? (left ? "center" : "right") : ""));
}

/** The cells of a line; a bar with a backslash before it is a cell's own. @param {string} line */
function cellsOf(line) {
  const cells = line.trim().split("|");
  if (cells.length > 1 && !cells[0].trim()) cells.shift();
  if (cells.length > 1 && !cells.at(-1)?.trim()) cells.pop();
  /** @type {string[]} */
  const whole = [];
  let open = false;
  for (const part of cells) {
    if (open) whole[whole.length - 1] += `|${part}`;
    else whole.push(part);
    open = part.endsWith("\\");
  }
  return whole;
}

/**
 * @param {string[]} lines
 * @param {number} i
 * @param {string[]} columns
 * @param {Meter} meter
 * @returns {[Tree, number]}
 */
function tableAt(lines, i, columns, meter) {
  let j = i + 2;
  while (j < lines.length && lines[j].includes("|")) j++;
  /** @param {string} line @param {"th" | "td"} tag */
  const row = (line, tag) => {
    meter.steps += line.length;
    const cells = cellsOf(line).slice(0, columns.length);
    meter.nodes += columns.length + 1;
    return tree(
      "tr",
      columns.map((align, index) => tree(tag, inline(cells[index]?.trim() ?? "", meter), { align })),
    );
  };
  const before = meter.nodes;
  const head = row(lines[i], "th");
  /** @type {Tree[]} */
  const body = [];
  for (const line of lines.slice(i + 2, j)) {
    if (meter.nodes - before > MOST_NODES) break; // it is shown as it was written
    body.push(row(line, "td"));
  }
  return [tree("table", [tree("thead", [head]), tree("tbody", body)]), j - i];
}

/**
 * @param {string[]} lines
 * @param {number} i
 * @param {number} depth
 * @param {Meter} meter
 * @returns {[Tree, number]}
 */
function paragraphAt(lines, i, depth, meter) {
  let j = i + 1;
  for (; j < lines.length && lines[j].trim() && !starts(lines[j], depth); j++) {
    meter.steps += lines[j].length + 1;
    if (columnsAt(lines, j, meter)) break;
  }
  return [tree("p", inline(lines.slice(i, j).join("\n").trimEnd(), meter)), j - i];
}

/** Whether a line ends the paragraph before it. @param {string} line */
function starts(line, depth = 0) {
  const item = depth < DEEPEST ? ITEM.exec(line) : null;
  return (
    fenceOf(line) !== null ||
    headingOf(line) !== null ||
    isRule(line) ||
    (depth < DEEPEST && QUOTE.test(line)) ||
    (item !== null && item[4] !== "")
  );
}
