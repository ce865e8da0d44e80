// What goes over the wire, made of the server's own types by tests/server/page_types.py.
// A test holds it to them. It is not served: only the type checker reads it.

export interface AnswerIn {
  allow: boolean;
  generation: number;
  always?: boolean;
  scope?: string;
}

export interface AnswerReport {
  call: string;
  name: string;
  allowed: boolean;
  by: string;
  at: number;
  subject?: string;
  scope?: string;
}

export interface AttachmentIn {
  media_type: string;
  data?: string;
  uri?: string;
  name?: string;
}

export interface AttachmentOut {
  media_type: string;
  uri: string;
  name: string;
  size: number;
}

export interface CallAnswer {
  value?: unknown;
  error?: string;
}

export interface CellEnding {
  outcome: CellOutcome;
  result: string;
  error: string;
  may_have_executed: Array<PendingOut>;
}

export interface CellOut {
  id: string;
  session: string;
  run: string;
  kind: "continuing" | "pausable";
  standing: string;
  generation: number;
  pending: Array<WaitingOut>;
  ending: CellEnding | null;
  source: string;
}

export type CellOutcome = "completed" | "failed" | "frozen" | "lost" | "terminated";

export interface CellReport {
  cell: string;
  frontier: number;
  waits: Array<string>;
}

export interface Cells {
  cells: Array<CellOut>;
}

export interface ChildReport {
  session: string;
  run: string;
  fate: "ended" | "kept" | "unconfirmed";
}

export interface ChoiceOut {
  label: string;
  allow: boolean;
  always: boolean;
  scope: string;
}

export interface Empty {
}

export interface EntryOut {
  number: number;
  kind: string;
  at: number;
}

export interface Event {
  id: string;
  kind: string;
  generation: number;
  run: string | null;
  at: number;
  text: string;
  data?: unknown;
}

export interface FrontierOut {
  cell: string;
  generation: number;
  standing: "ended" | "ending" | "paused" | "resuming" | "running";
  pending: Array<WaitingOut>;
  output: string;
  fresh: string;
  ending: CellEnding | null;
}

export interface Given {
  done: boolean;
  told: string;
}

export interface Health {
  status: "closing" | "ok";
}

export interface InputIn {
  text: string;
  end?: boolean;
}

export interface KeyIn {
  code: string;
}

export interface KeyOut {
  key: string;
}

export interface LineOut {
  mark: " " | "+" | "-" | "@";
  text: string;
}

export interface Link {
  path: string;
}

export interface Log {
  entries: Array<unknown>;
  more: boolean;
  messages: Array<MessageOut>;
}

export interface Me {
  name: string;
  principal: string;
  rights: Array<string>;
  version: string;
  agent: string;
  level: string;
}

export interface MessageFate {
  message: MessageOut;
  fate: "dropped" | "paused";
}

export interface MessageIn {
  text: string;
  id?: string | null;
  on_message?: "collect" | "queue" | "refuse" | "rollback" | "steer" | "takeover" | null;
  attachments?: Array<AttachmentIn>;
  heed_stop?: boolean;
}

export interface MessageOut {
  id: string;
  text: string;
  by: string;
  origin: "child" | "person" | "run" | "timer";
  attachments: Array<AttachmentOut>;
}

export type Outcome = "completed" | "failed" | "lost" | "parent" | "refused" | "shutdown" | "stopped" | "superseded" | "withdrawn";

export interface OutputOut {
  id: string;
  text: string;
  begin: number;
  end: number;
  total: number;
  code: number | null;
  ended: string;
}

export interface Owner {
  process: number;
  host: string;
  since: number;
}

export interface PendingOut {
  call: string;
  name: string;
  arguments: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  id: string;
}

export interface ProcessOut {
  id: string;
  pid: number;
  command: string;
  kept: boolean;
  takes_input: boolean;
  run: string;
  started_at: number;
  ended_at: number | null;
  code: number | null;
  output: string;
}

export interface ProcessReport {
  pid: number;
  command: string;
  fate: "ended" | "kept" | "killed" | "unconfirmed";
}

