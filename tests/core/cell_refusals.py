"""What a cell's machine has to turn down, and with which error; the other half of the judge."""

from __future__ import annotations

from lastword.core.cell import CellOutcome
from lastword.core.cell_events import (
    CallsAnswered,
    CallsEnded,
    CellEvent,
    CellNotStored,
    CellStored,
    Delivered,
    DeliveryFailed,
    Frozen,
    ObserveBegun,
    ObserveDelivered,
    ObserveFailed,
    Raised,
    Reached,
    Returned,
    RuntimeLost,
    StartAsked,
    TerminateAsked,
    UsedUp,
)
from lastword.errors import (
    AlreadyRunning,
    CellGone,
    FutureGeneration,
    ImpossibleMove,
    LastwordError,
    NotPausable,
    ObserverBusy,
    StaleGeneration,
    WrongCalls,
)
from tests.core.cell_ghost import Ghost


def forbidden(event: CellEvent, ghost: Ghost) -> type[LastwordError] | None:  # noqa: PLR0911, PLR0912 - one match
    """The error with which the machine has to turn this event down, if it has to."""
    match event:
        case CallsAnswered():
            return _unresumable(event, ghost)
        case TerminateAsked():
            return CellGone if ghost.ending else None
        case ObserveBegun():
            if ghost.ending and ghost.ending.outcome is CellOutcome.FROZEN:
                return CellGone
            return ObserverBusy if ghost.showing else None
        case ObserveDelivered(observer) | ObserveFailed(observer):
            shown = ghost.showing and ghost.showing[0] == observer
            return None if shown else ImpossibleMove
        case StartAsked():
            return ImpossibleMove if ghost.started or ghost.ending else None
        case CellStored(version) | CellNotStored(version):
            first = ghost.stores[0].record.version if ghost.stores else 0
            return ImpossibleMove if version > first else None
        case _ if ghost.ending is not None:
            return None  # late, and not heard
        case Reached(made=made):
            again = any(call in ghost.stood.pending for call in made) if ghost.stood else False
            return None if ghost.running and not again else ImpossibleMove
        case Returned() | Raised() | UsedUp():
            return None if ghost.running else ImpossibleMove
        case Delivered(generation) | DeliveryFailed(generation):
            right = ghost.delivering and generation == ghost.generation
            return None if right else ImpossibleMove
        case CallsEnded(results):
            ids = [result.call for result in results]
            right = len(set(ids)) == len(ids) and set(ids) <= ghost.going
            return None if right else ImpossibleMove
        case RuntimeLost() | Frozen():
            return None


def _unresumable(event: CallsAnswered, ghost: Ghost) -> type[LastwordError] | None:
    if ghost.ending:
        return CellGone
    if ghost.kind == "continuing":
        return NotPausable
    if event.generation < ghost.generation:
        return StaleGeneration
    if event.generation > ghost.generation:
        return FutureGeneration
    if not ghost.open:
        return AlreadyRunning
    ids = [result.call for result in event.results]
    right = ids and len(set(ids)) == len(ids) and set(ids) <= ghost.unresolved
    return None if right else WrongCalls
