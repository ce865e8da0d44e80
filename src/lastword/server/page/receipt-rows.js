// A receipt's rows, as far as the page has to choose among them: they are worded by the server.

/** @import { Row } from "./told.d.ts" */

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
