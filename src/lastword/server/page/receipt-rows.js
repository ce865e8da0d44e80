// A receipt's rows, as far as the page has to choose among them: they are worded by the server.

/** @import { Row } from "./told.d.ts" */
/** @import { Item, Receipt } from "./types.d.ts" */

/**
 * An item as it is drawn. The log keeps a receipt as it was written: once that is settled, what was
 * still ending then is not any more.
 * @param {Item} item
 * @returns {Item}
 */
export function known(item) {
  if (item.kind !== "receipt" || !item.settled || item.receipt.quiet) return item;
  const { unconfirmed } = item.receipt;
  const receipt = { ...item.receipt, quiet: true, took: 0, unconfirmed: [], later: unconfirmed };
  return { ...item, receipt };
}

/**
 * The rows that still hold: of what was ending when a receipt was written, and has ended since, the
 * log cannot tell.
 * @param {Receipt} receipt
 * @returns {Row[]}
 */
export function rowsOf({ rows, later }) {
  return later ? rows.filter(({ kind }) => kind !== "ending" && kind !== "quiet") : rows;
}

/** What was ended, and whether all is quiet. @param {Row[]} rows */
export function headline(rows) {
  return rows
    .filter((row) => !row.label)
    .map((row) => row.words)
    .join(", ");
}

/** What a person should hear of without asking. @param {Row[]} rows */
export function noteworthy(rows) {
  return rows.filter((row) => row.label && row.tone !== "fine");
}

/** @param {Row} row */
export function rowLine(row) {
  return `${row.label}: ${row.brief}`;
}
