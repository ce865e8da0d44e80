"""What the runtime tells a session's machine. Each is a fact, or something a person asked for.

A machine is told nothing else, so a list of these is a history, and always has the same end.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from lastword.core.model import (
    Generation,
    Message,
    MessageId,
    Origin,
    Outcome,
    Policy,
    Reason,
    RunId,
    Turn,
)
from lastword.core.queue import Queue
from lastword.core.rights import StandingProgram
from lastword.core.value import value


@value
class Instead:
    """The turn that a message is to take the place of, as whoever asks for that saw it."""

    turn: Turn
    generation: Generation  # at which it was the last that the model is shown


@value
class Accepted:
    """A message arrived; `run` is the run that would answer it. `at` is the time in seconds.

    Several that arrive as one (a backlog) are one turn. They count as a person's word if one of
    them is, are the first such person's, and take over if one of those people may.
    """

    message: Message
    run: RunId
    on_message: Policy | None = None  # None: as the session is set
    at: float = 0.0
    more: tuple[Message, ...] = ()  # that came with it, in order
    instead: Instead | None = None  # the turn whose place it takes


@value
class Stored:
    """The store has the message: it may act now."""

    message: MessageId


@value
class StoreFailed:
    """The store did not take the message: it was never accepted."""

    message: MessageId


@value
class Ended:
    """A run's engine returned or failed, or a cancelled run has unwound."""

    run: RunId
    outcome: Literal[Outcome.COMPLETED, Outcome.FAILED]
    left: int = 0  # of those that joined it last, how many it never was given


@value
class StopAsked:
    """Somebody asked for a stop: of everything, or of one run. `by` None: the program itself."""

    reason: Reason = Reason.STOPPED
    run: RunId | None = None
    by: str | None = None
    said: str = ""  # why, in the person's own words


@value
class SteeringTaken:
    """The active run is about to call its model and takes what was sent to steer it."""

    run: RunId


@value
class ClockReached:
    """Time has passed."""

    at: float


@value
class EditAsked:
    """Change the text of a message that waits."""

    message: MessageId
    text: str
    by: str | None = None


@value
class RemoveAsked:
    """Take a message that waits out of the queue."""

    message: MessageId
    by: str | None = None


@value
class MoveAsked:
    """Give the turn of a message that waits another place in the queue, counted from 0."""

    message: MessageId
    to: int
    by: str | None = None


@value
class ResumeAsked:
    """Let the messages that a stop left waiting go on. What a person stopped, a person lets."""

    origin: Origin = "person"


@value
class Loaded:
    """How far the session had got, by the store's word. Comes before anything else does."""

    generation: Generation


@value
class Found:
    """What an earlier process had accepted and not begun. Comes first, if it comes."""

    waiting: Queue
    hushed: bool  # nothing but a person's word lets it go on
    stopping: bool = False  # a stop follows at once, and nothing starts before it


@value
class ProgramsStand:
    """The programs of the session that have not ended, as they are now: all of them."""

    programs: tuple[StandingProgram, ...]


@value
class LetGo:
    """The session leaves memory, and the store has all of it. What comes next is `Loaded`."""


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
    | Loaded
    | Found
    | LetGo
    | ProgramsStand
)
