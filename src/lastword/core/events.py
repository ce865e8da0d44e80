"""What the runtime tells a session's machine. Each is a fact, or something a person asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from lastword.core.model import Message, MessageId, Outcome, Policy, Reason, RunId
from lastword.core.queue import Queue


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message arrived; `run` is the run that would answer it. `at` is the time in seconds."""

    message: Message
    run: RunId
    on_message: Policy | None = None  # None: as the session is set
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Stored:
    """The store has the message: it may act now."""

    message: MessageId


@dataclass(frozen=True, slots=True)
class StoreFailed:
    """The store did not take the message: it was never accepted."""

    message: MessageId


@dataclass(frozen=True, slots=True)
class Ended:
    """A run's engine returned or failed, or a cancelled run has unwound."""

    run: RunId
    outcome: Literal[Outcome.COMPLETED, Outcome.FAILED]


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody asked for a stop: of everything, or of one run. `by` None: the program itself."""

    reason: Reason = Reason.STOPPED
    run: RunId | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class SteeringTaken:
    """The active run is about to call its model and takes what was sent to steer it."""

    run: RunId


@dataclass(frozen=True, slots=True)
class ClockReached:
    """Time has passed."""

    at: float


@dataclass(frozen=True, slots=True)
class EditAsked:
    """Change the text of a message that waits."""

    message: MessageId
    text: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveAsked:
    """Take a message that waits out of the queue."""

    message: MessageId
    by: str | None = None


@dataclass(frozen=True, slots=True)
class MoveAsked:
    """Give the turn of a message that waits another place in the queue, counted from 0."""

    message: MessageId
    to: int
    by: str | None = None


@dataclass(frozen=True, slots=True)
class ResumeAsked:
    """Let the messages that a stop left waiting go on."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an earlier process had accepted and not begun. Comes first, if it comes."""

    waiting: Queue
    hushed: bool  # nothing but a person's word lets it go on
    stopping: bool = False  # a stop follows at once, and nothing starts before it


Event: TypeAlias = (
    Accepted
    | Stored
    | StoreFailed
    | Ended
    | StopAsked
    | SteeringTaken
    | ClockReached
    | EditAsked
    | RemoveAsked
    | MoveAsked
    | ResumeAsked
    | Found
)
