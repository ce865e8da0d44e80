// What can become known of a session, each as a function from one state to the next. The log's
// entries and the live events are two ways to hear of the same facts, and any fact may be heard
// twice, so each of these can be repeated without harm.

/**
 * @import { Call, Item, Message, Part, Progress, Receipt, State, Turn } from "./types.d.ts"
 * @import { Wait } from "./types.d.ts"
 */

const SETTLED = new Set(["completed", "not started", "may have executed"]);
const MOST_OUTPUT = 60000; // characters of a call's live output that are kept; the newest
const MOST_WAITS = 200;
const LONGEST_TITLE = 1000; // characters that are looked at for one

/**
 * @typedef {Partial<Call> & {call: string, status: Call["status"], logged?: boolean}} Report
 * @typedef {{allowed: boolean | null, by?: string, scope?: string}} Told
 * @typedef {{outcome: Turn["outcome"], messages?: string[], started?: boolean, error?: string,
 *   rollback?: boolean}} Ending
 */

const itemKey = {
  /** @param {string} run */
  turn: (run) => `run ${run}`,
  /** @param {string} id */
  message: (id) => `message ${id}`,
  /** @param {Receipt} receipt */
  receipt: ({ generation, reason }) => `receipt ${generation} ${reason}`,
};

/** What is known of a session of which nothing is known. @returns {State} */
export function blank(session = "") {
  return {
    session,
    title: "",
    generation: 0,
    active: null,
    typing: false,
    known: false,
    items: [],
    messages: {},
    placed: {},
    pending: [],
    sending: {},
    queue: [],
    hushed: false,
    questions: [],
    cells: [],
    ended: [],
    answering: {},
    processes: [],
    ending: [],
    waits: [],
    seen: null,
    fence: 0,
    over: {},
    stopping: null,
    held: [],
    entries: [],
    more: false,
    closed: "",
    level: "",
  };
}

/**
 * A message was accepted, or edited while it waited.
 * @param {State} state
 * @param {Message} message
 * @returns {State}
 */
export function said(state, message, at = 0) {
  const known = state.messages[message.id];
  const messages = { ...state.messages, [message.id]: { at, ...known, ...message } };
  const placed = state.placed[message.id] || state.pending.includes(message.id);
  const title = state.title || firstWords(message.text);
  return {
    ...state,
    messages,
    title,
    pending: placed ? state.pending : [...state.pending, message.id],
  };
}

