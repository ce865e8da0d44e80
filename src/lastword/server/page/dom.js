// How the page makes nodes. There is no other way in here for a text to become visible than a
// text node: what a model or a tool wrote is never read as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element. A property is an attribute, `on` holds listeners, and false or null leaves one out.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null | false | undefined)} children
 * @returns {any}
 */
export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** The same for a drawing. */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  set(element, properties);
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** Set attributes that differ, so that nothing is touched that stays as it is. */
export function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else if (value === null || value === undefined || value === false) {
      element.removeAttribute(name);
    } else {
      const text = value === true ? "" : String(value);
      if (element.getAttribute(name) !== text) element.setAttribute(name, text);
    }
  }
  return element;
}

/** Give a node this text, if it has another. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return element;
}

/**
 * Make these the children, in this order. What stays is not moved: a moved node loses its focus,
 * its selection and its scroll position.
 */
export function arrange(parent, nodes) {
  const kept = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!kept.has(child)) child.remove();
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
}

/** Views by key: made once, kept while their key is there, and forgotten after that. */
export class Keyed {
  #views = new Map();

  /** The view of each thing, made by `make` where there is none. */
  of(things, keyOf, make) {
    const before = this.#views;
    this.#views = new Map();
    for (const thing of things) {
      const key = keyOf(thing);
      this.#views.set(key, before.get(key) ?? make(thing));
    }
    return [...this.#views.values()];
  }

  get(key) {
    return this.#views.get(key);
  }
}

/** A button with words, or with a picture and words that are only read aloud. */
export function button(label, listener, properties = {}, icon = null) {
  const named = icon ? { "aria-label": label, title: label } : {};
  return h(
    "button",
    { type: "button", ...named, ...properties, on: { click: listener } },
    icon ?? label,
  );
}
