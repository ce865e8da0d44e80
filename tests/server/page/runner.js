// Runs what the tests of the page ask, in Node: a line of JSON for each script, and one for what came
// of it. There is a document, so that nodes can be made and looked at, and no screen: nothing has a
// size or a place, and nothing is ever drawn.

import process from "node:process";
import { createInterface } from "node:readline";

const [, , library] = process.argv;
const { parseHTML } = await import(library);
const { document, HTMLElement, customElements } = parseHTML("<!doctype html><body></body>");

Object.assign(globalThis, { document, HTMLElement, customElements, window: globalThis });
globalThis.location = new URL("http://page.test/");
globalThis.addEventListener = () => {}; // nobody else signs in

const tell = (outcome) => process.stdout.write(`${JSON.stringify(outcome)}\n`);
const wrong = (error) => tell({ wrong: String(error?.stack ?? error) });

process.on("uncaughtException", wrong); // in a timer, of which no script hears

for await (const line of createInterface({ input: process.stdin })) {
  const { script, argument } = JSON.parse(line);
  const run = eval(script); // eslint-disable-line no-eval -- the tests' own: that is what this is for
  await Promise.resolve(argument)
    .then(run)
    .then((value) => tell({ value: value ?? null }), wrong);
}
