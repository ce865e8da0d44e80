"""What a cell's machine tells the runtime to do, in the order it is to be done."""

from __future__ import annotations

from typing import TypeAlias

from lastword.core.cell import (
    CallResult,
    CellRecord,
    Ending,
    Frontier,
    Observation,
    PendingCall,
    PendingGeneration,
    Values,
)
from lastword.core.value import value


@value
class StoreCell:
    """Make the record durable; report whether that succeeded. Records are stored in order."""

    record: CellRecord


@value
class Commit:
    """Make the record and the session's values durable, in one transaction; report as above."""

    record: CellRecord
    values: Values


@value
class StartProgram:
    """Run the program from its beginning."""


@value
class Stand:
    """The cell stands at this frontier, a pausable one durably: tell whoever waits for it."""

    frontier: Frontier


@value
class Execute:
    """Make these calls, through the run's gate, and report each when it has ended."""

    calls: tuple[PendingCall, ...]


@value
class CancelCalls:
    """End these calls: they were handed out, and nobody waits for them any more."""

    calls: tuple[PendingCall, ...]


@value
class Deliver:
    """Give the results to the interpreter; report whether it took them."""

    generation: PendingGeneration
    results: tuple[CallResult, ...]
    reload: bool  # into another interpreter, from the frontier's dump


@value
class Resumed:
    """Tell whoever resumed this frontier that the cell goes on from it."""

    generation: PendingGeneration


@value
class NotResumed:
    """Tell whoever resumed this frontier that it did not arrive, and the frontier is as it was."""

    generation: PendingGeneration


@value
class Show:
    """Give this to the observer; report whether it arrived."""

    observer: str
    observation: Observation


@value
class Kill:
    """The cell has no more use for its interpreter. Nothing that it reports counts any more."""


@value
class EndCell:
    """The cell has ended: tell whoever waits for it, or for a resume that was under way."""

    ending: Ending
    durable: bool


CellOrder: TypeAlias = (
    StoreCell
    | Commit
    | StartProgram
    | Stand
    | Execute
    | CancelCalls
    | Deliver
    | Resumed
    | NotResumed
    | Show
    | Kill
    | EndCell
)
