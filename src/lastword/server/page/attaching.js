// Files that are to go with the next message: by the button, by paste or by drop. They are shown
// before they are sent, and what cannot go is refused with the limit.

import { arrange, button, h, say } from "./dom.js";
import { icon } from "./icons.js";
import { short } from "./words.js";

/** @import { AttachmentIn } from "./told.d.ts" */
/** @typedef {AttachmentIn & {name: string, size: number}} Attached */

const MOST = 20; // files of a message, as the server takes them
const ROOM = 5_500_000; // bytes of all of them: a request has room for 8 MiB, and they grow by a third
const PICTURE = 3_900_000; // bytes of one, as providers take them
const READ = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]);

export class Attaching {
  /** @type {Map<string, Attached[]>} */
  #files = new Map(); // by session
  #session = "";
  #list = h("ul", { class: "files", "aria-label": "Attached", hidden: true });
  #input = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1" });
  #changed;
  #refused;
  press = button("Attach files", () => this.#input.click(), { class: "bare attach" }, icon("clip"));
  element = h("div", {}, this.#list, this.#input);

  /** @param {() => void} changed @param {(why: string) => void} refused */
  constructor(changed, refused) {
    this.#changed = changed;
    this.#refused = refused;
    this.#input.addEventListener("change", async () => {
      await this.add([...(this.#input.files ?? [])]);
      this.#input.value = "";
    });
  }

  /** Files that are pasted or dropped here are for the next message. @param {HTMLElement} place */
  listen(place) {
    place.addEventListener("paste", (event) => this.#take(event, event.clipboardData));
    place.addEventListener("drop", (event) => this.#take(event, event.dataTransfer));
    place.addEventListener("dragover", (event) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    });
  }

  /** @param {Event} event @param {DataTransfer | null} data */
  #take(event, data) {
    if (!data?.files.length || this.press.disabled) return;
    event.preventDefault();
    this.add([...data.files]);
  }

  /** @param {string} session */
  turnTo(session) {
    if (!this.#session) this.#files.set(session, this.here);
    this.#session = session;
    this.#draw();
  }

  /** What goes with the next message. @returns {Attached[]} */
  get here() {
    return this.#files.get(this.#session) ?? [];
  }

  /** They go, or come back. @param {Attached[]} files */
  put(files, session = this.#session) {
    this.#files.set(session, files);
    this.#draw();
  }

  /** @param {File[]} files */
  async add(files) {
    const session = this.#session;
    const refused = [];
    for (const file of files) {
      const there = this.#files.get(session) ?? [];
      const room = ROOM - there.reduce((sum, one) => sum + one.size, 0);
      const read = there.length < MOST ? await attachment(file, room) : `${MOST} files at most`;
      if (typeof read === "string") refused.push(`${short(file.name, 40)}: ${read}`);
      else this.put([...(this.#files.get(session) ?? []), read], session);
    }
    if (refused.length) this.#refused(`${refused.join("; ")}.`);
  }

  #draw() {
    const all = this.here;
    this.#list.hidden = !all.length;
    arrange(
      this.#list,
      all.map((one) => this.#chip(one)),
    );
    this.#changed();
  }

  /** @param {Attached} one */
  #chip(one) {
    const away = () => {
      this.put(this.here.filter((other) => other !== one));
      this.press.focus();
    };
    const close = button(`Leave ${one.name} out`, away, { class: "bare" }, icon("close"));
    const name = say(h("span", { title: one.name }), short(one.name, 40));
    return h("li", {}, name, h("small", {}, inWords(one.size)), close);
  }
}

/**
 * A file as a message takes it; or in words, why it cannot go.
 * @param {File} file
 * @param {number} room bytes that are left
 * @returns {Promise<Attached | string>}
 */
async function attachment(file, room) {
  if (file.size > room) return `${inWords(file.size)}, and ${inWords(ROOM)} go with one message`;
  const bytes = await file.arrayBuffer().catch(() => null);
  if (!bytes) return "it cannot be read; a folder goes file by file";
  if (!bytes.byteLength) return "it is empty";
  const { name, size } = file;
  const kind = file.type.split(";")[0];
  if (kind.startsWith("image/") && size > PICTURE)
    return `${inWords(size)}, and a picture has ${inWords(PICTURE)} at most`;
  if (READ.has(kind)) return { name, size, media_type: kind, data: base64(new Uint8Array(bytes)) };
  const text = textOf(bytes);
  if (text === null) return "no model reads such files; text, pictures and PDF go";
  return { name, size, media_type: kind.startsWith("text/") ? kind : "text/plain", data: text };
}

/** @param {ArrayBuffer} bytes */
function textOf(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 0x8000)
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(""));
}

/** @param {number} size bytes */
function inWords(size) {
  if (size < 1000) return `${size} B`;
  return size < 1e6 ? `${Math.round(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}
