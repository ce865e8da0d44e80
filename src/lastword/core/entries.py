"""What happened in a session, as its log keeps it: neutral, in order, never changed.

No entry is in a provider's form. What an engine must give back to its provider word for word (the
signature of a thinking, the id of an item) rides along as `native`, which nobody else reads. When
it happened, in seconds since 1970, is for people: two entries that tell the same are the same.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from lastword.core.asks import Answer
from lastword.core.model import CallId, Generation, Message, MessageId, Outcome, RunId, Status
from lastword.core.question import Question
from lastword.core.receipt import Receipt
from lastword.core.value import value

Nature: TypeAlias = Literal["", "idempotent", "read_only", "post", "inner"]
Part: TypeAlias = Literal["attachments", "natives", "calls", "turn", "notes", "summary", "all"]


@value
class Native:
    """What only the engine that wrote it reads."""

    engine: str
    data: str


@value
class Said:
    """A message was accepted, or edited while it waited; `run` is the run that would answer it.

    It may take the place of a turn: the model is not shown that of the run `instead` from here on,
    but for a note of what it called. The log keeps both.
    """

    message: Message
    run: RunId
    instead: RunId | None = None
    at: float = field(default=0.0, compare=False)


@value
class Began:
    """A run started, or took up messages that were sent to steer it."""

    run: RunId
    generation: Generation
    messages: tuple[MessageId, ...]
    at: float = field(default=0.0, compare=False)


@value
class Text:
    """What a run said. It is stored before it is shown; what was not shown is *unshown*.

    It may come in pieces: those with nothing of their run between them are one text, and the
    first that has a native ends it.
    """

    run: RunId
    text: str
    native: Native | None = None


@value
class Thinking:
    """What the model thought before it spoke or called; in pieces, as a text.

    Without a native it was cut, or is nobody's to give back: the model is not shown it again.
    """

    run: RunId
    text: str
    native: Native | None = None


@value
class Unshown:
    """Of what a run said, or thought, this did not reach the person.

    It begins so many characters before the end of what the run had said by then.
    """

    run: RunId
    back: int
    length: int
    of: Literal["text", "thinking"] = "text"


@value
class Called:
    """A run set out to call a tool. Calls with nothing of their run between them are one batch."""

    run: RunId
    call: CallId
    name: str
    arguments: str
    # idempotent and read-only calls can be repeated by whoever is in doubt; a post is something
    # that left through the outbox, an inner call one of an agent that a tool runs: the session's
    # own model did not ask for these, and is not shown them
    nature: Nature = ""
    native: Native | None = None
    key: str = ""  # of an idempotent call; who repeats one that is in doubt has the same
    at: float = field(default=0.0, compare=False)


@value
class Result:
    """What became of a call. One that raised is *completed*, with an error."""

    run: RunId
    call: CallId
    status: Status
    content: str = ""
    error: bool = False
    native: Native | None = None
    at: float = field(default=0.0, compare=False)


@value
class Asked:
    """A call waits for a person from here on: until it is answered, or its run may not act."""

    run: RunId
    call: CallId
    tool: str
    subject: str
    at: float = field(default=0.0, compare=False)
    ask: str = field(default="", compare=False)  # its id
    # all of it, for who is asked now; the log has no use for that
    question: Question | None = field(default=None, compare=False, repr=False)


@value
class Answered:
    """A person said whether it may be made."""

    run: RunId
    call: CallId
    allowed: bool
    by: str = ""  # empty: whoever sits where the run was started
    scope: str = ""  # what was allowed, or forbidden, for good, in words; empty: this once
    at: float = field(default=0.0, compare=False)
    ask: str = field(default="", compare=False)

    @property
    def answer(self) -> Answer:
        """The same, as it was given."""
        return Answer(self.allowed, self.by, self.scope)


@value
class Withdrawn:
    """Nobody is asked any more: its run may not act, or wants no answer."""

    run: RunId
    call: CallId
    at: float = field(default=0.0, compare=False)
    ask: str = field(default="", compare=False)


@value
class Used:
    """What one request to a model cost."""

    run: RunId
    model: str
    input_tokens: int
    output_tokens: int


@value
class Note:
    """Something the session itself tells the model: within a run that is going, or on its own."""

    run: RunId | None
    text: str


@value
class Summary:
    """In place of everything up to and with the turn of the run `upto`, whatever came of it.

    It is shown first, and a later summary replaces it. A log that no longer has that turn lost it
    to this summary, which then stands before all that the log still has. Messages that wait are
    not touched, and if the run is still going, what it does from now on follows the summary.
    """

    text: str
    upto: RunId


@value
class Declined:
    """A provider did not take what this run asked it, for what was in it."""

    run: RunId
    status: int  # of HTTP


@value
class LeftOut:
    """A part of a turn is shown by name from now on: a provider took the rest, and not this."""

    run: RunId  # that asked
    of: RunId  # whose turn it is of; of nobody's ("") is what stands on its own by then
    part: Part
    text: str  # what was left out, for people
    at: float = field(default=0.0, compare=False)


@value
class Finished:
    """Messages reached their outcome, and the run that answered them, if it began, ended."""

    run: RunId
    outcome: Outcome
    messages: tuple[MessageId, ...]
    started: bool
    rollback: bool = False
    error: str = ""
    held: bool = False  # it did not begin, but it held the session when it was ended
    at: float = field(default=0.0, compare=False)
    kind: str = ""  # of the error: what the model is told of it, who said it is not quoted


Entry: TypeAlias = (
    Said
    | Began
    | Text
    | Thinking
    | Unshown
    | Called
    | Result
    | Asked
    | Answered
    | Withdrawn
    | Used
    | Note
    | Summary
    | Declined
    | LeftOut
    | Finished
    | Receipt
)
