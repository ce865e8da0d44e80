// JSON that may be long, read a little at a time: a session that is opened comes as one event, which
// may have megabytes, and JSON.parse would keep the page from listening until it has read them all.

const SHORT = 200_000; // characters that are read in no time
const EACH = 400_000; // steps in one task; a step is a character looked at
const VALUE = 60; // steps that it takes to make a value
const BLANK = /[ \t\n\r]*/y;
const PLAIN = /[^\s,\]}]+/y; // a number, true, false or null

/** @param {string} text @returns {Promise<any>} what JSON.parse would give */
export async function parsed(text) {
  if (text.length <= SHORT) return JSON.parse(text);
  const reader = new Reader(text);
  while (!reader.read(EACH)) await nextTask();
  return reader.value;
}

/** Of a page that nobody sees timers are slow, and messages are not. */
function nextTask() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((go) => {
    port1.onmessage = () => {
      port1.close();
      go(null);
    };
    port2.postMessage(0);
  });
}

/** Where one is in a text: the lists and objects that were begun, and what they have so far. */
export class Reader {
  /** @type {unknown} */
  value;
  #text;
  #at = 0;
  /** @type {(unknown[] | Record<string, unknown>)[]} */
  #begun = []; // of lists and objects, the innermost last
  /** @type {(string | null)[]} */
  #keys = []; // under which each of those comes into the one around it
  #first = true; // whether what comes is the first of what was begun
  #over = false;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
  }

  /**
   * Take so many steps, or a few more. @returns {boolean} whether all is read
   * @param {number} steps
   */
  read(steps) {
    let left = steps;
    while (!this.#over && left > 0) {
      const from = this.#at;
      this.#next();
      left -= this.#at - from + VALUE;
    }
    return this.#over;
  }

  /** One value, or the beginning or end of a list or an object. */
  #next() {
    const inner = this.#begun.at(-1);
    const list = Array.isArray(inner);
    if (inner && this.#takes(list ? "]" : "}")) return this.#end();
    if (inner && !this.#first) this.#must(",");
    const key = inner && !list ? this.#key() : null;
    if (this.#takes("[")) this.#begin([], key);
    else if (this.#takes("{")) this.#begin({}, key);
    else this.#put(this.#leaf(), key);
  }

  /** @param {unknown[] | Record<string, unknown>} value @param {string | null} key */
  #begin(value, key) {
    this.#first = true;
    this.#begun.push(value);
    this.#keys.push(key);
  }

  #end() {
    this.#put(this.#begun.pop(), this.#keys.pop());
  }

  /** @param {unknown} value @param {string | null | undefined} key */
  #put(value, key) {
    this.#first = false;
    const inner = this.#begun.at(-1);
    if (Array.isArray(inner)) inner.push(value);
    else if (inner) own(inner, key ?? "", value);
    else {
      this.value = value;
      this.#skip();
      if (this.#at < this.#text.length) throw this.#wrong();
      this.#over = true;
    }
  }

  #key() {
    this.#skip();
    if (this.#text[this.#at] !== '"') throw this.#wrong();
    const key = this.#leaf();
    this.#must(":");
    return key;
  }

  /** @returns {any} a string, a number, true, false or null */
  #leaf() {
    this.#skip();
    const from = this.#at;
    if (this.#text[from] === '"') this.#at = this.#quoteAfter(from) + 1;
    else this.#at += found(PLAIN, this.#text, from);
    return JSON.parse(this.#text.slice(from, this.#at)); // a copy: the whole text need not stay
  }

  /** @param {number} from */
  #quoteAfter(from) {
    for (let end = this.#text.indexOf('"', from + 1); end > 0; end = this.#text.indexOf('"', end + 1)) {
      let before = end;
      while (this.#text[before - 1] === "\\") before--;
      if ((end - before) % 2 === 0) return end;
    }
    throw this.#wrong();
  }

  /** @param {string} mark */
  #takes(mark) {
    this.#skip();
    const there = this.#text[this.#at] === mark;
    if (there) this.#at++;
    return there;
  }

  /** @param {string} mark */
  #must(mark) {
    if (!this.#takes(mark)) throw this.#wrong();
  }

  #skip() {
    this.#at += found(BLANK, this.#text, this.#at);
  }

  #wrong() {
    return new SyntaxError(`this is not JSON, at character ${this.#at}`);
  }
}

/** @param {RegExp} pattern @param {string} text @param {number} at */
function found(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/**
 * Also under a name that means something to objects.
 * @param {Record<string, unknown>} object
 * @param {string} key
 * @param {unknown} value
 */
function own(object, key, value) {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}
