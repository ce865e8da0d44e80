// What the page's modules speak of, for the type checker; it is not served. What comes over the wire
// is in told.d.ts, which is made from the server's own types.

import type { Composer } from "./composer.js";
import type { Conversation } from "./conversation.js";
import type { Head } from "./head.js";
import type { Program } from "./program.js";
import type { Question as QuestionCard } from "./question.js";
import type { Queue } from "./queue.js";
import type { Receipt as ReceiptCard } from "./receipt.js";
import type { Sessions } from "./sessions.js";
import type { Timeline } from "./timeline.js";
import type * as told from "./told.d.ts";

declare global {
  interface HTMLElementTagNameMap {
    "lw-composer": Composer;
    "lw-conversation": Conversation;
    "lw-head": Head;
    "lw-program": Program;
    "lw-question": QuestionCard;
    "lw-queue": Queue;
    "lw-receipt": ReceiptCard;
    "lw-sessions": Sessions;
    "lw-timeline": Timeline;
  }
  interface Document {
    readonly prerendering?: boolean; // not in every browser
  }
}

// nodes

export type Child = Node | string | null | false | undefined;
export type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
export type Properties = {
  on?: Listeners;
  [name: string]: string | number | boolean | null | undefined | Listeners;
};

/** What shows a text that may grow. */
export interface Shows {
  show(text: string, all?: string): void; // what is drawn, and what it is the beginning of
}

// a markdown text, before it is drawn

export interface Tree {
  tag: keyof HTMLElementTagNameMap;
  children: Leaf[];
  href?: string;
  look?: string;
  start?: number;
  language?: string;
  align?: string;
  open?: Fence | null; // what opened the code that nothing closes
}
export type Leaf = Tree | string;
export interface Fence {
  indent: number;
  mark: string;
  length: number;
  language: string;
}
export interface Meter {
  steps: number;
  nodes: number;
}

// over the wire, by the page's own names

export type Right = "send" | "stop" | "approve";
export type May = (what: Right) => boolean;
export type Link = "connecting" | "open" | "reconnecting" | "signed out";
export type Mode = NonNullable<told.MessageIn["on_message"]>;
export type Theme = "auto" | "light" | "dark";
export type Me = told.Me;
export type Session = Pick<told.SessionOut, "id" | "title" | "state" | "at"> & {
  busy?: boolean;
  pinned?: boolean;
  fresh?: boolean; // it exists on this page only
};
export type Message = { id: string; text: string; at?: number } & Partial<told.MessageOut>;
export type Receipt = told.ReceiptOut;
export type Cell = told.CellOut;
export type EndedCell = Cell & { ending: told.CellEnding };
export type Process = told.ProcessOut;
export type Question = told.QuestionOut;
export type Queued = told.QueuedOut;
export type Asked = told.QuestionOut | told.WaitingOut;
export type Choice = Omit<told.ChoiceOut, "label">;
export type Answers = Required<Pick<told.ResumeIn, "results" | "allow">>;
export type { CallAnswer, Given, LineOut, OutputOut, WaitingOut } from "./told.d.ts";

/** What could not be done, as it is told to the person. */
export interface Wrong {
  title: string;
  detail: string;
  status?: number;
}

export type Event = told.Snapshot | told.Changes | told.Closed;
export type Change = told.Changes["changes"][number];
export type Older = told.PastOut;

// what is known of a session

export type Part = told.TurnItemOut["parts"][number];
export type Speech = told.TextOut | told.ThinkingOut | told.ProgressOut;
export type Call = told.CallPartOut;
export type Steered = told.JoinedOut;
export type Noted = told.AsideOut;
export type Turn = told.TurnItemOut & {
  spots?: number[]; // where the parts stand that the server counts, if earlier ones were fetched
};
export type MessageItem = told.MessageItemOut;
export type ReceiptItem = told.ReceiptItemOut;
export type NoteItem = told.NoteItemOut;
export type Item = Turn | MessageItem | ReceiptItem | NoteItem;
export type Wait = told.WaitOut;
export interface Answering {
  generation: number;
  run: string;
  message: string;
}
export interface Stopping {
  at: number;
  runs: string[];
  sent: string[];
  known?: boolean; // to the server
}

