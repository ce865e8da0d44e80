// The keys that work everywhere. Esc stops, unless something is open in front: then it closes that.

import { showKeys } from "./dialogs.js";
import { closeMenu } from "./menu.js";

/** @import { Parts } from "./types.d.ts" */

/**
 * @param {{
 *   stop: () => void,
 *   parts: Parts,
 *   create: () => void,
 *   closeDrawer: () => boolean,
 * }} doing
 */
export function listenForKeys({ stop, parts, create, closeDrawer }) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]"))
      return;
    if (event.key === "Escape") {
      event.preventDefault();
      if (!closeMenu() && !parts.head.closePopup() && !closeDrawer()) stop();
    } else if (event.key === "PageUp" || event.key === "PageDown") {
      event.preventDefault();
      parts.conversation.page(event.key === "PageUp" ? -1 : 1);
    } else if (event.key === "/" && event.ctrlKey) {
      event.preventDefault();
      showKeys();
    } else if (event.altKey && !event.ctrlKey && !event.metaKey) {
      const go = {
        KeyQ: () => parts.conversation.focusQuestion(),
        KeyN: create,
        KeyS: () => parts.sessions.focus(),
      }[event.code];
      if (!go) return;
      event.preventDefault();
      go();
    } else if (!writes(event.target) && !event.ctrlKey && !event.metaKey) {
      if (event.key === "?") showKeys();
      else if (event.key === "/") parts.composer.focus();
      else return;
      event.preventDefault();
    }
  });
}

/** @param {EventTarget | null} target */
function writes(target) {
  return target instanceof Element && target.closest("textarea, input, select") !== null;
}
