// The colours that code has: few, so that it stays calm. Style.css has one of each name.

/** @type {{name: string, scopes: Set<string>}[]} the names that highlight.js gives to what it finds */
export const KINDS = [
  { name: "word", scopes: new Set(["keyword", "selector-tag", "doctag", "bullet"]) },
  { name: "text", scopes: new Set(["string", "regexp", "char", "link", "code", "quote"]) },
  { name: "aside", scopes: new Set(["comment", "meta"]) },
  { name: "value", scopes: new Set(["number", "literal", "symbol", "variable", "attribute", "attr"]) },
  { name: "name", scopes: new Set(["title", "function", "type", "built_in", "name", "section"]) },
  { name: "come", scopes: new Set(["addition"]) },
  { name: "gone", scopes: new Set(["deletion"]) },
];
