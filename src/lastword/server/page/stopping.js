// A stop, from the key press until it is known what came of it. `runs` are those that it ends, and
// `sent` the messages that were on their way when it was asked for: they may arrive after it, so
// they are stopped when they do, and until then nobody knows that all is over.

/** The person asked for it, perhaps again. */
export function asked(state, { at, sent }) {
  const { stopping, active } = state;
  const before = stopping ?? { at, runs: [], sent: [] };
  const runs = active && !before.runs.includes(active) ? [...before.runs, active] : before.runs;
  const all = [...before.sent, ...sent];
  return { ...state, stopping: { at: before.at, runs, sent: all, known: false } };
}

/** One that was heard of because its run ended: somebody else asked for it. */
export function byOther(run, at) {
  return { at, runs: [run], sent: [], known: true };
}

/** Whether it ends this run. */
export function covers({ stopping }, run) {
  return !!run && !!stopping?.runs.includes(run);
}

/** A message was accepted: if the stop was meant for it, it is meant for its run. */
export function arrived(state, id, run) {
  const { stopping } = state;
  if (!stopping?.sent.includes(id) || !run || covers(state, run)) return state;
  return { ...state, stopping: { ...stopping, runs: [...stopping.runs, run] } };
}

/** A run that it ends has ended: the server has heard of it. */
export function ended(state, run) {
  const { stopping } = state;
  if (!covers(state, run) || stopping.sent.length) return stopping;
  return { ...stopping, known: true };
}

/** A receipt came: that is all, unless something is on its way still. */
export function receipted({ stopping }) {
  return stopping?.sent.length ? stopping : null;
}

/** The server answered, also for those that were on their way. `fence` is what its receipts tell
    of: they are heard as events too, and if that is yet to come, it is over when it has. */
export function answered({ stopping, fence: heard }, { sent, fence }) {
  if (!stopping) return null;
  const left = stopping.sent.filter((id) => !sent.includes(id));
  if (left.length) return { ...stopping, sent: left };
  return fence > heard ? { ...stopping, sent: [], known: true } : null;
}

/** What is left of it when the page hears anew how everything stands. */
export function resumed({ stopping }, { session, active, entries }) {
  if (!stopping?.sent.length)
    return stopping && session.state === "stopping" && !active
      ? { ...stopping, known: true }
      : null;
  const mine = entries.some(
    ({ kind, run, messages = [] }) =>
      kind === "began" && run === active && messages.some((id) => stopping.sent.includes(id)),
  );
  return mine ? { ...stopping, runs: [...stopping.runs, active] } : stopping;
}
