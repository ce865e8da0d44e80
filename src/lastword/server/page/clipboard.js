// What is on the page, as it was written, into the clipboard.

import { button, h, say } from "./dom.js";

const LASTS = 1600; // ms that a button says what it has done

/**
 * A button that copies a text, and says so in its own place.
 * @param {() => string} textOf
 * @param {string} what it copies, for whoever does not see what it stands at
 */
export function copyButton(textOf, what) {
  let timer = 0;
  const one = button("Copy", () => copied(), { class: "plain copy", "aria-label": `Copy ${what}` });
  const copied = async () => {
    const done = await copy(textOf());
    clearTimeout(timer);
    say(one, done ? "Copied" : "Not copied");
    one.ariaLabel = done ? `Copied ${what}` : `This browser did not let the page copy ${what}`;
    timer = setTimeout(() => {
      say(one, "Copy");
      one.ariaLabel = `Copy ${what}`;
    }, LASTS);
  };
  return one;
}

/** @param {string} text @returns {Promise<boolean>} whether it is there */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byHand(text); // over plain HTTP, from another machine, there is no other way
  }
}

/** @param {string} text */
function byHand(text) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const area = h("textarea", { class: "unseen" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus({ preventScroll: true });
  return done;
}
