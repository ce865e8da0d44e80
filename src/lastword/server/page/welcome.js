// What stands where nothing was said yet: what this is, and what to try with the agent that is here.

import { h } from "./dom.js";

/** @typedef {{about: string, tries: string[][]}} Words */

/** @type {Words} */
const REHEARSAL = {
  about:
    "The agent here is a rehearsal: it follows plain rules, needs no key, and what it does through tools is real. Try:",
  tries: [
    ["count to 500", "a long answer, to stop in the middle"],
    ["story", "two hundred words about a stop"],
    ["run sleep 60", "a process that ends when you say so"],
    ["badly: flood", "an agent that will not stop by itself"],
  ],
};
/** @type {Words} */
const MODEL = {
  about: "",
  tries: [
    ["What is in this folder?", "it looks, and says what it did"],
    ["Run the tests, and explain what fails", "tools and processes, all of which you can stop"],
    ["Write a haiku about stopping", "words only"],
  ],
};
// an engine of somebody's own: nothing is known of what it can do
/** @type {Words} */
const OWN = {
  about: "What answers here was set up by whoever runs this server. Ask it what it can do.",
  tries: [],
};
/** @type {Words} */
const NOBODY = { about: "", tries: [] }; // as far as this page knows: it is not signed in

/** @param {{agent: string} | null} me @param {(words: string) => void} suggest */
export function welcome(me, suggest) {
  const { about, tries } = me ? here(me.agent) : NOBODY;
  return [
    h("h2", {}, "You have the last word."),
    me ? how() : h("p", {}, "Sign in above, and say something."),
    ...(about ? [h("p", { class: "fine" }, about)] : []),
    ...(tries.length ? [h("ul", { class: "tries" }, ...tries.map(suggestion(suggest)))] : []),
  ];
}

/** Where there are keys, by a key; on glass, by what is on it. */
function how() {
  return h(
    "p",
    {},
    "Say something. ",
    h("span", { class: "keyed" }, "Press ", h("kbd", {}, "Esc")),
    h("span", { class: "touched" }, "Tap ", h("b", {}, "Stop")),
    " at any moment, or simply say something else, and what was going does nothing more. You get a receipt of what was ended.",
  );
}

/** @param {string} agent */
function here(agent) {
  if (agent === "rehearsal") return REHEARSAL;
  return agent ? MODEL : OWN;
}

/** @param {(words: string) => void} suggest @returns {(tried: string[]) => Node} */
function suggestion(suggest) {
  return ([words, what]) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", on: { click: () => suggest(words) } },
        h("b", {}, words),
        h("span", {}, what),
      ),
    );
}
