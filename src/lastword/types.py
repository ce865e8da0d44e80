"""The types of public signatures: what the public objects take and give, for who writes a sink, an
engine, a store or a surface. `lastword` itself has the names that every program needs."""

from __future__ import annotations

from lastword.core.asks import Answer, Ask
from lastword.core.cell import StoredCell
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
)
from lastword.core.question import Question
from lastword.core.queue import Queued, QueueNews
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
from lastword.core.rows import Row
from lastword.core.scene import Span
from lastword.core.shown import Partial
from lastword.core.story import Begun, Fact, Passing, ProgramNews, Progress, Settled, Typing
from lastword.runtime.active_run import Hears
from lastword.runtime.asks import Asks
from lastword.runtime.clock import Clock
from lastword.runtime.executor import Act
from lastword.runtime.feed import Feed
from lastword.runtime.jobs import Job, Jobs
from lastword.runtime.ledger import BeforeTool
from lastword.runtime.protocol import Record, View
from lastword.runtime.run import Sink
from lastword.runtime.session_cells import SessionCells
from lastword.runtime.settings import OnRestart
from lastword.runtime.ticket import Stopping
from lastword.stores.contract import LogPart, Overview, StoredMessage, StoredSession, Write
from lastword.stores.lease import Claim, Tenure

__all__ = [
    "Act",
    "Answer",
    "AnswerReport",
    "Answered",
    "Ask",
    "Asked",
    "Asks",
    "BeforeTool",
    "Began",
    "Begun",
    "CallId",
    "Called",
    "CellReport",
    "ChildReport",
    "Claim",
    "Clock",
    "Declined",
    "Entry",
    "Fact",
    "Feed",
    "Finished",
    "Hears",
    "Job",
    "Jobs",
    "LeftOut",
    "LogPart",
    "MessageId",
    "MessageReport",
    "Native",
    "Nature",
    "Note",
    "OnRestart",
    "Origin",
    "Overview",
    "Partial",
    "Passing",
    "Placement",
    "ProcessNews",
    "ProcessReport",
    "ProgramNews",
    "Progress",
    "Question",
    "QueueNews",
    "QueueOnStop",
    "Queued",
    "Record",
    "Recovery",
    "Refusal",
    "Result",
    "Row",
    "RunId",
    "Said",
    "SessionCells",
    "SessionId",
    "Settled",
    "Sink",
    "Span",
    "Stopping",
    "StoredCell",
    "StoredMessage",
    "StoredSession",
    "Summary",
    "Tenure",
    "Text",
    "Thinking",
    "ToolReport",
    "Typing",
    "Unconfirmed",
    "Unshown",
    "Used",
    "View",
    "Withdrawn",
    "Write",
]
