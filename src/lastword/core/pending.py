"""What a frontier waits on, and which results fit it.

The calls of a frontier come from one place: those of the frontier before that were not resolved,
and those made since. What the interpreter says only takes away from them, so a call that was
answered is never asked for again, and a result is accepted or refused with all that came with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lastword.core.cell import CallResult, CellId, Frontier, PendingCall, PendingGeneration, Values
from lastword.core.cell_events import Reached
from lastword.core.model import CallId
from lastword.errors import (
    AlreadyRunning,
    FutureGeneration,
    ImpossibleMove,
    StaleGeneration,
    WrongCalls,
)

Calls: TypeAlias = tuple[PendingCall, ...]
Results: TypeAlias = tuple[CallResult, ...]


def pending_at(frontier: Frontier | None) -> Calls:
    """What a frontier waits on; nothing before the first."""
    return frontier.pending if frontier else ()


def number_of(frontier: Frontier | None) -> PendingGeneration:
    """A frontier's number; 0 before the first."""
    return frontier.generation if frontier else PendingGeneration(0)


def following(
    cell: CellId, before: Frontier | None, resolved: Calls, reached: Reached
) -> Frontier | None:
    """The next frontier; None if nobody can settle what the program waits on."""
    known = (*pending_at(before), *reached.made)
    if len({call.id for call in known}) < len(known):
        raise ImpossibleMove(f"cell {cell} made two calls under one id")
    unresolved = (call for call in known if call not in resolved)
    pending = tuple(call for call in unresolved if call.id in reached.waits)
    number = PendingGeneration(number_of(before) + 1)
    return Frontier(number, pending, reached.output, reached.dump) if pending else None


def new_in(following: Frontier | None, before: Frontier | None) -> Calls:
    """The calls that a frontier has and the one before it had not."""
    return tuple(call for call in pending_at(following) if call not in pending_at(before))


def answered(calls: Calls, results: Results) -> Calls:
    """Those of the calls that have a result."""
    ids = {result.call for result in results}
    return tuple(call for call in calls if call.id in ids)


def merged(values: Values, more: Values) -> Values:
    """What was remembered, with what was remembered since."""
    return tuple({**dict(values), **dict(more)}.items())


def must_be_current(cell: CellId, frontier: Frontier | None, asked: int, *, stands: bool) -> None:
    """Refuse a resume of any frontier but the one at which the cell stands."""
    current = number_of(frontier)
    if asked < current:
        raise StaleGeneration(cell, asked, current)
    if asked > current:
        raise FutureGeneration(cell, asked, current)
    if not stands:
        raise AlreadyRunning(cell, asked)


def must_fit(cell: CellId, frontier: Frontier | None, ids: Sequence[CallId]) -> None:
    """Refuse results that are not, each once, for calls of this frontier."""
    pending = tuple(call.id for call in pending_at(frontier))
    wrong = tuple(dict.fromkeys(one for one in ids if one not in pending or ids.count(one) > 1))
    if wrong or not ids:
        raise WrongCalls(cell, number_of(frontier), wrong, pending)
