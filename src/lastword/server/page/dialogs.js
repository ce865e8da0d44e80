// What comes in front of everything: the list of keys, and the question before something is gone for
// good.

import { button, h } from "./dom.js";
import { runs, withSigns } from "./lines.js";
import { plain } from "./words.js";

/**
 * @import { Shown } from "./changes.js"
 * @import { Session } from "./types.d.ts"
 */

/** @type {[string, string, string]} */
const BACK = ["Take it back", "back", ""];
/** @type {[string, [string, string][]][]} */
const KEYS = [
  [
    "Everywhere",
    [
      ["Esc", "stop what is going; closes a dialog or popup first"],
      ["Ctrl+/  ?", "this list"],
      ["/", "go to the message box"],
      ["PageUp  PageDown", "scroll the conversation"],
      ["Alt+Q", "go to the question or program that waits"],
      ["Alt+N", "new session"],
      ["Alt+S", "go to the sessions"],
    ],
  ],
  [
    "In the message box",
    [
      ["Enter", "send"],
      ["Shift+Enter", "new line"],
      ["Alt+Enter", "queue: it waits for its turn"],
    ],
  ],
  [
    "On a waiting message",
    [
      ["Enter", "edit"],
      ["Alt+←  Alt+→", "move"],
      ["Delete", "remove"],
    ],
  ],
  ["On the timeline", [["←  →", "from mark to mark"]]],
];

export function showKeys() {
  const sections = KEYS.flatMap(([title, rows]) => [
    h("h3", {}, title),
    h(
      "dl",
      {},
      ...rows.flatMap(([keys, what]) => [h("dt", {}, ...keysOf(keys)), h("dd", {}, what)]),
    ),
  ]);
  open("Keys", sections, [["Close", "", "go"]]);
}

/** @param {string} keys */
function keysOf(keys) {
  return keys
    .split("  ")
    .flatMap((combination, index) => [
      index ? " " : null,
      ...combination.split("+").flatMap((key, place) => [place ? "+" : null, h("kbd", {}, key)]),
    ])
    .filter(Boolean);
}

/** @param {Session} session @returns {Promise<boolean>} whether the person means it */
export async function confirmDelete(session) {
  const words = [
    h(
      "p",
      {},
      "“",
      h("b", {}, session.title || session.id),
      "” and its whole log are deleted for good.",
    ),
    ...(session.busy
      ? [h("p", {}, "Something is going in it. That is stopped first, processes included.")]
      : []),
  ];
  return (
    (await open("Delete this session?", words, [
      ["Keep it", "", ""],
      ["Delete", "delete", "stop"],
    ])) === "delete"
  );
}

/**
 * @param {Session} session
 * @returns {Promise<string | null>} what it is to be called; null, if as before
 */
export async function askTitle({ title }) {
  const field = h("input", { "aria-label": "Title", maxlength: "200", class: "field" });
  field.value = title;
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault(); // else it presses whatever has the focus next
    field.closest("dialog")?.close("rename");
  });
  const words = [field, h("p", { class: "fine" }, "Empty, it is called by its first message.")];
  const told = open("Rename this session", words, [
    ["Cancel", "", ""],
    ["Rename", "rename", "go"],
  ]);
  field.focus(); // one can type at once
  field.select();
  return (await told) === "rename" ? field.value.trim() : null;
}

/** @returns {Promise<boolean>} whether the person means it */
export async function confirmEnd() {
  const words = [
    h("p", {}, "It does not go on, and what it waits for is never called."),
    h("p", {}, "Calls that it made before stay made."),
  ];
  return (
    (await open("End this program?", words, [
      ["Let it wait", "", ""],
      ["End it", "end", "stop"],
    ])) === "end"
  );
}

/**
 * What an answer changed in files, line by line.
 * @param {string} title
 * @param {Shown[]} files
 * @param {string[]} notes
 * @param {boolean} there whether it can be taken back: it was not yet
 * @returns {Promise<boolean>} whether it is to be as it was before
 */
export async function showChanges(title, files, notes, there) {
  const nodes = files.flatMap((one) => [
    h("h3", {}, one.title),
    one.lines.length > 0 &&
      h(
        "pre",
        { class: "lines diff", tabindex: "0", role: "region", "aria-label": one.title },
        ...runs(withSigns(one.lines)),
      ),
  ]);
  const words = [...nodes.filter((one) => one !== false), ...notes.map((one) => h("p", {}, plain(one)))];
  const back = await open(title, words, [
    ["Close", "", "go"],
    ...(there ? [BACK] : []),
  ]);
  return back === "back";
}

/**
 * @param {string} title
 * @param {Node[]} nodes
 * @param {[string, string, string][]} choices
 * @returns {Promise<string>}
 */
function open(title, nodes, choices) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const heading = h("h2", { id: "dialog-title" }, title);
  const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, heading, ...nodes);
  const buttons = choices.map(([label, value, look]) =>
    button(label, () => dialog.close(value), { class: look }),
  );
  dialog.append(h("div", { class: "choices" }, ...buttons));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(""));
  document.body.append(dialog);
  dialog.showModal();
  buttons[0].focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus();
      resolve(dialog.returnValue);
    });
  });
}
