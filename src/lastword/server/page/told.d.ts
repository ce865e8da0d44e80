// What goes over the wire, made of the server's own types by tests/server/page_types.py.
// A test holds it to them. It is not served: only the type checker reads it.

export interface AgainIn {
  run?: string | null;
  text?: string;
  id?: string | null;
  attachments?: Array<AttachmentIn>;
}

export interface AguiMessage {
  id: string;
  role: string;
  content?: unknown;
}

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

export interface AsideOut {
  kind: "note";
  text: string;
}

export interface AskClosedOut {
  change: "askclosed";
  question: string;
  answer: ToldAnswer | null;
}

export interface AskOpenedOut {
  change: "askopened";
  question: QuestionOut;
  live: boolean;
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

export interface CallPartOut {
  kind: "call";
  call: string;
  name: string;
  arguments: string;
  nature: "" | "idempotent" | "inner" | "post" | "read_only";
  status: Status;
  content: string;
  error: boolean;
  output: string;
  at: number;
  began: number;
  until: number;
  answer: ToldAnswer | null;
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

export interface ChangedFileOut {
  path: string;
  became: string;
  doubt: string;
  come: number;
  gone: number;
  lines: Array<DiffLine>;
  left_out: number;
}

export interface Changes {
  kind: "changes";
  id: string;
  generation: number;
  at: number;
  changes: Array<PlacedOut | ItemIsOut | ItemGoneOut | TurnIsOut | PartIsOut | PartGoneOut | GrewOut | MessageIsOut | PendingIsOut | QueueIsOut | AskOpenedOut | AskClosedOut | WaitIsOut | ProcessIsOut | ProcessStartsOut | ProgramIsOut | UsageIsOut | PhaseIsOut>;
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

export interface Closed {
  kind: "closed";
  id: string;
  generation: number;
  at: number;
  why: string;
}

export interface DiffLine {
  mark: " " | "+" | "-" | "@";
  text: string;
}

export interface Empty {
}

export interface EntryOut {
  number: number;
  kind: string;
  at: number;
}

export interface FilesOut {
  run: string;
  taken_back: boolean;
  files: Array<ChangedFileOut>;
  notes: Array<string>;
}

export interface FilesReport {
  names: Array<string>;
  come?: number;
  gone?: number;
  notes?: Array<string>;
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

export interface GrewOut {
  change: "grew";
  run: string;
  place: number;
  text: string;
  of: "output" | "progress" | "text" | "thinking";
  at: number;
  live: boolean;
}

export interface Health {
  status: "closing" | "ok";
}

export interface InputIn {
  text: string;
  end?: boolean;
}

export interface ItemGoneOut {
  change: "itemgone";
  key: string;
}

export interface ItemIsOut {
  change: "itemis";
  item: MessageItemOut | ReceiptItemOut;
}

export interface JoinedOut {
  kind: "said";
  id: string;
}

export interface KeyIn {
  code: string;
}

export interface KeyOut {
  key: string;
}

export interface LeftFile {
  path: string;
  why: string;
}

export interface LineOut {
  mark: " " | "+" | "-" | "@";
  text: string;
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
  folders?: Array<string>;
  window?: number | null;
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

export interface MessageIsOut {
  change: "messageis";
  said: SaidOut;
}

export interface MessageItemOut {
  kind: "message";
  key: string;
  id: string;
  outcome: string;
  error: string;
}

export interface MessageOut {
  id: string;
  text: string;
  by: string;
  origin: "child" | "person" | "run" | "timer";
  attachments: Array<AttachmentOut>;
}

export interface NoteItemOut {
  kind: "note";
  key: string;
  text: string;
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

export interface OwnerOut {
  process: number;
  host: string;
  since: number;
}

export interface PartGoneOut {
  change: "partgone";
  run: string;
  place: number;
}

export interface PartIsOut {
  change: "partis";
  run: string;
  place: number;
  part: TextOut | ThinkingOut | ProgressOut | CallPartOut | JoinedOut | AsideOut;
  live: boolean;
}

export interface PastOut {
  items: Array<MessageItemOut | TurnItemOut | ReceiptItemOut | NoteItemOut>;
  messages: Array<SaidOut>;
  pending: Array<string>;
  waits: Array<WaitOut>;
  before: number;
  more: boolean;
}

export interface PendingIsOut {
  change: "pendingis";
  messages: Array<string>;
}

export interface PendingOut {
  call: string;
  name: string;
  arguments: string;
}

export interface PhaseIsOut {
  change: "phaseis";
  phase: PhaseOut;
  live: boolean;
}

export interface PhaseOut {
  generation: number;
  active: string | null;
  typing: boolean;
  ending: Array<string>;
  level: string;
}

export interface PlacedOut {
  change: "placed";
  item: MessageItemOut | TurnItemOut | ReceiptItemOut | NoteItemOut;
  before: string | null;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  id: string;
}

export interface ProcessIsOut {
  change: "processis";
  process: ProcessOut;
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

export interface ProcessStartsOut {
  change: "processstarts";
  run: string;
  command: string;
  live: boolean;
}

export interface ProcessesOut {
  processes: Array<ProcessOut>;
}

export interface ProgramIsOut {
  change: "programis";
  program: CellOut;
}

export interface ProgressOut {
  kind: "progress";
  text: string;
  at: number;
  until: number;
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

export interface QueueIsOut {
  change: "queueis";
  queue: QueueOut;
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

export interface ReceiptItemOut {
  kind: "receipt";
  key: string;
  receipt: ReceiptOut;
  settled: boolean;
}

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
  files: Array<FilesReport>;
  isolated: Array<string>;
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

export interface ResumeEntry {
  interruptId: string;
  status: "cancelled" | "resolved";
  payload?: unknown;
}

export interface ResumeIn {
  generation: number;
  results?: Record<string, CallAnswer>;
  allow?: Array<string>;
}

export interface Row {
  kind: "answers" | "beyond" | "called" | "children" | "doubtful" | "dropped" | "ending" | "files" | "head" | "lost" | "processes" | "programs" | "quiet" | "refused" | "uncalled" | "unseen" | "unstored" | "waiting";
  label: string;
  words: string;
  brief: string;
  tone: "doubt" | "fine" | "news";
  names: Array<string>;
}

export interface RunAgentInput {
  threadId: string;
  runId: string;
  messages: Array<AguiMessage>;
  protocolVersion?: string;
  tools?: Array<object> | null;
  resume?: Array<ResumeEntry> | null;
}

export interface SaidOut {
  id: string;
  text: string;
  by: string;
  origin: "child" | "person" | "run" | "timer";
  attachments: Array<AttachmentOut>;
  at: number;
}

export interface SessionChange {
  title?: string;
  pinned?: boolean;
}

export interface SessionOut {
  id: string;
  title: string;
  generation: number;
  busy: boolean;
  active: string | null;
  state: "asking" | "idle" | "running" | "stopping" | "waiting";
  at: number;
  owner?: OwnerOut | null;
  pinned?: boolean;
}

export interface SessionsOut {
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

export interface SignInLink {
  path: string;
}

export interface SignalIn {
  signal: string;
}

export interface Snapshot {
  kind: "snapshot";
  id: string;
  generation: number;
  at: number;
  session: SessionOut;
  phase: PhaseOut;
  items: Array<MessageItemOut | TurnItemOut | ReceiptItemOut | NoteItemOut>;
  messages: Array<SaidOut>;
  pending: Array<string>;
  queue: QueueOut;
  questions: Array<QuestionOut>;
  waits: Array<WaitOut>;
  processes: Array<ProcessOut>;
  programs: Array<CellOut>;
  before: number;
  more: boolean;
}

export type Status = "begun" | "completed" | "intended" | "may have executed" | "not started";

export interface StopIn {
  run?: string | null;
  reason?: string;
}

export interface Stopped {
  receipt: ReceiptOut;
}

export interface TextOut {
  kind: "text";
  text: string;
  at: number;
  until: number;
}

export interface ThinkingOut {
  kind: "thinking";
  text: string;
  at: number;
  until: number;
}

export interface TicketOut {
  session: string;
  message: string;
  run: string;
  placed: "collecting" | "queued" | "starting" | "steering";
  generation: number;
  outcome: Outcome | null;
}

export interface ToldAnswer {
  allowed: boolean;
  by: string;
  scope: string;
}

export interface ToolReport {
  call: string;
  name: string;
  status: Status;
}

export interface TranscriptOut {
  items: Array<ShownOut>;
  next: number | null;
}

export interface TurnHeadOut {
  run: string;
  generation: number;
  at: number;
  until: number;
  fenced_at: number;
  outcome: string;
  error: string;
  rollback: boolean;
}

export interface TurnIsOut {
  change: "turnis";
  head: TurnHeadOut;
}

export interface TurnItemOut {
  kind: "turn";
  run: string;
  generation: number;
  at: number;
  until: number;
  fenced_at: number;
  outcome: string;
  error: string;
  rollback: boolean;
  key: string;
  parts: Array<TextOut | ThinkingOut | ProgressOut | CallPartOut | JoinedOut | AsideOut>;
}

export interface Unconfirmed {
  kind: "child" | "delivery" | "process" | "run" | "session" | "task" | "tool" | "write";
  name: string;
}

export interface UndoIn {
  run?: string | null;
  paths?: Array<string>;
  anyway?: boolean;
}

export interface UndoneOut {
  done: Array<string>;
  left: Array<LeftFile>;
  words: string;
}

export interface UsageIsOut {
  change: "usageis";
  run: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
  live: boolean;
}

export interface UsageOut {
  requests: number;
  input_tokens: number;
  output_tokens: number;
  model: string;
  filled: number;
}

export interface WaitIsOut {
  change: "waitis";
  wait: WaitOut;
}

export interface WaitOut {
  call: string;
  run: string;
  tool: string;
  at: number;
  until: number;
  answer: ToldAnswer | null;
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
