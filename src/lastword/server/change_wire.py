"""What a stream tells, as types: a picture of a session, and then how it changes.

An event is a snapshot, some changes, or the end. A change names its class in `change`, an item of
the picture and a part of a turn name theirs in `kind`. Those that are `live` are something that a
run is doing; they do not leave once its generation is fenced.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from lastword.core.entries import Nature
from lastword.core.model import Status
from lastword.server.cell_wire import CellOut
from lastword.server.process_wire import ProcessOut
from lastword.server.question_wire import QuestionOut
from lastword.server.wire import MessageOut, QueueOut, ReceiptOut, SessionOut

# the parts of a turn


class WordsOut(Struct, tag_field="kind"):
    """What a run said."""

    text: str
    at: float
    until: float


class TextOut(WordsOut, tag="text"):
    """In its answer."""


class ThinkingOut(WordsOut, tag="thinking"):
    """To itself."""


class ProgressOut(WordsOut, tag="progress"):
    """Of what it does."""


class ToldAnswer(Struct):
    """What a person said to a call."""

    allowed: bool
    by: str
    scope: str


class CallPartOut(Struct, tag_field="kind", tag="call"):
    """A tool call and its status; `output` is what it has written so far."""

    call: str
    name: str
    arguments: str
    nature: Nature
    status: Status
    content: str
    error: bool
    output: str
    at: float
    began: float
    until: float
    answer: ToldAnswer | None


class JoinedOut(Struct, tag_field="kind", tag="said"):
    """A message that was sent to steer, where the run took it up."""

    id: str


class AsideOut(Struct, tag_field="kind", tag="note"):
    """A note of the session within a run."""

    text: str


PartOut: TypeAlias = TextOut | ThinkingOut | ProgressOut | CallPartOut | JoinedOut | AsideOut


# what stands below one another


class MessageItemOut(Struct, tag_field="kind", tag="message"):
    """A message, with its outcome if no run ever answered it."""

    key: str
    id: str
    outcome: str
    error: str


class TurnHeadOut(Struct):
    """A run, without what it said and did."""

    run: str
    generation: int
    at: float
    until: float
    fenced_at: float
    outcome: str
    error: str
    rollback: bool


class TurnItemOut(TurnHeadOut, tag_field="kind", tag="turn"):
    """A run, with all that it said and did."""

    key: str
    parts: list[PartOut]


class ReceiptItemOut(Struct, tag_field="kind", tag="receipt"):
    """What a stop ended; `settled` once that has ended which had not when it was written."""

    key: str
    receipt: ReceiptOut
    settled: bool


class NoteItemOut(Struct, tag_field="kind", tag="note"):
    """A note of the session."""

    key: str
    text: str


ItemOut: TypeAlias = MessageItemOut | TurnItemOut | ReceiptItemOut | NoteItemOut


# what stands beside


class SaidOut(MessageOut):
    """A message, and when it was accepted."""

    at: float


class WaitOut(Struct):
    """A call that waits, or waited, for a person."""

    call: str
    run: str
    tool: str
    at: float
    until: float
    answer: ToldAnswer | None


class PhaseOut(Struct):
    """What is happening now; `ending` is what was stopped and has not ended yet."""

    generation: int
    active: str | None
    typing: bool
    ending: list[str]
    level: str


# changes


class ChangeOut(Struct, tag_field="change", tag=lambda name: name.removesuffix("Out").lower()):
    """One change."""


class PlacedOut(ChangeOut):
    """An item was added: before the item with that key, or at the end."""

    item: ItemOut
    before: str | None


class ItemIsOut(ChangeOut):
    """An item was replaced."""

    item: MessageItemOut | ReceiptItemOut


class ItemGoneOut(ChangeOut):
    """An item was removed."""

    key: str


class TurnIsOut(ChangeOut):
    """The state of a run has changed, or it has ended."""

    head: TurnHeadOut


class PartIsOut(ChangeOut):
    """A part of a turn was added or replaced."""

    run: str
    place: int
    part: PartOut
    live: bool


class PartGoneOut(ChangeOut):
    """A part of a turn was removed."""

    run: str
    place: int


class GrewOut(ChangeOut):
    """Text was added to a part, or to the output of a call."""

    run: str
    place: int
    text: str
    of: Literal["text", "thinking", "progress", "output"]
    at: float
    live: bool


class MessageIsOut(ChangeOut):
    """A message was accepted or edited."""

    said: SaidOut


class PendingIsOut(ChangeOut):
    """The messages that were accepted and are not among the items yet."""

    messages: list[str]


class QueueIsOut(ChangeOut):
    """The queue has changed."""

    queue: QueueOut


class AskOpenedOut(ChangeOut):
    """A question was asked."""

    question: QuestionOut
    live: bool


class AskClosedOut(ChangeOut):
    """A question was answered, or withdrawn."""

    question: str
    answer: ToldAnswer | None


class WaitIsOut(ChangeOut):
    """A call waits for a person, or has waited."""

    wait: WaitOut


class ProcessIsOut(ChangeOut):
    """A process has started, changed or ended."""

    process: ProcessOut


class ProcessStartsOut(ChangeOut):
    """A process is about to start."""

    run: str
    command: str
    live: bool


class ProgramIsOut(ChangeOut):
    """A program has moved, or has ended."""

    program: CellOut


class UsageIsOut(ChangeOut):
    """A request to a model has cost so many tokens."""

    run: str
    model: str
    input_tokens: int
    output_tokens: int
    live: bool


class PhaseIsOut(ChangeOut):
    """The phase has changed: the active run, the typing mark, what is still ending."""

    phase: PhaseOut
    live: bool


AnyChange: TypeAlias = (
    PlacedOut
    | ItemIsOut
    | ItemGoneOut
    | TurnIsOut
    | PartIsOut
    | PartGoneOut
    | GrewOut
    | MessageIsOut
    | PendingIsOut
    | QueueIsOut
    | AskOpenedOut
    | AskClosedOut
    | WaitIsOut
    | ProcessIsOut
    | ProcessStartsOut
    | ProgramIsOut
    | UsageIsOut
    | PhaseIsOut
)


# events


class EventOut(Struct, tag_field="kind"):
    """Something that a stream tells."""

    id: str
    generation: int
    at: float


class Changes(EventOut, tag="changes"):
    """What has changed since the event before."""

    changes: list[AnyChange]


class Closed(EventOut, tag="closed"):
    """The stream ends; `why` is `shutdown`, `deleted` or `lost` (another process owns it)."""

    why: str


class Snapshot(EventOut, tag="snapshot"):
    """A session, as the first event of a stream shows it. If there is `more`, older items are at
    `…/past?before=` and that number."""

    session: SessionOut
    phase: PhaseOut
    items: list[ItemOut]
    messages: list[SaidOut]
    pending: list[str]
    queue: QueueOut
    questions: list[QuestionOut]
    waits: list[WaitOut]
    processes: list[ProcessOut]
    programs: list[CellOut]
    before: int
    more: bool


class PastOut(Struct):
    """Older items. If there is `more`, those before them are at `…/past?before=` and that
    number."""

    items: list[ItemOut]
    messages: list[SaidOut]
    pending: list[str]
    waits: list[WaitOut]
    before: int
    more: bool
