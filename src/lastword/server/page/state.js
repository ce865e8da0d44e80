// What the page knows of the session it shows. A pure reducer: a state and something that happened
// give the next state, so a snapshot, a replay after a lost connection and a second tab all end
// with the same picture, and what is heard twice is shown once.

import * as fact from "./facts.js";
import { byId, earlier, prepended, recorded } from "./past.js";
import * as program from "./program-facts.js";
import * as stop from "./stopping.js";

export { blank } from "./facts.js";

/** @import { Action, Event, Process, Question, Queued, Receipt, State } from "./types.d.ts" */

/** @typedef {{news: string, question: Question} & import("./facts.js").Told} AskedNews */

const EFFECTS = new Set(["text", "thinking", "progress", "started", "usage"]);

/**
 * Whether a run does something by it: then it is not drawn once the run was fenced. What became
 * of a call or a process is told by the session, whenever it is known.
 * @param {Event} event
 * @returns {boolean}
 */
function acts({ kind, data }) {
  if (kind === "typing") return data.on;
  if (kind === "call") return data.status === "intended" || data.status === "begun";
  if (kind === "question") return data.news === "opened";
  return EFFECTS.has(kind);
}

/** @param {State} state @param {Action} action @returns {State} the next one */
export function reduce(state, action) {
  switch (action.type) {
    case "event":
      return heard(state, action.event);
    case "fresh": // nobody has said anything in it yet
      return { ...state, known: true };
    case "older":
      return prepended(state, action);
    case "sending":
      return fact.said(
        { ...state, sending: { ...state.sending, [action.message.id]: true } },
        action.message,
        action.at,
      );
    case "sent":
      return without(state, "sending", action.id);
    case "unsent":
      return unsent(state, action.id);
    case "stop":
      return stop.asked(state, action);
    case "stop answered": // or it could not be said
      return stopAnswered(state, action);
    case "answered":
      return { ...state, questions: state.questions.filter((one) => one.id !== action.id) };
    case "answering": // what was given to a program is on its way there
      return program.answering(state, action);
    case "program gone":
      return program.gone(state, action.cell);
    case "programs":
      return program.remembered(state, action.cells);
    case "queue":
      return queued(state, action);
    default:
      throw new Error(`the page has no action ${JSON.stringify(action)}`);
  }
}

/**
 * @param {State} state
 * @param {"sending" | "messages"} field
 * @param {string} key
 * @returns {State}
 */
function without(state, field, key) {
  const { [key]: _, ...rest } = state[field];
  return { ...state, [field]: rest };
}

/** @param {State} state @param {string} id @returns {State} */
function unsent(state, id) {
  if (state.placed[id] || !state.sending[id]) return without(state, "sending", id); // the answer was lost, not the message
  const next = without(without(state, "sending", id), "messages", id);
  return { ...next, pending: next.pending.filter((one) => one !== id) };
}

/** @param {State} state @param {Event} event @returns {State} */
function heard(state, event) {
  const [epoch, number] = numbered(event.id);
  if (event.kind === "snapshot") return { ...snapshot(state, event), seen: { epoch, number } };
  const { seen } = state;
  if (seen && epoch === seen.epoch && number <= seen.number) return state;
  const next = {
    ...state,
    seen: { epoch, number },
    generation: Math.max(state.generation, event.generation ?? 0),
  };
  if (event.kind === "missed") {
    /** @type {Event[]} */
    const missed = event.data?.events ?? [];
    return missed.reduce((known, one) => applied(known, one), released(next));
  }
  if (acts(event) && fenced(next, event)) return next;
  // from the key press on the page is silent: what the server still let through until it heard of
  // the stop is part of the record, and is shown with the receipt
  if (acts(event) && stop.covers(next, event.run)) {
    return { ...next, held: [...next.held, event] };
  }
  return applied(next, event);
}

/** @param {string} id @returns {[string, number]} */
function numbered(id) {
  const cut = String(id ?? "").lastIndexOf("-");
  return [id.slice(0, cut), Number(id.slice(cut + 1))];
}

/** @param {State} state @param {Event} event */
function fenced(state, event) {
  return !!event.run && (!!state.over[event.run] || (event.generation ?? Infinity) < state.fence);
}

/**
 * What was held back is shown; only that of `runs`, if they are given.
 * @param {State} state
 * @param {string[] | null} runs
 * @returns {State}
 */
function released(state, runs = null) {
  /** @param {Event} event */
  const free = (event) => !runs || runs.includes(event.run);
  const held = state.held.filter((event) => !free(event));
  return state.held.filter(free).reduce((next, event) => applied(next, event), { ...state, held });
}

/**
 * @param {State} state
 * @param {Extract<Action, {type: "stop answered"}>} action
 * @returns {State}
 */
function stopAnswered(state, action) {
  const stopping = stop.answered(state, action);
  return stopping ? { ...state, stopping } : released({ ...state, stopping });
}

