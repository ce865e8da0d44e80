// A box of code: above it what it is written in, and a button that copies it.

import { copyButton } from "./clipboard.js";
import { h, say, set } from "./dom.js";
import { following } from "./pieces.js";

/**
 * @param {() => string} textOf what is copied; as drawn, but for its last line's end
 * @returns {{box: HTMLElement, pre: HTMLPreElement}}
 */
export function codeBox(textOf) {
  const pre = following(h("pre", { tabindex: "0" }));
  const copy = copyButton(() => textOf().replace(/\n$/, ""), "this code");
  const box = h("div", { class: "code" }, h("div", { class: "bar" }, h("span"), copy), pre);
  return { box, pre };
}

/** @param {Element} box @returns {HTMLElement} what has the code in it */
export function preOf(box) {
  return /** @type {HTMLElement} */ (box.lastChild);
}

/** Say what it is written in. @param {Element} box @param {string} [language] */
export function speak(box, language) {
  if (!language) return;
  set(preOf(box), { "data-language": language });
  const words = box.firstElementChild?.firstElementChild;
  if (words) say(words, language);
}
