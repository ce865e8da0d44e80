"""Everything that can happen between one holder, one watcher and the row between them.

Time goes on in steps; each has a clock of its own, and neither goes as fast as the other. Whoever
does nothing for long was paused. In no state may the holder let something leave that the watcher
has taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal, TypeAlias

from lastword.core import lease
from tests.core.explorer import Alphabet, Explored, Law, explore, must

HOLDER = 1
LENGTH = 1000.0
CLOCKS = {"alike": (1.0, 1.0), "apart": (0.92, 1.08), "apart the other way": (1.08, 0.92)}
LONG = 1600.0  # anything longer ago is as good as that

Step: TypeAlias = Literal[
    "time goes on",
    "the holder asks",
    "its count moves",
    "it hears of that",
    "the watcher looks",
]


class World:
    """One state. All times are told from now."""

    def __init__(self, module: Any, holders: float, watchers: float) -> None:
        self.module, self.holders, self.watchers = module, holders, watchers
        self.until = -LONG  # the holder's lease, by its clock
        self.asked: float | None = None  # when it asked for more, by its clock
        self.applied = False  # what it asked for is in the row
        self.found = False  # and it was found taken, in that transaction
        self.lost = False  # it knows
        self.count = 0  # how far the row's is beyond the one that the watcher saw
        self.seen: float | None = None  # when it saw that, by its clock
        self.looked = -LONG  # when it looked last, by its clock
        self.taken = False

    @property
    def terms(self) -> Any:
        return self.module.Terms(LENGTH)

    @property
    def lease(self) -> Any:
        lease = self.module.Lease(self.terms)
        lease.until = self.until
        return lease

    def apply(self, step: Step, /) -> list[Any]:
        match step:
            case "time goes on":
                self._pass(100 * self.holders, 100 * self.watchers)
            case "the holder asks":
                self.asked = 0.0
            case "its count moves":
                self.found = self.lease.must_look(0.0) and self.taken
                self.applied, self.count = True, min(self.count + 1, 2)
            case "it hears of that":
                lease = self.lease
                lease.answered(self.asked)
                self.until, self.lost = _clamp(lease.until), self.lost or self.found
                self.asked, self.applied, self.found = None, False, False
            case "the watcher looks":
                self._look()
        return []

    def _pass(self, holders: float, watchers: float) -> None:
        self.until = _clamp(self.until - holders)
        self.asked = None if self.asked is None else _clamp(self.asked - holders)
        self.seen = None if self.seen is None else _clamp(self.seen - watchers)
        self.looked = _clamp(self.looked - watchers)

    def _look(self) -> None:
        watch = self.module.Watch(self.terms)
        if self.seen is not None:
            watch.answered(self.seen, {HOLDER: (0, self.terms)})
            watch._looked = self.looked
        dead = watch.answered(0.0, {HOLDER: (self.count, self.terms)})
        self.taken = self.taken or HOLDER in dead
        self.count, self.seen, self.looked = 0, _clamp(watch._seen[HOLDER].at), 0.0


def _clamp(time: float) -> float:
    return round(max(time, -LONG), 3)


def _steps(world: World, _: None) -> Iterator[Step]:
    if world.lost:
        return
    yield "time goes on"
    if world.asked is None:
        yield "the holder asks"
    elif not world.applied:
        yield "its count moves"
    else:
        yield "it hears of that"
    yield "the watcher looks"


def _judge(_: World, __: Step, after: World, ___: list[Any], ____: None) -> None:
    leaves = not after.lost and after.lease.good(0.0)
    must(not (after.taken and leaves), "nothing leaves that another has taken")


def _key(world: World, _: None) -> tuple[Any, ...]:
    return tuple(vars(world).values())


LAW: Law[World, Step, None] = Law(None, _judge, _key)


def explore_lease(module: ModuleType = lease, *, holders: float, watchers: float) -> Explored:
    """Try everything with clocks that go so fast."""
    alphabet = Alphabet(f"clocks that go {holders} and {watchers}", _steps)
    return explore(World(module, holders, watchers), alphabet, LAW)
