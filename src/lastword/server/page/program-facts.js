// What can become known of a session's programs: where each stands, how it ended, and which of the
// person's answers are on their way. As with every fact, to hear it twice does no harm.

/** @import { Cell, EndedCell, Snapshot, State } from "./types.d.ts" */

const UNTOLD = new Set(["completed", "frozen"]); // it did what it should, or the receipt says it

/**
 * A program began, moved, stood still or ended.
 * @param {State} state
 * @param {Cell} cell
 * @returns {State}
 */
export function programmed(state, cell) {
  if (isOver(cell)) return over(gone(state, cell.id), cell);
  const known = state.cells.some((one) => one.id === cell.id);
  const cells = known
    ? state.cells.map((one) => (one.id === cell.id ? cell : one))
    : [...state.cells, cell];
  return { ...state, cells };
}

/** @param {Cell} cell @returns {cell is EndedCell} */
function isOver(cell) {
  return !!cell.ending;
}

/**
 * Programs of which all is known that there is; only those that ended are news.
 * @param {State} state
 * @param {Cell[]} cells
 */
export function remembered(state, cells) {
  return cells.reduce((next, cell) => (isOver(cell) ? over(next, cell) : next), state);
}

/** @param {State} state @param {EndedCell} cell @returns {State} */
function over(state, cell) {
  const known = state.ended.some((one) => one.id === cell.id);
  if (known || UNTOLD.has(cell.ending.outcome)) return state;
  return { ...state, ended: [...state.ended, cell] };
}

/**
 * A program will not go on, however that came.
 * @param {State} state
 * @param {string} id
 * @returns {State}
 */
export function gone(state, id) {
  return { ...state, cells: state.cells.filter((one) => one.id !== id) };
}

/**
 * The answers were accepted: a run will bring them, unless it is over by now.
 * @param {State} state
 * @param {{cell: string, generation: number, run: string}} sent
 * @returns {State}
 */
export function answering(state, { cell, generation, run }) {
  if (state.over[run]) return state;
  return { ...state, answering: { ...state.answering, [cell]: { generation, run } } };
}

/**
 * That run is over: whatever came of the answers, no others are on their way.
 * @param {State} state
 * @param {string} run
 * @returns {State}
 */
export function delivered(state, run) {
  const left = Object.entries(state.answering).filter(([, one]) => one.run !== run);
  return { ...state, answering: Object.fromEntries(left) };
}

/**
 * Of the answers that were on their way, those that still are.
 * @param {State} state
 * @param {Snapshot} snapshot
 */
export function underWay({ answering: before }, { active, queue }) {
  const runs = new Set([active, ...queue.map((one) => one.run)]);
  return Object.fromEntries(Object.entries(before).filter(([, one]) => runs.has(one.run)));
}

/**
 * The programs that stand still until somebody answers. While the run goes for which one last worked,
 * that may answer by itself, and nobody else's answer would have its turn.
 * @param {State} state
 */
export function standing({ cells, active }) {
  return cells.filter(
    (one) => one.kind === "pausable" && one.standing === "paused" && one.run !== active,
  );
}

/** @param {State} state @param {Cell} cell */
export function isAnswered({ answering: sent }, { id, generation }) {
  return sent[id]?.generation === generation;
}