/** @param {string} text */
function firstWords(text) {
  const line = text.trimStart().slice(0, LONGEST_TITLE).trim().split(/\s+/).join(" ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/**
 * A run started, or took up messages that were sent to steer it.
 * @param {State} state
 * @param {string} run
 * @param {number} generation
 * @param {string[]} ids
 * @returns {State}
 */
export function began(state, run, generation, ids, at = 0) {
  const going = findTurn(state, run);
  if (!going) {
    const placed = ids.reduce((next, id) => placeMessage(next, id), state);
    return changeTurn(placed, run, generation, at, (turn) => turn);
  }
  const joining = ids.filter((id) => !state.placed[id]);
  return joining.reduce((next, id) => joined(next, run, id), state);
}

/** @param {State} state @param {string} id @returns {State} */
function placeMessage(state, id) {
  if (state.placed[id]) return state;
  /** @type {Item} */
  const item = { key: itemKey.message(id), kind: "message", id, outcome: "" };
  return { ...taken(state, id), items: [...state.items, item] };
}

/** @param {State} state @param {string} id @returns {State} */
function taken(state, id) {
  const pending = state.pending.includes(id)
    ? state.pending.filter((one) => one !== id)
    : state.pending;
  return { ...state, pending, placed: { ...state.placed, [id]: true } };
}

/**
 * A message that was sent to steer stands where the run took it up.
 * @param {State} state
 * @param {string} run
 * @param {string} id
 * @returns {State}
 */
export function joined(state, run, id) {
  if (state.placed[id] || !findTurn(state, run)) return state;
  return addPart(taken(state, id), run, 0, 0, { kind: "said", id });
}

/**
 * The next piece of what a run says or thinks.
 * @param {State} state
 * @param {"text" | "thinking"} kind
 * @param {string} run
 * @param {number} generation
 * @param {string} text
 * @returns {State}
 */
export function uttered(state, kind, run, generation, text, at = 0) {
  return changeTurn(state, run, generation, at, (turn) => {
    const last = turn.parts.at(-1);
    const parts = turn.parts.slice();
    if (last && last.kind === kind)
      parts[parts.length - 1] = { ...last, text: last.text + text, until: at };
    else parts.push({ kind, text, at, until: at });
    return { ...turn, parts };
  });
}

/**
 * Something the session itself told the model, or the person; `source` is where it was heard.
 * @param {State} state
 * @param {string | null} run
 * @param {string} text
 * @param {string | number} source
 * @returns {State}
 */
export function noted(state, run, text, source) {
  if (run && findTurn(state, run)) return addPart(state, run, 0, 0, { kind: "note", text });
  return { ...state, items: [...state.items, { key: `note ${source}`, kind: "note", text }] };
}

/**
 * How a tool call stands.
 * @param {State} before
 * @param {string} run
 * @param {number} generation
 * @param {Report} report
 * @returns {State}
 */
export function called(before, run, generation, report, at = 0) {
  const over = SETTLED.has(report.status);
  const state = over ? unasked(before, at, (wait) => wait.id === report.call) : before;
  return changeTurn(state, run, generation, at, (turn) => {
    const index = turn.parts.findIndex((part) => isCall(part, report.call));
    const known = callAt(turn.parts, index) ?? newCall(report.call, at);
    const part = settledCall(known, report, at);
    const parts = turn.parts.slice();
    parts[index < 0 ? parts.length : index] = part;
    return { ...turn, parts };
  });
}

/** @param {Part} part @param {string} call */
export function isCall(part, call) {
  return part.kind === "call" && part.call === call;
}

/** @param {Part[]} parts @param {number} index @returns {Call | null} */
function callAt(parts, index) {
  const part = parts[index];
  return part?.kind === "call" ? part : null;
}

/** @param {string} call @param {number} at @returns {Call} */
function newCall(call, at) {
  return {
    kind: "call",
    call,
    name: "",
    arguments: "",
    status: "intended",
    content: "",
    error: false,
    nature: "",
    output: "",
    at,
    began: 0,
    until: 0,
  };
}

/** @param {Call} before @param {Report} report @param {number} at @returns {Call} */
function settledCall(before, report, at) {
  if (SETTLED.has(before.status) && !SETTLED.has(report.status)) return before; // heard late
  const told = Object.fromEntries(
    Object.entries(report).filter(([, value]) => value !== undefined && value !== ""),
  );
  const part = { ...before, ...told };
  if (report.status === "begun" && !before.began && !report.logged) part.began = at; // the log has no such moment
  if (SETTLED.has(part.status) && !before.until) part.until = at;
  return part;
}

/**
 * A call waits for a person from here on.
 * @param {State} state
 * @param {Pick<Wait, "id" | "run" | "tool">} wait
 * @returns {State}
 */
export function asked(state, wait, at = 0) {
  const others = state.waits.filter((one) => one.id !== wait.id).slice(-MOST_WAITS);
  const known = state.waits.find((one) => one.id === wait.id);
  return { ...state, waits: [...others, { at, until: 0, allowed: null, by: "", ...known, ...wait }] };
}

/**
 * Until here, because somebody answered, or (null) because nobody is asked any more.
 * @param {State} state
 * @param {string} run
 * @param {string} call
 * @param {Told} told
 * @returns {State}
 */
export function answered(state, run, call, { allowed, by = "", scope = "" }, at = 0) {
  const known = state.waits.find((wait) => wait.id === call);
  if (known?.until) return state;
  const wait = { id: call, run, tool: "", at: 0, ...known, until: at, allowed, by }; // asked before the log that is there
  const waits = known
    ? state.waits.map((one) => (one === known ? wait : one))
    : [...state.waits, wait];
  if (allowed === null) return { ...state, waits };
  return changeTurn({ ...state, waits }, run, 0, at, (turn) => {
    const index = turn.parts.findIndex((part) => isCall(part, call));
    const before = callAt(turn.parts, index) ?? newCall(call, at);
    const parts = turn.parts.slice();
    parts[index < 0 ? parts.length : index] = {
      ...before,
      began: allowed ? before.began || at : 0,
      answer: { allowed, by, scope },
    };
    return { ...turn, parts };
  });
}

/**
 * A run ended, or a call of it: nobody is asked for it any more.
 * @param {State} state
 * @param {number} at
 * @param {(wait: Wait) => boolean} isOver
 * @returns {State}
 */
function unasked(state, at, isOver) {
  if (!state.waits.some((wait) => !wait.until && isOver(wait))) return state;
  const waits = state.waits.map((wait) =>
    !wait.until && isOver(wait) ? { ...wait, until: at } : wait,
  );
  return { ...state, waits };
}

/**
 * Live output of a call, or of the run itself.
 * @param {State} state
 * @param {string} run
 * @param {number} generation
 * @param {string | null} call
 * @param {string} text
 * @returns {State}
 */
export function progressed(state, run, generation, call, text, at = 0) {
  return changeTurn(state, run, generation, at, (turn) => {
    const index = turn.parts.findLastIndex((part) =>
      call ? isCall(part, call) : part.kind === "progress",
    );
    const parts = turn.parts.slice();
    const fresh = call ? newCall(call, at) : noProgress();
    const before = index < 0 ? fresh : /** @type {typeof fresh} */ (parts[index]);
    parts[index < 0 ? parts.length : index] = {
      ...before,
      output: newest(before.output + text),
    };
    return { ...turn, parts };
  });
}

/** @returns {Progress} */
function noProgress() {
  return { kind: "progress", output: "" };
}

/** Half of it goes at once, so that mostly something is only added. @param {string} output */
function newest(output) {
  return output.length > 2 * MOST_OUTPUT ? output.slice(-MOST_OUTPUT) : output;
}

/**
 * Messages reached their outcome, and the run that answered them, if it began, ended.
 * @param {State} state
 * @param {string} run
 * @param {Ending} about
 * @returns {State}
 */
export function ended(state, run, about, at = 0) {
  let next = unasked(state, at, (wait) => wait.run === run);
  next = { ...next, over: { ...state.over, [run]: true } };
  if (state.active === run) next = { ...next, active: null, typing: false };
  if (about.started !== false) {
    // one of which nothing is known was said, and taken up, before the log that is there begins
    const known = (about.messages ?? []).filter((id) => next.messages[id]);
    next = known.reduce((joining, id) => joined(joining, run, id), next);
    return changeTurn(next, run, 0, at, (turn) => ({
      ...turn,
      outcome: about.outcome,
      error: about.error ?? "",
      rollback: !!about.rollback,
      until: turn.until || at,
    }));
  }
  for (const id of about.messages ?? []) next = neverStarted(next, id, about);
  return next;
}

/** @param {State} state @param {string} id @param {Ending} about @returns {State} */
function neverStarted(state, id, about) {
  const inQueue = state.queue.some((waiting) => waiting.id === id);
  const next = withoutMessage(state, id);
  // what the person took back, and what the receipt will list, is not said again here
  if (about.outcome === "withdrawn" || inQueue) return { ...taken(next, id) };
  /** @type {Item} */
  const item = {
    key: itemKey.message(id),
    kind: "message",
    id,
    outcome: about.outcome,
    error: about.error ?? "",
  };
  return { ...taken(next, id), items: [...next.items, item] };
}

/** @param {State} state @param {string} id @returns {State} */
function withoutMessage(state, id) {
  const items = state.items
    .filter((item) => !(item.kind === "message" && item.id === id))
    .map((item) => {
      if (
        item.kind !== "turn" ||
        !item.parts.some((part) => part.kind === "said" && part.id === id)
      )
        return item;
      return {
        ...item,
        parts: item.parts.filter((part) => !(part.kind === "said" && part.id === id)),
      };
    });
  return { ...state, items };
}

/**
 * A stop's receipt, or the later one that says that all has ended. It stands after what it ended.
 * @param {State} state
 * @param {Receipt} receipt
 * @returns {State}
 */
export function receipted(state, receipt, settled = false) {
  const key = itemKey.receipt(receipt);
  let next = { ...state, fence: Math.max(state.fence, receipt.generation) };
  for (const run of receipt.runs ?? []) next = fencedRun(next, run, receipt);
  for (const { message, fate } of receipt.messages ?? []) {
    if (fate === "dropped") next = { ...taken(withoutMessage(next, message.id), message.id) };
  }
  if (receipt.idle) return next;
  const index = next.items.findIndex((item) => item.key === key);
  const known = next.items[index];
  const before = known?.kind === "receipt" ? known : null;
  if (before?.receipt.quiet && !receipt.quiet) return next; // heard late
  /** @type {Item} */
  const item = { key, kind: "receipt", receipt, settled: settled || !!before?.settled };
  const items = next.items.slice();
  if (index >= 0) items[index] = item;
  else items.splice(placeOf(items, receipt), 0, item);
  return { ...next, items };
}

/**
 * The log keeps a receipt as it was written: what was still ending then is not ending any more.
 * @param {State} state
 * @returns {State}
 */
export function endedSince(state) {
  const items = state.items.map((item) => {
    if (item.kind !== "receipt" || item.receipt.quiet) return item;
    const { unconfirmed } = item.receipt;
    return {
      ...item,
      settled: true,
      receipt: { ...item.receipt, quiet: true, took: 0, unconfirmed: [], later: unconfirmed },
    };
  });
  return { ...state, items };
}

/** @param {Item[]} items @param {Receipt} receipt */
function placeOf(items, receipt) {
  const runs = new Set(receipt.runs ?? []);
  const last = items.findLastIndex((item) => item.kind === "turn" && runs.has(item.run));
  return last < 0 ? items.length : last + 1;
}

/** @param {State} state @param {string} run @param {Receipt} receipt @returns {State} */
function fencedRun(state, run, receipt) {
  const next = {
    ...state,
    over: { ...state.over, [run]: true },
    active: state.active === run ? null : state.active,
  };
  if (!findTurn(next, run)) return next;
  const statuses = new Map((receipt.calls ?? []).map((call) => [call.call, call.status]));
  return changeTurn(next, run, 0, 0, (turn) => ({
    ...turn,
    outcome: turn.outcome || receipt.reason,
    fencedAt: receipt.fenced_at,
    until: turn.until || receipt.fenced_at,
    parts: turn.parts.map((part) => {
      const status = part.kind === "call" && statuses.get(part.call);
      if (part.kind !== "call" || !status || SETTLED.has(part.status)) return part;
      return { ...part, status, until: part.until || receipt.fenced_at };
    }),
  }));
}

// turns

/** @param {Pick<State, "items">} state @param {string | null} run @returns {Turn | undefined} */
export function findTurn({ items }, run) {
  const found = items.findLast((item) => item.kind === "turn" && item.run === run);
  return found?.kind === "turn" ? found : undefined;
}

/**
 * @param {State} state
 * @param {string} run
 * @param {number} generation
 * @param {number} at
 * @param {Part} part
 * @returns {State}
 */
function addPart(state, run, generation, at, part) {
  return changeTurn(state, run, generation, at, (turn) => ({
    ...turn,
    parts: [...turn.parts, part],
  }));
}

/**
 * @param {State} state
 * @param {string} run
 * @param {number} generation
 * @param {number} at
 * @param {(turn: Turn) => Turn} change
 * @returns {State}
 */
function changeTurn(state, run, generation, at, change) {
  const index = state.items.findLastIndex((item) => item.kind === "turn" && item.run === run);
  const items = state.items.slice();
  const known = items[index];
  if (known?.kind === "turn")
    items[index] = change(known.generation ? known : { ...known, generation });
  else
    items.push(
      change({
        key: itemKey.turn(run),
        kind: "turn",
        run,
        generation,
        parts: [],
        at,
        until: 0,
        fencedAt: 0,
        outcome: "",
        error: "",
        rollback: false,
      }),
    );
  return { ...state, items };
}
