// What stands within a line of markdown: code, bold, italic, links. It gives small trees of tags
// and strings, and the only address that can become a link is one of http or https.

const TOKEN = /\\([\\`*_{}[\]()#+\-.!|<>~])|(`+)([\s\S]*?[^`])\2(?!`)|!?\[([^\[\]]*)\]\(\s*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)|(https?:\/\/[^\s<>"'`]+)|(\*\*|__)(?=\S)([\s\S]*?\S)\7|(?<![\w*])(\*)(?=[^\s*])([^*]*?[^\s*])\*(?!\*)|(?<![\w_])(_)(?=[^\s_])([^_]*?[^\s_])_(?![\w_])|~~(?=\S)([^~]*?\S)~~|(\n)/g;
const DEEPEST = 6;
const LONGEST = 6000; // a longer paragraph is shown as it is: nobody writes one, and a flood must not cost

/** @returns {(string | {tag: string, children: any[], href?: string})[]} */
export function inline(text, depth = 0) {
  if (depth > DEEPEST || text.length > LONGEST) return broken(text);
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    add(nodes, text.slice(last, found.index));
    for (const node of meant(found, depth)) add(nodes, node);
    last = found.index + found[0].length;
  }
  add(nodes, text.slice(last));
  return nodes;
}

function broken(text) {
  return text.split("\n").flatMap((line, index) => (index ? [element("br", []), line] : [line])).filter((node) => node !== "");
}

/** Neighbouring strings are one, so that a growing text stays the same node. */
function add(nodes, node) {
  if (node === "") return;
  if (typeof node === "string" && typeof nodes.at(-1) === "string") nodes.push(nodes.pop() + node);
  else nodes.push(node);
}

function element(tag, children, href) {
  return href ? { tag, children, href } : { tag, children };
}

function meant(found, depth) {
  const [all, escaped, , code, label, address, bare, , bold, , starred, , scored, struck, newline] = found;
  const within = (tag, text) => [element(tag, inline(text, depth + 1))];
  if (escaped) return [escaped];
  if (code !== undefined) return [element("code", [code.replace(/^ (.*\S.*) $/s, "$1").replace(/\n/g, " ")])];
  if (label !== undefined) return link(broken(label || address), address) ?? [all];
  if (bare) return autolink(bare);
  if (bold !== undefined) return within("strong", bold);
  if (starred !== undefined) return within("em", starred);
  if (scored !== undefined) return within("em", scored);
  if (struck !== undefined) return within("s", struck);
  return newline ? [element("br", [])] : [all];
}

function link(children, address) {
  const href = allowed(address);
  return href && [element("a", children, href)];
}

/** A sentence's own marks at the end of an address are the sentence's. */
function autolink(text) {
  let end = text.replace(/[.,;:!?*_~]+$/, "").length;
  if (text[end - 1] === ")" && !text.slice(0, end).includes("(")) end -= 1;
  const address = text.slice(0, end);
  return [...(link([address], address) ?? [address]), text.slice(end)];
}

function allowed(address) {
  try {
    const url = new URL(address);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
