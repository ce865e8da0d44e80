"""What may happen to a cell, within stated bounds, and what `explorer.py` holds it to.

A history may contain the death of the process: the next one finds any of the records that the
store may then hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Any

from lastword.core.cell import CallResult, CellId, CellRecord, Kind, PendingCall, PendingGeneration
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
from lastword.core.cell_orders import CellOrder
from lastword.core.frontier import CellMachine
from lastword.core.model import CallId
from lastword.errors import LastwordError
from tests.core.cell_ghost import Ghost, key
from tests.core.cell_law import judge, judge_restart
from tests.core.cell_refusals import forbidden
from tests.core.explorer import Alphabet, Explored, Law, explore


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may happen in the histories of one exploration, and how often."""

    name: str
    kind: Kind
    floor: int  # states; an exploration that shrinks has stopped proving something
    frontiers: int = 2
    failures: int = 0  # of the store and of deliveries
    losses: int = 0  # of interpreters
    observed: int = 0
    crashes: int = 0
    calls: int = 2  # that the program makes before its first frontier
    muddled: bool = False  # whether the interpreter may be wrong about what it waits for


EVERY = (
    Bounds("answered in parts", "pausable", 2_800, frontiers=3, losses=1, muddled=True),
    Bounds("things go wrong", "pausable", 3_100, failures=1, losses=1),
    Bounds("ended in any order", "continuing", 5_000, calls=3),
    Bounds("a muddle", "continuing", 1_200, muddled=True),
    Bounds("calls go wrong", "continuing", 1_000, frontiers=1, failures=2, losses=1),
    Bounds("looked at twice", "pausable", 1_700, frontiers=1, observed=2),
    Bounds("looked at as it fails", "pausable", 2_300, frontiers=1, failures=1, observed=1),
    Bounds("watched", "continuing", 1_600, frontiers=1, observed=1),
    Bounds("two deaths", "pausable", 2_600, frontiers=1, failures=1, losses=1, crashes=2),
    Bounds("a death between two frontiers", "pausable", 1_100, crashes=1),
    Bounds("a death under observation", "pausable", 1_600, frontiers=1, observed=1, crashes=1),
    Bounds("a death among calls", "continuing", 3_000, failures=1, crashes=1),
)


@dataclass(frozen=True, slots=True)
class Crash:
    """The process dies, and the next one finds this."""

    found: CellRecord


def explore_cell(bounds: Bounds, machine: type[CellMachine] = CellMachine) -> Explored:
    """Walk every history of a cell within the bounds."""
    law = Law(Ghost(bounds.kind), _judge, _key, _forbidden)
    alphabet = Alphabet(bounds.name, partial(_events, bounds))
    return explore(mortal(machine)(CellId("cell"), bounds.kind), alphabet, law)


def mortal(machine: type[CellMachine]) -> type[CellMachine]:
    """The machine in a process that may die: then it is what the next one makes of the record."""

    class Mortal(machine):
        def apply(self, event: CellEvent | Crash) -> list[CellOrder]:
            if not isinstance(event, Crash):
                return super().apply(event)
            found, orders = type(self).restore(event.found)
            vars(self).update(vars(found))
            return orders

    return Mortal


def _judge(
    before: CellMachine,
    event: CellEvent | Crash,
    after: CellMachine,
    orders: list[CellOrder],
    ghost: Ghost,
) -> Ghost:
    if isinstance(event, Crash):
        return judge_restart(event.found, after, orders, ghost)
    return judge(before, event, after, orders, ghost)


def _forbidden(
    _: CellMachine, event: CellEvent | Crash, ghost: Ghost
) -> type[LastwordError] | None:
    return None if isinstance(event, Crash) else forbidden(event, ghost)


def _key(machine: CellMachine, ghost: Ghost) -> tuple[Any, ...]:
    own = dict(vars(machine))
    version = own.pop("version")
    own["awaited"] = own["awaited"] and version - own["awaited"] + 1
    return (*own.values(), *key(ghost, version))


# what may happen next


