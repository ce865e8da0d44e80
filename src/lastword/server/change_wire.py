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
    """A call of a tool, and how it stands; `output` is what it has written so far."""

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
    """Something that the session told within a run."""

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
    """Something that the session told by itself."""

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
    """What is going on; `ending` is what was stopped and has not ended yet."""

    generation: int
    active: str | None
    typing: bool
    ending: list[str]
    level: str


# changes


class ChangeOut(Struct, tag_field="change", tag=lambda name: name.removesuffix("Out").lower()):
    """What is different from before."""


class PlacedOut(ChangeOut):
    """An item is there that was not: before the one of that key, or behind all."""

    item: ItemOut
    before: str | None


class ItemIsOut(ChangeOut):
    """An item is another, in its place."""

    item: MessageItemOut | ReceiptItemOut


class ItemGoneOut(ChangeOut):
    """An item is not there any more."""

    key: str


class TurnIsOut(ChangeOut):
    """How a run stands, or how it ended."""

    head: TurnHeadOut


class PartIsOut(ChangeOut):
    """A part of a turn is there, or is another in its place."""

    run: str
    place: int
    part: PartOut
    live: bool


class PartGoneOut(ChangeOut):
    """A part of a turn is not there any more."""

    run: str
    place: int


class GrewOut(ChangeOut):
    """A part that is words, or a call's output, goes on with these."""

    run: str
    place: int
    text: str
    of: Literal["text", "thinking", "progress", "output"]
    at: float
    live: bool


class MessageIsOut(ChangeOut):
    """What a message says."""

    said: SaidOut


class PendingIsOut(ChangeOut):
    """The messages that were accepted and have no place among the items yet."""

    messages: list[str]


class QueueIsOut(ChangeOut):
    """What waits, and how."""

    queue: QueueOut


class AskOpenedOut(ChangeOut):
    """A person is asked."""

    question: QuestionOut
    live: bool


class AskClosedOut(ChangeOut):
    """A question is not open any more: it was answered, or withdrawn."""

    question: str
    answer: ToldAnswer | None


class WaitIsOut(ChangeOut):
    """Since when a call waits for a person, and until when."""

    wait: WaitOut


class ProcessIsOut(ChangeOut):
    """How a process stands."""

    process: ProcessOut


class ProcessStartsOut(ChangeOut):
    """A process is about to start."""

    run: str
    command: str
    live: bool


class ProgramIsOut(ChangeOut):
    """How a program stands; one that has ended is told last."""

    program: CellOut


class UsageIsOut(ChangeOut):
    """What one request to a model cost."""

    run: str
    model: str
    input_tokens: int
    output_tokens: int
    live: bool


class PhaseIsOut(ChangeOut):
    """What is going on, now."""

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
    """What is different since the event before."""

    changes: list[AnyChange]


class Closed(EventOut, tag="closed"):
    """There is no more, and why."""

    why: str


class Snapshot(EventOut, tag="snapshot"):
    """All there is to see of a session, as the first event of a stream; what lies before that in
    the log comes, as far as there is `more`, `before` that number."""

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
    """What some of the log shows; what lies before that comes, as far as there is `more`, `before`
    that number."""

    items: list[ItemOut]
    messages: list[SaidOut]
    pending: list[str]
    waits: list[WaitOut]
    before: int
    more: bool
