// As the system has it, or as the person chose. It is a module of its own that is loaded first, so
// that a dark page does not flash up white.

import { remember, remembered } from "./composer.js";

const ORDER = ["auto", "light", "dark"];

export function theme() {
  const chosen = remembered("theme");
  return ORDER.includes(chosen) ? chosen : "auto";
}

export function applyTheme() {
  const chosen = theme();
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function nextTheme() {
  remember("theme", ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length]);
  applyTheme();
}
