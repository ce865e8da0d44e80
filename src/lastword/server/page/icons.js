// The few pictures, drawn as strokes on a grid of 16 so that they take the colour of the text.

import { svg } from "./dom.js";

const PATHS = {
  plus: "M8 3.5v9M3.5 8h9",
  close: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  send: "M8 13V3.5M4 7.2L8 3.2l4 4",
  down: "M8 3v9.5M4 8.8l4 4 4-4",
  grip: "M6 4.2v.01M6 8v.01M6 11.8v.01M10 4.2v.01M10 8v.01M10 11.8v.01",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  fold: "M4.5 6.2L8 9.8l3.5-3.6",
  sun: "M8 5.2a2.8 2.8 0 110 5.6 2.8 2.8 0 010-5.6M8 1.6v1M8 13.4v1M1.6 8h1M13.4 8h1M3.5 3.5l.7.7M11.8 11.8l.7.7M3.5 12.5l.7-.7M11.8 4.2l.7-.7",
  moon: "M12.8 9.7A5.3 5.3 0 016.3 3.2a5.3 5.3 0 106.5 6.5z",
  auto: "M8 2.6a5.4 5.4 0 110 10.8A5.4 5.4 0 018 2.6zM8 2.8v10.4M8 5h4.3M8 8h5.2M8 11h4.3",
  keys: "M2 4.5h12v7H2zM4.5 7v.01M7 7v.01M9.5 7v.01M12 7v.01M5 9.5h6",
  clip: "M12.6 7.4l-5 5a2.9 2.9 0 01-4.1-4.1l5.4-5.4a1.9 1.9 0 012.7 2.7l-5.2 5.2a.9.9 0 01-1.3-1.3l4.6-4.6",
  more: "M3.5 8v.01M8 8v.01M12.5 8v.01",
  warn: "M8 2.8l5.8 10.2H2.2zM8 6.7v3M8 11.4v.01",
};

/**
 * A picture that says nothing by itself: whoever uses it gives the words.
 * @param {keyof typeof PATHS} name
 */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: PATHS[name] }),
  );
}

/** The one mark of a stop: a filled square. */
export function square() {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", class: "icon square", "aria-hidden": "true", focusable: "false" },
    svg("rect", { x: 3.5, y: 3.5, width: 9, height: 9, rx: 1.6 }),
  );
}
