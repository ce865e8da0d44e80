"""What a session's machine tells the runtime to do, in the order it is to be done.

An order is a wish and no state: what depends on how it went moves when that is told, by an event.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from lastword.core.cell import CellId
from lastword.core.model import Generation, Message, Outcome, Placement, Reason, RunId, Turn
from lastword.core.value import value


@value
class Accept:
    """The message was placed: store it, and report whether that succeeded."""

    message: Message
    run: RunId
    placement: Placement


@value
class Refuse:
    """Tell the sender that the message was not accepted."""

    message: Message
    why: Literal["busy", "full"]


@value
class Start:
    """Begin the run; it holds this generation until it ends."""

    turn: Turn
    generation: Generation


@value
class Cancel:
    """End a run that was started. Its generation is already out of date. Report when it ended.

    A program that works for it goes no further, if the reason `freezes`.
    """

    run: RunId
    reason: Reason


@value
class End:
    """These messages have reached their outcome: record it, and tell their senders."""

    turn: Turn
    outcome: Outcome
    started: bool
    rollback: bool = False  # leave the turn out of what the model is shown
    held: bool = False  # it was ended while it held the session


@value
class Pause:
    """The turn stays in the queue, and does not start until the person speaks or resumes."""

    turn: Turn


@value
class Freeze:
    """These programs, of those that stand in the session, go no further. Comes before the rest."""

    cells: tuple[CellId, ...]


@value
class Join:
    """These messages are part of the active run from here on."""

    run: RunId
    messages: tuple[Message, ...]


@value
class Edit:
    """The message waits, under this run, and reads like this: it was edited, or given back."""

    message: Message
    run: RunId


@value
class Wake:
    """Report `ClockReached` at this time."""

    at: float


Order: TypeAlias = Accept | Refuse | Start | Cancel | End | Pause | Freeze | Join | Edit | Wake
