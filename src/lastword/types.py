"""The types of public signatures: what the public objects take and give, for who writes a sink, an
engine, a store or a surface. `lastword` itself has the names that every program needs."""

from __future__ import annotations

from lastword.core.asks import Answer, AnswerSent, Ask
from lastword.core.cell import (
    CellId,
    CellOutcome,
    CellRecord,
    Ending,
    Frontier,
    Kind,
    PendingCall,
    PendingGeneration,
    StoredCell,
    Values,
)
from lastword.core.changes import Change, Line
from lastword.core.entries import (
    Answered,
    Asked,
    Began,
    Called,
    Declined,
    Entry,
    Finished,
    LeftOut,
    Native,
    Nature,
    Note,
    Result,
    Said,
    Summary,
    Text,
    Thinking,
    Unshown,
    Used,
    Withdrawn,
)
from lastword.core.model import (
    CallId,
    MessageId,
    Origin,
    Placement,
    QueueOnStop,
    RunId,
    SessionId,
    Turn,
)
from lastword.core.question import Question, Scope, ScopeKind
from lastword.core.queue import Queued, QueueNews, Standing
from lastword.core.receipt import (
    AnswerReport,
    CellReport,
    ChildReport,
    MessageReport,
    ProcessNews,
    ProcessReport,
    Refusal,
    ToolReport,
    Unconfirmed,
)
from lastword.core.recovery import Recovery
from lastword.core.rows import Row, RowKind, Tone
from lastword.core.scene import Span
from lastword.core.shown import Partial
from lastword.core.story import Begun, Fact, Passing, ProgramNews, Progress, Settled, Typing
from lastword.core.undo import FilesReport
from lastword.processes.command import Stdin
from lastword.runtime.active_run import Hears
from lastword.runtime.asks import Asks, ForGood
from lastword.runtime.clock import Clock
from lastword.runtime.executor import Act, ActKind
from lastword.runtime.feed import Feed
from lastword.runtime.jobs import Job, Jobs, OutputPiece
from lastword.runtime.ledger import BeforeTool
from lastword.runtime.protocol import LogPage, Over, Record, View
from lastword.runtime.run import Sink
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.settings import OnRestart
from lastword.runtime.ticket import Stopping
from lastword.runtime.trace import ModelRequest
from lastword.runtime.tracing import (
    Begins,
    CallEnded,
    OpenSpan,
    RequestEnded,
    RunEnded,
    SpanEnd,
    TraceContext,
    TracedCall,
    TracedRequest,
    TracedRun,
    Tracer,
)
from lastword.stores.contract import (
    Label,
    LogPart,
    OtherOwner,
    Overview,
    Place,
    SessionFilter,
    State,
    StoredMessage,
    StoredSession,
    StoreSize,
    Write,
)
from lastword.stores.lease import Claim, Tenure
from lastword.stores.reach import OnAsked, Reach

__all__ = [
    "Act",
    "ActKind",
    "Answer",
    "AnswerReport",
    "AnswerSent",
    "Answered",
    "Ask",
    "Asked",
    "Asks",
    "BeforeTool",
    "Began",
    "Begins",
    "Begun",
    "CallEnded",
    "CallId",
    "Called",
    "CellId",
    "CellOutcome",
    "CellRecord",
    "CellReport",
    "Change",
    "ChildReport",
    "Claim",
    "Clock",
    "Declined",
    "Ending",
    "Entry",
    "Fact",
    "Feed",
    "FilesReport",
    "Finished",
    "ForGood",
    "Frontier",
    "Hears",
    "Job",
    "Jobs",
    "Kind",
    "Label",
    "LeftOut",
    "Line",
    "LogPage",
    "LogPart",
    "MessageId",
    "MessageReport",
    "ModelRequest",
    "Native",
    "Nature",
    "Note",
    "OnAsked",
    "OnRestart",
    "OpenSpan",
    "Origin",
    "OtherOwner",
    "OutputPiece",
    "Over",
    "Overview",
    "Partial",
    "Passing",
    "PendingCall",
    "PendingGeneration",
    "Place",
    "Placement",
    "ProcessNews",
    "ProcessReport",
    "ProgramNews",
    "Progress",
    "Question",
    "QueueNews",
    "QueueOnStop",
    "Queued",
    "Reach",
    "Record",
    "Recovery",
    "Refusal",
    "RequestEnded",
    "Result",
    "Row",
    "RowKind",
    "RunEnded",
    "RunId",
    "Said",
    "Scope",
    "ScopeKind",
    "SessionCells",
    "SessionFilter",
    "SessionId",
    "Settled",
    "Sink",
    "Span",
    "SpanEnd",
    "Standing",
    "State",
    "Stdin",
    "Stopping",
    "StoreSize",
    "StoredCell",
    "StoredMessage",
    "StoredSession",
    "Summary",
    "Tenure",
    "Text",
    "Thinking",
    "Tone",
    "ToolReport",
    "TraceContext",
    "TracedCall",
    "TracedRequest",
    "TracedRun",
    "Tracer",
    "Turn",
    "Typing",
    "Unconfirmed",
    "Unshown",
    "Used",
    "Values",
    "View",
    "Withdrawn",
    "Write",
]
