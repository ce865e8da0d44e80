// What stands within a line of markdown: code, bold, italic, links. It gives small trees of tags
// and strings, and the only address that can become a link is one of http or https.

const TOKEN = new RegExp(
  [
    "\\\\(?<escaped>[\\\\`*_{}[\\]()#+\\-.!|<>~])",
    "(?<ticks>`+)(?<code>[\\s\\S]*?[^`])\\k<ticks>(?!`)",
    '!?\\[(?<label>[^[\\]]*)\\]\\(\\s*<?(?<address>[^\\s<>()]*(?:\\([^\\s<>()]*\\)[^\\s<>()]*)*)>?(?:\\s+"[^"]*")?\\s*\\)',
    "(?<bare>https?:\\/\\/[^\\s<>\"'`]+)",
    "(?<marks>\\*\\*|__)(?=\\S)(?<bold>[\\s\\S]*?\\S)\\k<marks>",
    "(?<![\\w*])\\*(?=[^\\s*])(?<starred>[^*]*?[^\\s*])\\*(?!\\*)",
    "(?<![\\w_])_(?=[^\\s_])(?<scored>[^_]*?[^\\s_])_(?![\\w_])",
    "~~(?=\\S)(?<struck>[^~]*?\\S)~~",
    "\\n",
  ].join("|"),
  "g",
);
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
  return text
    .split("\n")
    .flatMap((line, index) => (index ? [element("br", []), line] : [line]))
    .filter((node) => node !== "");
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
  const { escaped, code, label, address, bare, bold, starred, scored, struck } = found.groups;
  const within = (tag, text) => [element(tag, inline(text, depth + 1))];
  if (escaped) return [escaped];
  if (code !== undefined) return [element("code", [unpadded(code)])];
  if (label !== undefined) return link(broken(label || address), address) ?? [found[0]];
  if (bare) return autolink(bare);
  if (bold !== undefined) return within("strong", bold);
  if (struck !== undefined) return within("s", struck);
  const slanted = starred ?? scored;
  return slanted === undefined ? [element("br", [])] : within("em", slanted);
}

/** A space at either end is there to keep a tick from the ticks. */
function unpadded(code) {
  return code.replace(/^ (.*\S.*) $/s, "$1").replace(/\n/g, " ");
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