/** @param {State} state @param {Event} event @returns {State} */
function applied(state, event) {
  const { run, generation = 0, text = "", at = 0 } = event;
  const data = event.data ?? {};
  switch (event.kind) {
    case "accepted":
      return fact.said(without(stop.arrived(state, data.id, run), "sending", data.id), data, at);
    case "started":
      return fact.began({ ...state, active: run }, run, generation, data.messages ?? [], at);
    case "text":
    case "thinking":
      return fact.uttered(state, event.kind, run, generation, text, at);
    case "progress":
      return fact.progressed(state, run, generation, data.call ?? null, text, at);
    case "typing":
      return state.active === run ? { ...state, typing: !!data.on } : state;
    case "call":
      return fact.called(state, run, generation, data, at);
    case "process":
      return processed(state, event);
    case "question":
      return asked(state, data, at);
    case "cell":
      return program.programmed(state, data);
    case "queue":
      return queued(state, data);
    case "ended":
      return runEnded(state, event);
    case "stopped":
      return stopped(state, data, false);
    case "settled":
      return stopped(state, data, true);
    case "recovered":
      return text ? fact.noted(state, null, text, event.id) : state;
    case "closed":
      return { ...state, closed: data.why ?? "shutdown", stopping: null };
    default:
      return state;
  }
}

/** @param {State} state @param {Event} event @returns {State} */
function runEnded(state, { run, text, data, at }) {
  const mine = state.active === run;
  const before = program.delivered(released(state, [run]), run);
  const next = fact.ended(before, run, { outcome: text, ...data }, at);
  const other = mine && text === "stopped" ? stop.byOther(run, at) : null;
  const stopping = stop.ended(next, run) ?? other;
  return { ...next, stopping, questions: next.questions.filter((one) => one.run !== run) };
}

/** @param {State} state @param {Receipt} receipt @param {boolean} settled @returns {State} */
function stopped(state, receipt, settled) {
  const runs = state.stopping?.sent.length ? (receipt.runs ?? []) : null;
  const next = fact.receipted(released(state, runs), receipt, settled);
  const ending = receipt.quiet
    ? []
    : (receipt.unconfirmed ?? []).map((one) => `${one.kind} ${one.name}`);
  const stopping = receipt.reason === "superseded" ? next.stopping : stop.receipted(next);
  return { ...next, ending, stopping, level: receipt.level || next.level };
}

/** @param {State} state @param {Event} event @returns {State} */
function processed(state, { run, data, at, generation }) {
  if (data.state === "starting") return state; // it has no number yet
  // what is kept may outlive its first process, whose number is then another's
  /** @param {Process} one */
  const same = (one) =>
    !one.ended_at && (data.kept ? one.id === data.id : !one.kept && one.pid === data.pid);
  const others = state.processes.filter((one) => !same(one));
  const before = state.processes.find(same);
  const one = {
    started_at: at,
    ended_at: null,
    ...before,
    id: data.id || before?.id || "",
    pid: data.pid,
    command: data.command,
    kept: data.kept,
    takes_input: data.takes_input,
    code: data.code,
    run: before?.run ?? run,
    generation: before?.generation ?? generation,
  };
  if (data.state === "ended") one.ended_at = at;
  return { ...state, processes: [...others, one] };
}

/** @param {State} state @param {AskedNews} about @param {number} at @returns {State} */
function asked(state, { news, question, ...told }, at) {
  const { run, call, tool } = question;
  const questions = state.questions.filter((one) => one.id !== question.id);
  if (news === "opened")
    return fact.asked({ ...state, questions: [...questions, question] }, { id: call, run, tool }, at);
  return fact.answered({ ...state, questions }, run, call, told, at);
}

/** @param {State} state @param {{messages: Queued[], hushed: boolean}} queue @returns {State} */
function queued(state, { messages, hushed }) {
  const there = new Set(messages.map((one) => one.id));
  let next = { ...state, queue: messages, hushed: !!hushed };
  // nobody tells that a run took up what was sent to steer it: it is gone from the queue, that is all
  for (const { id, placed } of state.queue) {
    if (placed === "steering" && !there.has(id) && next.active)
      next = fact.joined(next, next.active, id);
  }
  for (const { id, text, by } of messages) next = fact.said(next, { id, text, by });
  return next;
}

/** @param {State} state @param {Event} event @returns {State} */
function snapshot(state, { data }) {
  const { session } = data;
  const older = earlier(state.entries, data.entries);
  const entries = [...older, ...data.entries];
  const before = { ...fact.blank(session.id), messages: byId(data.messages), level: state.level };
  if (older.length) Object.assign(before.messages, state.messages);
  const past = entries.reduce(recorded, before);
  const more = older.length ? state.more : data.more;
  let next = queued(
    { ...past, entries, more, known: true, sending: state.sending },
    { messages: data.queue, hushed: data.hushed },
  );
  for (const id of Object.keys(state.sending)) {
    if (state.messages[id] && !next.messages[id]) next = fact.said(next, state.messages[id]);
  }
  const logged = new Set(next.waits.map((wait) => wait.id));
  const unlogged = state.waits.filter(
    (wait) => !logged.has(wait.id) && fact.findTurn(next, wait.run),
  );
  const waits = [...unlogged, ...next.waits];
  const { questions, processes, cells = [], ending = [], active, typing } = data;
  if (!ending.length) next = fact.endedSince(next);
  const stopping = stop.resumed(state, data);
  return {
    ...next,
    title: session.title || next.title,
    generation: session.generation,
    active,
    typing,
    questions,
    processes,
    cells,
    ended: state.ended,
    answering: program.underWay(state, data),
    ending,
    waits,
    stopping,
  };
}