export interface State {
  session: string;
  title: string;
  generation: number;
  active: string | null;
  typing: boolean;
  known: boolean;
  items: Item[];
  messages: Record<string, Message>;
  pending: string[];
  sending: Record<string, boolean>; // false: the server has it, and has not told of it yet
  queue: Queued[];
  hushed: boolean;
  questions: Question[];
  cells: Cell[];
  ended: EndedCell[];
  answering: Record<string, Answering>;
  processes: Process[];
  ending: string[];
  waits: Wait[];
  seen: { epoch: string; number: number } | null;
  stopping: Stopping | null;
  held: Change[];
  before: number; // the entry of the log with which it begins; 0 if that is not known
  more: boolean;
  closed: string;
  level: string;
  usage: told.UsageOut | null; // not known
}

export type Action =
  | { type: "event"; event: Event }
  | { type: "fresh" }
  | { type: "titled"; title: string }
  | { type: "older"; past: Older }
  | { type: "sending"; message: Message; at: number }
  | { type: "sent" | "unsent" | "answered"; id: string }
  | { type: "stop"; at: number; sent: string[] }
  | { type: "stop answered"; sent: string[]; fence: number }
  | { type: "answering"; cell: string; sent: Answering }
  | { type: "program gone"; cell: string }
  | { type: "programs"; cells: Cell[] }
  | { type: "usage"; usage: told.UsageOut }
  | { type: "queue"; messages: Queued[]; hushed: boolean };

// the page as a whole

export interface Parts {
  sessions: Sessions;
  head: Head;
  conversation: Conversation;
  timeline: Timeline;
  queue: Queue;
  composer: Composer;
}
export interface App {
  state: State;
  link: Link;
  may: May;
  dispatch(action: Action): void;
  drawSoon(): void;
  open(id: string): Promise<void>;
  watch(id?: string): void;
  close(): void;
}

// what a card can have done

export interface Doing {
  may: May;
  older(): Promise<void>;
  answer(question: Question, choice: Choice): Promise<void>;
  program: Programs;
  putBack(text: string): void;
  again(run: string, said?: { id: string; text: string }): Promise<boolean>;
  goOn(): void;
  changes(run?: string): void; // what it has done to files
  ready(): void; // one can type at once
  suggest(text: string): void;
}
export interface Programs {
  answer(cell: Cell, given: Answers): Promise<void>;
  end(cell: Cell): Promise<void>;
}
export type Failed = { wrong: string; offline: boolean };
export type Done = (session: string, id: string, what: string) => Promise<Partial<told.Given & Failed>>;
export interface Processes {
  read(session: string, id: string, from: number): Promise<told.OutputOut | Failed>;
  write: Done;
  finish: Done;
  signal: Done;
  end: Done;
}
export interface QueueDoing {
  edit(id: string, text: string): Promise<void>;
  move(id: string, to: number): Promise<void>;
  remove(id: string): Promise<void>;
  resume(): Promise<void>;
}

// the timeline

export interface Span {
  kind: "tool" | "wait" | "process";
  key: string;
  a: number;
  b: number;
  look: string;
  tell: string[];
  open?: boolean;
}
export interface Lane {
  turn: Turn;
  receipt: Receipt | undefined;
  live: boolean;
  fence: number;
  a: number;
  b: number;
  words: string;
  spans: Span[];
}
export interface Shape {
  key: string;
  tag: "text" | "rect" | "line" | "circle";
  class: string;
  text?: string;
  tell?: string[];
  x?: number;
  y?: number;
  x1?: number;
  x2?: number;
  y1?: number;
  y2?: number;
  cx?: number;
  cy?: number;
  r?: number;
  rx?: number;
  width?: number;
  height?: number;
}
export interface Stretch {
  a: number;
  b: number;
  x: number;
  width: number;
}
export interface Tick {
  x: number;
  at?: number;
  after?: number;
  first?: boolean;
}
export interface Scale {
  parts: Stretch[];
  x(at: number): number;
  ticks(): Tick[];
  breaks: { x: number; seconds: number }[];
}
