// What can become known of a session's programs: where each stands, how it ended, and which of the
// person's answers are on their way. As with every fact, to hear it twice does no harm.

const UNTOLD = new Set(["completed", "frozen"]); // it did what it should, or the receipt says it

/** A program began, moved, stood still or ended. */
export function programmed(state, cell) {
  if (cell.ending) return over(gone(state, cell.id), cell);
  const known = state.cells.some((one) => one.id === cell.id);
  const cells = known
    ? state.cells.map((one) => (one.id === cell.id ? cell : one))
    : [...state.cells, cell];
  return { ...state, cells };
}

/** Programs of which all is known that there is; only those that ended are news. */
export function remembered(state, cells) {
  return cells.filter((cell) => cell.ending).reduce(over, state);
}

function over(state, cell) {
  const known = state.ended.some((one) => one.id === cell.id);
  if (known || UNTOLD.has(cell.ending.outcome)) return state;
  return { ...state, ended: [...state.ended, cell] };
}

/** A program will not go on, however that came. */
export function gone(state, id) {
  return { ...state, cells: state.cells.filter((one) => one.id !== id) };
}

/** The answers were accepted: a run will bring them, unless it is over by now. */
export function answering(state, { cell, generation, run }) {
  if (state.over[run]) return state;
  return { ...state, answering: { ...state.answering, [cell]: { generation, run } } };
}

/** That run is over: whatever came of the answers, no others are on their way. */
export function delivered(state, run) {
  const left = Object.entries(state.answering).filter(([, one]) => one.run !== run);
  return { ...state, answering: Object.fromEntries(left) };
}

/** Of the answers that were on their way, those that still are. */
export function underWay({ answering: before }, { active, queue }) {
  const runs = new Set([active, ...queue.map((one) => one.run)]);
  return Object.fromEntries(Object.entries(before).filter(([, one]) => runs.has(one.run)));
}

/**
 * The programs that stand still until somebody answers. While the run goes for which one last worked,
 * that may answer by itself, and nobody else's answer would have its turn.
 */
export function standing({ cells, active }) {
  return cells.filter(
    (one) => one.kind === "pausable" && one.standing === "paused" && one.run !== active,
  );
}

export function isAnswered({ answering: sent }, { id, generation }) {
  return sent[id]?.generation === generation;
}