export interface Processes {
  processes: Array<ProcessOut>;
}

export interface QuestionOut {
  id: string;
  session: string;
  generation: number;
  run: string;
  tool: string;
  text: string;
  subject: string;
  call: string;
  asked_at: number;
  asks: string;
  kind: "command" | "diff" | "text";
  summary: string;
  lines: Array<LineOut>;
  notes: Array<string>;
  choices: Array<ChoiceOut>;
}

export interface QueueChange {
  text?: string;
  to?: number;
}

export interface QueueOut {
  messages: Array<QueuedOut>;
  hushed: boolean;
}

export interface QueuedOut {
  id: string;
  text: string;
  by: string;
  run: string;
  placed: "collecting" | "queued" | "starting" | "steering";
  held: boolean;
}

export type Reason = "lost" | "parent" | "shutdown" | "stopped" | "superseded";

export interface ReceiptOut {
  session: string;
  generation: number;
  reason: Reason;
  fenced_at: number;
  took: number;
  runs: Array<string>;
  dropped: number;
  refused: Array<Refusal>;
  calls: Array<ToolReport>;
  children: Array<ChildReport>;
  processes: Array<ProcessReport>;
  cells: Array<CellReport>;
  level: string;
  messages: Array<MessageFate>;
  unconfirmed: Array<Unconfirmed>;
  durable: boolean;
  answers: Array<AnswerReport>;
  lost: Array<string>;
  idle: boolean;
  quiet: boolean;
  words: string;
  rows: Array<Row>;
}

export interface Receipts {
  receipts: Array<ReceiptOut>;
  next: number | null;
}

export interface Refusal {
  what: string;
  after: number;
}

export interface ResumeIn {
  generation: number;
  results?: Record<string, CallAnswer>;
  allow?: Array<string>;
}

export interface Row {
  kind: "answers" | "beyond" | "called" | "children" | "doubtful" | "dropped" | "ending" | "head" | "lost" | "processes" | "programs" | "quiet" | "refused" | "uncalled" | "unseen" | "unstored" | "waiting";
  label: string;
  words: string;
  brief: string;
  tone: "doubt" | "fine" | "news";
  names: Array<string>;
}

export interface SessionOut {
  id: string;
  title: string;
  generation: number;
  busy: boolean;
  active: string | null;
  state: "asking" | "idle" | "running" | "stopping" | "waiting";
  at: number;
  owner?: Owner | null;
}

export interface Sessions {
  sessions: Array<SessionOut>;
  next: string | null;
}

export interface ShownOut {
  role: string;
  text: string;
  name: string;
  call: string;
  status: string;
}

export interface SignalIn {
  signal: string;
}

export interface Snapshot {
  session: SessionOut;
  active: string | null;
  typing: boolean;
  queue: Array<QueuedOut>;
  hushed: boolean;
  questions: Array<QuestionOut>;
  processes: Array<ProcessOut>;
  cells: Array<CellOut>;
  entries: Array<unknown>;
  more: boolean;
  messages: Array<MessageOut>;
  ending: Array<string>;
}

export type Status = "begun" | "completed" | "intended" | "may have executed" | "not started";

export interface StopIn {
  run?: string | null;
  reason?: string;
}

export interface Stopped {
  receipt: ReceiptOut;
}

export interface TicketOut {
  session: string;
  message: string;
  run: string;
  placed: "collecting" | "queued" | "starting" | "steering";
  generation: number;
  outcome: Outcome | null;
}

export interface ToolReport {
  call: string;
  name: string;
  status: Status;
}

export interface Transcript {
  items: Array<ShownOut>;
  next: number | null;
}

export interface Unconfirmed {
  kind: "child" | "delivery" | "process" | "run" | "session" | "task" | "tool";
  name: string;
}

export interface WaitingOut {
  call: string;
  name: string;
  arguments: string;
  tool: string;
  asks: string;
  kind: "command" | "diff" | "text";
  summary: string;
  lines: Array<LineOut>;
  notes: Array<string>;
  choices: Array<ChoiceOut>;
}
