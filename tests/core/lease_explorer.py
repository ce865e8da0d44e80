"""Everything that can happen between one holder, one watcher and the row between them.

Time goes on in steps; each has a clock of its own, and neither goes as fast as the other. Whoever
does nothing for long was paused. In no state may the holder let something leave that the watcher
has taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

HOLDER = 1
LENGTH = 1000.0
LONG = 1600.0  # anything longer ago is as good as that


class Broken(AssertionError):
    """Something left that was another's."""


@dataclass(frozen=True)
class World:
    """One state. All times are told from now."""

    until: float = -LONG  # the holder's lease, by its clock
    asked: float | None = None  # when it asked for more, by its clock
    applied: bool = False  # what it asked for is in the row
    found: bool = False  # and it was found taken, in that transaction
    lost: bool = False  # it knows
    count: int = 0  # how far the row's is beyond the one that the watcher saw
    seen: float | None = None  # when it saw that, by its clock
    looked: float = -LONG  # when it looked last, by its clock
    taken: bool = False


def explore(module: Any, *, holders: float, watchers: float) -> int:
    """Try everything with clocks that go so fast; how many states there were. Raises `Broken`."""
    terms = module.Terms(LENGTH)
    first = World()
    before: dict[World, tuple[World, str]] = {first: (first, "")}
    todo = deque([first])
    while todo:
        world = todo.popleft()
        for what, then in _steps(module, terms, world, holders, watchers):
            if then in before:
                continue
            before[then] = world, what
            if then.taken and not then.lost and _lease(module, terms, then).good(0.0):
                raise Broken(" → ".join(_story(before, then)))
            if not then.lost:
                todo.append(then)
    return len(before)


def _story(before: dict[World, tuple[World, str]], world: World) -> list[str]:
    story: list[str] = []
    while before[world][1]:
        world, what = before[world]
        story.insert(0, what)
    return story


def _steps(
    module: Any, terms: Any, world: World, holders: float, watchers: float
) -> Iterator[tuple[str, World]]:
    yield "time goes on", _later(world, 100 * holders, 100 * watchers)
    if world.asked is None and not world.lost:
        yield "the holder asks", replace(world, asked=0.0)
    if world.asked is not None and not world.applied:
        looks = _lease(module, terms, world).must_look(0.0)
        found = looks and world.taken
        applied = replace(world, applied=True, found=found, count=min(world.count + 1, 2))
        yield "its count moves", applied
    if world.applied and world.asked is not None:
        lease = _lease(module, terms, world)
        lease.answered(world.asked)
        known = replace(world, until=_clamp(lease.until), lost=world.lost or world.found)
        yield "it hears of that", replace(known, asked=None, applied=False, found=False)
    yield "the watcher looks", _looked(module, terms, world)


def _looked(module: Any, terms: Any, world: World) -> World:
    watch = module.Watch(terms)
    if world.seen is not None:
        watch.answered(world.seen, {HOLDER: (0, terms)})
        watch._looked = world.looked
    dead = watch.answered(0.0, {HOLDER: (world.count, terms)})
    kept = watch._seen[HOLDER]
    taken = world.taken or HOLDER in dead
    return replace(world, count=0, seen=_clamp(kept.at), looked=0.0, taken=taken)


def _lease(module: Any, terms: Any, world: World) -> Any:
    lease = module.Lease(terms)
    lease.until = world.until
    return lease


def _later(world: World, holders: float, watchers: float) -> World:
    return replace(
        world,
        until=_clamp(world.until - holders),
        asked=None if world.asked is None else _clamp(world.asked - holders),
        seen=None if world.seen is None else _clamp(world.seen - watchers),
        looked=_clamp(world.looked - watchers),
    )


def _clamp(time: float) -> float:
    return round(max(time, -LONG), 3)
