// What a new message does to an answer that is going, in words.

/** @import { Mode } from "./types.d.ts" */

/** @type {{mode: Mode, name: string, line: string, place: string, hint: string}[]} */
export const MODES = [
  {
    mode: "takeover",
    name: "takes over",
    line: "what is going stops, and this is answered now",
    place: "Say something; it takes over at once",
    hint: "takes over: what is going stops",
  },
  {
    mode: "queue",
    name: "waits its turn",
    line: "it is answered after what is going",
    place: "Say something; it waits for its turn",
    hint: "waits its turn",
  },
  {
    mode: "steer",
    name: "steers",
    line: "what is going takes it up at its next step",
    place: "Add something; the answer that is going takes it up",
    hint: "joins what is going at its next step",
  },
  {
    mode: "collect",
    name: "is collected",
    line: "it is answered together with what follows",
    place: "Say something; it is gathered with what follows",
    hint: "is answered together with what follows",
  },
  {
    mode: "rollback",
    name: "rolls back",
    line: "what is going stops, and the model forgets the turn it replaces",
    place: "Say it again, better; the old turn is forgotten",
    hint: "takes over; the model forgets the turn it replaces",
  },
  {
    mode: "refuse",
    name: "only if idle",
    line: "it is not sent while something is going",
    place: "Say something; it is refused while something is going",
    hint: "is refused while something is going",
  },
];

/** @param {string | null} name */
export function modeOf(name) {
  return MODES.find(({ mode }) => mode === name) ?? MODES[0];
}
