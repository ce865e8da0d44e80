// A session's programs: where each stands, how it ended, and which of the person's answers are on
// their way to one.

/** @import { Answering, Cell, EndedCell, State } from "./types.d.ts" */

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
 * The programs that stand still until somebody answers. While the run goes for which one last worked,
 * that may answer by itself, and nobody else's answer would have its turn.
 * @param {State} state
 */
export function standing({ cells, active }) {
  return cells.filter(
    (one) => one.kind === "pausable" && one.standing === "paused" && one.run !== active,
  );
}

/**
 * Whether answers are on their way: a run will bring them, and is not over yet.
 * @param {State} state
 * @param {Cell} cell
 */
export function isAnswered(state, { id, generation }) {
  const sent = state.answering[id];
  if (sent?.generation !== generation) return false;
  return !state.messages[sent.message] || isUnderWay(state, sent);
}

/** @param {Pick<State, "active" | "queue" | "pending">} state @param {Answering} sent */
export function isUnderWay({ active, queue, pending }, { run, message }) {
  return active === run || pending.includes(message) || queue.some((one) => one.run === run);
}
