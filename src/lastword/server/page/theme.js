// As the system has it, or as the person chose. The page waits for this module before it is
// painted, so that a dark one does not flash up white.

import { remember, remembered } from "./memory.js";

/** @import { Theme } from "./types.d.ts" */

/** @type {Theme[]} */
const ORDER = ["auto", "light", "dark"];

export function theme() {
  const chosen = remembered("theme");
  return ORDER.find((one) => one === chosen) ?? "auto";
}

function applyTheme() {
  const chosen = theme();
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function nextTheme() {
  remember("theme", ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length]);
  applyTheme();
}

applyTheme();
