// How the page makes nodes. There is no other way in here for a text to become visible than a
// text node: what a model or a tool wrote is never read as markup.

/** @import { Child, Listeners, Properties } from "./types.d.ts" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element. A property is an attribute, `on` holds listeners, and false or null leaves one out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/**
 * The same for a drawing.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Properties} properties
 * @param {Child[]} children
 * @returns {E}
 */
function filled(element, properties, children) {
  set(element, properties);
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/**
 * Set attributes that differ, so that nothing is touched that stays as it is.
 * @template {Element} E
 * @param {E} element
 * @param {Properties} properties
 * @returns {E}
 */
export function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") {
      listen(element, /** @type {Listeners} */ (value));
    } else if (value === null || value === undefined || value === false) {
      element.removeAttribute(name);
    } else {
      const text = value === true ? "" : String(value);
      if (element.getAttribute(name) !== text) element.setAttribute(name, text);
    }
  }
  return element;
}

/** @param {Element} element @param {Listeners} listeners */
function listen(element, listeners) {
  for (const [event, listener] of Object.entries(listeners))
    element.addEventListener(event, /** @type {EventListener} */ (listener));
}

/**
 * Give a node this text, if it has another.
 * @template {Node} N
 * @param {N} element
 * @param {string} text
 * @returns {N}
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return element;
}

/**
 * Make these the children, in this order. What stays is not moved: a moved node loses its selection
 * and its scroll position, and would lose the focus.
 * @param {Element} parent
 * @param {Node[]} nodes
 */
export function arrange(parent, nodes) {
  const kept = new Set(nodes);
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  for (const child of [...parent.childNodes]) if (!kept.has(child)) child.remove();
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
  if (focused instanceof HTMLElement && focused !== document.activeElement)
    focused.focus({ preventScroll: true }); // of what is gone, nothing happens
}

/**
 * Views by key: made once, kept while their key is there, and forgotten after that.
 * @template T what is viewed
 * @template V its view
 */
export class Keyed {
  /** @type {Map<string, V>} */
  #views = new Map();

  /**
   * The view of each thing, made by `make` where there is none.
   * @param {T[]} things
   * @param {(thing: T) => string} keyOf
   * @param {(thing: T) => V} make
   */
  of(things, keyOf, make) {
    const before = this.#views;
    this.#views = new Map();
    for (const thing of things) {
      const key = keyOf(thing);
      this.#views.set(key, before.get(key) ?? make(thing));
    }
    return [...this.#views.values()];
  }

  /** @param {string} key */
  get(key) {
    return this.#views.get(key);
  }
}

/**
 * The nearest of these around what an event is about; null if there is none.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function around({ target }, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

/**
 * A button with words, or with a picture and words that are only read aloud.
 * @param {string} label
 * @param {(click: MouseEvent) => void} listener
 * @param {Properties} [properties]
 * @param {Element | null} [icon]
 */
export function button(label, listener, properties = {}, icon = null) {
  const named = icon ? { "aria-label": label, title: label } : {};
  return h(
    "button",
    { type: "button", ...named, ...properties, on: { click: listener } },
    icon ?? label,
  );
}