def _events(bounds: Bounds, _: CellMachine, ghost: Ghost) -> Iterator[CellEvent | Crash]:
    may_fail = ghost.failures < bounds.failures
    yield StartAsked()
    for order in ghost.stores[:1]:
        yield CellStored(order.record.version)
        yield from [CellNotStored(order.record.version)] if may_fail else []
    if ghost.running:
        yield from _reports(bounds, ghost)
    if (ghost.running or ghost.alive or ghost.delivering) and ghost.losses < bounds.losses:
        yield RuntimeLost()
    if ghost.delivering:
        yield Delivered(_number(ghost))
        yield from [DeliveryFailed(_number(ghost))] if may_fail else []
    yield from _answers(ghost)
    yield from _looks(ghost, bounds)
    yield TerminateAsked()
    yield Frozen()
    yield from _impossible(ghost)
    if ghost.crashes < bounds.crashes:
        yield from (Crash(record) for record in dict.fromkeys(ghost.possible) if record)


def _reports(bounds: Bounds, ghost: Ghost) -> Iterator[CellEvent]:
    n = ghost.frontiers
    text, values = f"p{n}", ((f"v{n}", str(n)),)
    yield Returned("done", text, values)
    yield Raised("ValueError", text)
    yield UsedUp("1 s", text)
    if n >= bounds.frontiers:
        return
    for new in (0, 1) if ghost.unresolved else (bounds.calls,) if n == 0 else (1,):
        made = tuple(PendingCall(CallId(f"c{len(ghost.made) + i}"), "tool") for i in range(new))
        ids = ghost.unresolved | {call.id for call in made}
        for waits in (ids, frozenset[CallId](), frozenset({CallId("c-gone")})):
            yield Reached(made, waits, text, text.encode(), values)
        if bounds.muddled:
            everything = ids | {call.id for call in ghost.made}
            yield Reached(made, everything, text, text.encode(), values)
            if len(ids) > 1:
                yield Reached(made, ids - {min(ids)}, text, text.encode(), values)


def _answers(ghost: Ghost) -> Iterator[CellEvent]:
    now = _number(ghost)
    waiting = sorted(ghost.unresolved)
    some = chain.from_iterable(combinations(waiting, n) for n in range(1, len(waiting) + 1))
    asked = [_results(*ids) for ids in some] if ghost.open else [_results(*waiting)]
    for results in asked:
        yield CallsAnswered(now, results)
    right = _results(*waiting[:1])
    yield CallsAnswered(PendingGeneration(now - 1), right)
    yield CallsAnswered(PendingGeneration(now + 1), right)
    resolved = sorted({call.id for call in ghost.made} - ghost.unresolved)
    for wrong in ((), ("c-gone",), (*waiting, "c-gone"), (*waiting, *waiting[:1]), resolved):
        if ghost.open:
            yield CallsAnswered(now, _results(*wrong))
    for ids in {*((id_,) for id_ in ghost.going), tuple(sorted(ghost.going))}:
        if ids:
            yield CallsEnded(_results(*ids))


def _looks(ghost: Ghost, bounds: Bounds) -> Iterator[CellEvent]:
    if ghost.observed < bounds.observed:
        yield ObserveBegun("ann")
    if ghost.showing:
        yield ObserveBegun("bob")
        yield ObserveDelivered("ann")
        yield ObserveFailed("ann")
        yield ObserveDelivered("bob")


def _impossible(ghost: Ghost) -> Iterator[CellEvent]:
    """What cannot have happened."""
    version = max((r.version for r in ghost.possible if r), default=0)
    yield CellStored(version + 1)
    yield ObserveFailed("nobody")
    if ghost.ending is not None:
        return
    if not ghost.running:
        yield Returned("done")
        yield Raised("ValueError")
        yield UsedUp("1 s")
        yield Reached((), frozenset())
    elif ghost.stood:
        known = ghost.stood.pending[-1]
        yield Reached((known,), frozenset({known.id}))
    if not ghost.delivering:
        yield Delivered(_number(ghost))
        yield DeliveryFailed(_number(ghost))
    yield Delivered(PendingGeneration(ghost.generation + 1))
    yield CallsEnded(_results("c-gone"))
    for id_ in sorted(ghost.going)[:1]:
        yield CallsEnded(_results(id_, id_))
    for id_ in sorted(ghost.ready)[:1]:
        yield CallsEnded(_results(id_))


def _number(ghost: Ghost) -> PendingGeneration:
    return PendingGeneration(ghost.generation)


def _results(*ids: str) -> tuple[CallResult, ...]:
    return tuple(CallResult(CallId(id_), f"result of {id_}") for id_ in ids)
