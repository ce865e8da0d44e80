// What can be typed behind a slash, the same words as in a terminal and an editor (surfaces/commands).
// The page has a control for each, so that is where a command leads.

import { MODES } from "./modes.js";

/**
 * @import { Mode } from "./types.d.ts"
 * @typedef {{
 *   stop(): void,
 *   mode(): Mode,
 *   setMode(mode: Mode): void,
 *   showReceipt(): boolean,
 *   showProcesses(): boolean,
 *   showQueue(): boolean,
 *   showProgram(): boolean,
 *   showUsage(): boolean,
 *   diff(paths: string): void,
 *   undo(paths: string): void,
 *   redo(): void,
 *   again(text: string): void,
 *   rename(title: string): void,
 *   keep(): void,
 *   say(words: string): void,
 * }} Controls
 */

/** @type {Record<string, (controls: Controls, words: string) => void>} */
export const COMMANDS = {
  stop: (controls) => controls.stop(),
  mode: (controls, word) => {
    const mode = MODES.find((one) => one.mode === word)?.mode;
    if (mode) controls.setMode(mode);
    const known = MODES.map((one) => one.mode).join(", ");
    controls.say(
      word && !mode
        ? `${word} is not one of ${known}`
        : `While an answer is being made, a new message: ${controls.mode()}.`,
    );
  },
  receipt: (controls) => controls.showReceipt() || controls.say("Nothing was stopped here."),
  again: (controls, words) => controls.again(words),
  diff: (controls, words) => controls.diff(words),
  undo: (controls, words) => controls.undo(words),
  redo: (controls) => controls.redo(),
  rename: (controls, words) => controls.rename(words),
  cost: (controls) =>
    controls.showUsage() || controls.say("No model was asked here yet, or it did not count."),
  export: (controls) => controls.keep(),
  processes: (controls) => controls.showProcesses() || controls.say("Nothing goes on under an id."),
  queue: (controls) => controls.showQueue() || controls.say("Nothing waits."),
  programs: (controls) => controls.showProgram() || controls.say("No program waits."),
};
const COMMAND = new RegExp(`^/(${Object.keys(COMMANDS).join("|")})(?:\\s+(.*))?$`, "s");

/**
 * Do it, if it is one; any other word behind a slash is said.
 * @param {string} text
 * @param {Controls} controls
 * @returns {boolean} whether it was one
 */
export function command(text, controls) {
  const [, name, words = ""] = COMMAND.exec(text.trim()) ?? [];
  if (!name) return false;
  COMMANDS[name](controls, words.trim());
  return true;
}
