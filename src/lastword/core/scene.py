"""What a picture of a session is made of, and how it changes: what a person can see, and no more.

A change says what is different from before, so that whoever draws keeps no story of its own: it
puts the new where the old was. Some changes are *live*: a run does something by them, and they are
not to be made once its generation is fenced. The same words, told later as what had been said by
then, are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias, assert_never

from lastword.core.asks import Answer
from lastword.core.cell import StoredCell
from lastword.core.entries import Nature
from lastword.core.model import CallId, Generation, Message, MessageId, RunId, Status
from lastword.core.question import Question
from lastword.core.queue import QueueNews
from lastword.core.receipt import ProcessNews, Receipt, Unconfirmed
from lastword.core.value import value

# the parts of a turn


@dataclass(slots=True)
class Words:
    """What a run said, thought, or told of what it does; in the pieces in which it came."""

    kind: Literal["text", "thinking", "progress"]
    pieces: list[str]
    at: float = 0.0
    until: float = 0.0

    @property
    def text(self) -> str:
        """All of it."""
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0]


@value
class CallPart:
    """A call of a tool, and how it stands."""

    call: CallId
    name: str = ""
    arguments: str = ""
    nature: Nature = ""
    status: Status = Status.INTENDED
    content: str = ""
    error: bool = False
    output: str = ""  # what it has written so far; the newest
    at: float = 0.0
    began: float = 0.0
    until: float = 0.0
    answer: Answer | None = None  # what a person said to it


@value
class Joined:
    """A message that was sent to steer stands where the run took it up."""

    message: MessageId


@value
class Aside:
    """Something that the session told the model, or the person, within a run."""

    text: str


Part: TypeAlias = Words | CallPart | Joined | Aside

# what stands below one another


class Key(NamedTuple):
    """What an item is known by: of which kind it is, and its name among those."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@value
class MessageItem:
    """A message, before the turn that answers it; with its outcome if none ever did."""

    message: MessageId
    outcome: str = ""
    error: str = ""

    @property
    def key(self) -> Key:
        return Key("message", self.message)


@value
class TurnHead:
    """A run, without what it said and did."""

    run: RunId
    generation: Generation = Generation(0)
    at: float = 0.0
    until: float = 0.0
    fenced_at: float = 0.0
    outcome: str = ""
    error: str = ""
    rollback: bool = False


@dataclass(slots=True)
class TurnItem:
    """A run, with all that it said and did."""

    head: TurnHead
    parts: list[Part] = field(default_factory=list[Part])

    @property
    def key(self) -> Key:
        return Key("run", self.head.run)


@value
class ReceiptItem:
    """What a stop ended. It stands after what it ended."""

    receipt: Receipt
    settled: bool = False  # what was still ending when it was written has ended since

    @property
    def key(self) -> Key:
        """Its stop's, by what does not change while that settles. What only waited is withdrawn
        without moving the generation, so several stops may have the same, in one instant even."""
        told = self.receipt
        waited = "" if told.runs or not told.messages else f" {told.messages[0].message.id}"
        return Key("receipt", f"{told.generation} {told.reason} {told.fenced_at}{waited}")


@value
class NoteItem:
    """Something that the session told, by itself."""

    key: Key
    text: str


Item: TypeAlias = MessageItem | TurnItem | ReceiptItem | NoteItem

# what stands beside


@value
class SaidMessage:
    """A message, and when it was accepted."""

    message: Message
    at: float = 0.0


@value
class Wait:
    """A call that waits, or waited, for a person."""

    call: CallId
    run: RunId
    tool: str = ""
    at: float = 0.0
    until: float = 0.0
    answer: Answer | None = None  # None, too, if nobody is asked any more


@value
class Span:
    """A process, from its start to its end."""

    news: ProcessNews
    started_at: float
    ended_at: float | None = None

    @property
    def key(self) -> int | str:
        """What is kept may outlive its first process, whose number is then another's."""
        return self.news.job if self.news.kept else self.news.pid


# changes


@value
class Placed:
    """An item is there that was not: before the one of that key, or behind all."""

    item: Item
    before: Key | None = None


@value
class ItemIs:
    """An item is another, in its place."""

    item: MessageItem | ReceiptItem


@value
class ItemGone:
    """An item is not there any more."""

    key: Key


@value
class TurnIs:
    """How a run stands, or how it ended."""

    head: TurnHead


@value
class PartIs:
    """A part of a turn is there, or is another in its place."""

    run: RunId
    place: int
    part: Part
    live: bool = False


@value
class PartGone:
    """A part of a turn is not there any more."""

    run: RunId
    place: int


@value
class Grew:
    """A part that is words, or a call's output, goes on with these."""

    run: RunId
    place: int
    text: str
    of: Literal["text", "thinking", "progress", "output"]
    at: float = 0.0
    live: bool = False


@value
class MessageIs:
    """What a message says."""

    said: SaidMessage


@value
class PendingIs:
    """The messages that were accepted and have no place among the items yet."""

    messages: tuple[MessageId, ...]


@value
class QueueIs:
    """What waits, and how."""

    queue: QueueNews


@value
class AskOpened:
    """A person is asked."""

    question: Question
    live: bool = False


@value
class AskClosed:
    """A question is not open any more: it was answered, or withdrawn."""

    question: str
    answer: Answer | None = None


@value
class WaitIs:
    """Since when a call waits for a person, and until when."""

    wait: Wait


@value
class ProcessIs:
    """How a process stands."""

    span: Span


@value
class ProcessStarts:
    """A process is about to start."""

    news: ProcessNews
    live: bool = False


@value
class ProgramIs:
    """How a program stands; one that has ended is told last."""

    cell: StoredCell


@value
class UsageIs:
    """What one request to a model cost."""

    run: RunId
    model: str
    input_tokens: int
    output_tokens: int
    live: bool = False


@value
class Phase:
    """What is going on."""

    generation: Generation = Generation(0)
    active: RunId | None = None
    typing: bool = False
    ending: tuple[Unconfirmed, ...] = ()  # what was stopped and has not ended yet
    level: str = ""  # how strictly processes are held


@value
class PhaseIs:
    """What is going on, now. It is live if a typing mark goes up by it."""

    phase: Phase
    live: bool = False


Change: TypeAlias = (
    Placed
    | ItemIs
    | ItemGone
    | TurnIs
    | PartIs
    | PartGone
    | Grew
    | MessageIs
    | PendingIs
    | QueueIs
    | AskOpened
    | AskClosed
    | WaitIs
    | ProcessIs
    | ProcessStarts
    | ProgramIs
    | UsageIs
    | PhaseIs
)


def is_live(change: Change) -> bool:
    """Whether a run does something by it."""
    return bool(getattr(change, "live", False))


def as_record(change: Change) -> Change | None:
    """A live change, for who comes to it when its generation is fenced: what was said and called is
    told as that; a mark, a question, the start of a process are not told any more. What is not live
    is told as it is."""
    match change:
        case PartIs() | Grew():
            return replace(change, live=False)
        case AskOpened() | ProcessStarts() | UsageIs() | PhaseIs():
            return None if change.live else change
        case Placed() | ItemIs() | ItemGone() | TurnIs() | PartGone() | MessageIs() | PendingIs():
            return change
        case QueueIs() | AskClosed() | WaitIs() | ProcessIs() | ProgramIs():
            return change
        case _:
            assert_never(change)
