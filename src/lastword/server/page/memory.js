// What the page remembers in this browser: drafts, the theme, how the timeline is folded.

/**
 * Storage may be refused to a page; then a reload forgets, and nothing else is lost.
 * @param {string} name
 */
export function remembered(name) {
  try {
    return localStorage.getItem(`lastword ${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value */
export function remember(name, value) {
  try {
    if (value) localStorage.setItem(`lastword ${name}`, value);
    else localStorage.removeItem(`lastword ${name}`);
  } catch {
    // see above
  }
}
