// Who this page is to the server: a key that it was given for a link, or a token that somebody typed.
// It is kept for this origin and path, so that a reload and another tab have it too, and goes along
// in a header. A cookie would be given to every server of the same machine, whatever its port.

import { remember, remembered } from "./memory.js";

const NAME = `key of ${location.pathname}`;
const LINK = /^#key=([\w-]+)$/;
let held = remembered(NAME) ?? "";

/** @returns {Record<string, string>} the header that says who asks */
export function bearer(key = held) {
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/** @param {string} key */
export function keep(key) {
  held = key;
  remember(NAME, key);
}

export function isLink() {
  return LINK.test(location.hash);
}

/** What the address says of a link, which is then gone from it: it is nobody else's to see. */
export async function taken() {
  const found = LINK.exec(location.hash);
  if (!found) return "";
  history.replaceState(null, "", location.pathname + location.search);
  if (document.prerendering)
    await new Promise((seen) =>
      document.addEventListener("prerenderingchange", seen, { once: true }),
    );
  return found[1];
}

/** Whoever signs in in another tab is who asks here, too. */
window.addEventListener("storage", ({ key, newValue }) => {
  if (key === `lastword ${NAME}` && newValue && newValue !== held) location.reload();
});
