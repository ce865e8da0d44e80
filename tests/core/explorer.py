"""Every history there is, within stated bounds, over the real machine.

Breadth first, so that the first clause found broken comes with its shortest history. Two histories
that led to the same machine and the same memory are one; the generation, which the machine never
reads, is left out of the comparison and judged step by step.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from lastword.core.events import (
    Accepted,
    ClockReached,
    EditAsked,
    Ended,
    Event,
    Found,
    MoveAsked,
    RemoveAsked,
    ResumeAsked,
    SteeringTaken,
    StopAsked,
    Stored,
    StoreFailed,
)
from lastword.core.model import (
    Message,
    MessageId,
    Origin,
    Outcome,
    Policy,
    Reason,
    RunId,
    Settings,
    Turn,
)
from lastword.core.orders import Order
from lastword.core.queue import Waiting
from lastword.core.session import SessionMachine
from lastword.errors import LastwordError
from tests.core.ghost import NEW, OLD
from tests.core.law import Broken, Ghost, forbidden, judge

Sender: TypeAlias = tuple[str, Origin]
State: TypeAlias = tuple[SessionMachine, Ghost]

PERSON: Sender = ("ann", "person")
TIMER: Sender = ("ann", "timer")
CHILD: Sender = ("ann", "child")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may happen in the histories of one exploration, and how often."""

    name: str
    floor: int  # states; an exploration that shrinks has stopped proving something
    settings: Settings
    policies: tuple[Policy, ...]
    senders: tuple[Sender, ...] = (PERSON,)
    messages: int = 3
    stops: int = 2  # of everything or by run id, idle ones not counted
    touches: int = 0  # edits, removals and moves
    callers: tuple[str | None, ...] = (None,)  # who stops and touches
    reasons: tuple[Reason, ...] = (Reason.STOPPED,)
    ticks: tuple[float, ...] = (0.0,)  # how long after the last event a message may come
    found: bool = False  # whether an earlier process may have left something
    reports: bool = False  # whether a cancelled run may take its time to unwind


@dataclass(frozen=True, slots=True)
class Explored:
    """How far an exploration went."""

    states: int
    transitions: int
    refused: int  # events that the machine had to turn down, and did


def explore(bounds: Bounds, machine: type[SessionMachine] = SessionMachine) -> Explored:
    """Walk every history within the bounds; raise `Broken` at the first broken clause."""
    start: State = (machine(bounds.settings), Ghost())
    seen = {_key(start)}
    came_from: list[tuple[int, Event | None]] = [(-1, None)]
    frontier = deque([(0, start)])
    transitions = refused = 0
    while frontier:
        at, state = frontier.popleft()
        for event in _events(bounds, state):
            try:
                following = _step(bounds, state, event)
            except Broken as broken:
                raise Broken(_story(bounds, came_from, at, event, broken)) from broken
            if following is state:
                refused += 1
                continue
            transitions += 1
            key = _key(following)
            if key not in seen:
                seen.add(key)
                frontier.append((len(came_from), following))
                came_from.append((at, event))
    return Explored(len(seen), transitions, refused)


def _step(bounds: Bounds, state: State, event: Event) -> State:
    following = _take(state, event)
    if not bounds.reports:
        for run in following[1].dying:  # it unwinds at once
            following = _take(following, Ended(run, Outcome.FAILED))
    return following


def _take(state: State, event: Event) -> State:
    before, ghost = state
    after = copy.copy(before)
    error = forbidden(before, event, ghost)
    try:
        orders = after.apply(event)
    except LastwordError as raised:
        if type(raised) is not error:
            raise Broken(f"{raised!r} was raised, which nothing forbids") from raised
        if vars(after) != vars(before):
            raise Broken(f"{raised!r} was raised, and yet something was touched") from raised
        return state
    if error is not None:
        raise Broken(f"{error.__name__} was not raised")
    return after, _spent(judge(before, event, after, orders, ghost), event, orders)


def _spent(ghost: Ghost, event: Event, orders: list[Order]) -> Ghost:
    match event:
        case Accepted():
            return ghost._replace(sent=ghost.sent + 1)
        case StopAsked() if orders:
            return ghost._replace(stops=ghost.stops + 1)
        case Found(waiting):
            return ghost._replace(sent=len(waiting))
        case EditAsked() | RemoveAsked() | MoveAsked():
            return ghost._replace(touches=ghost.touches + 1)
        case _:
            return ghost


def _key(state: State) -> object:
    m, ghost = state
    return (m.active, m.started, m.steering, m.waiting, m.hushed, m.storing, m.dying, ghost)


def _story(
    bounds: Bounds, came_from: list[tuple[int, Event | None]], at: int, event: Event, why: Broken
) -> str:
    steps: list[Event] = [event]
    while at > 0:
        at, before = came_from[at]
        if before is not None:
            steps.append(before)
    told = "\n  ".join(str(step) for step in reversed(steps))
    return f"{why}\n  within {bounds.name} ({bounds.settings})\n  {told}"


# what may happen next


def _events(bounds: Bounds, state: State) -> Iterator[Event]:
    machine, ghost = state
    if bounds.found and ghost == Ghost():
        yield from _finds()
    if ghost.sent < bounds.messages:
        yield from _arrivals(bounds, ghost)
    for message in sorted(ghost.storing):
        yield Stored(message)
        yield StoreFailed(message)
    if ghost.live:
        yield from _ends(ghost, ghost.live)
    for run in sorted(ghost.dying):
        yield Ended(run, Outcome.COMPLETED)
    if ghost.wakes:
        yield ClockReached(ghost.wakes[0])
    yield ResumeAsked()
    yield ResumeAsked("run")
    if ghost.stops < bounds.stops:
        yield from _stops(bounds, machine)
    if ghost.touches < bounds.touches:
        yield from _touches(bounds, ghost)
    yield from _impossible(machine, ghost)


def _ends(ghost: Ghost, live: RunId) -> Iterator[Event]:
    yield Ended(live, Outcome.COMPLETED)
    yield Ended(live, Outcome.FAILED)
    yield SteeringTaken(live)
    for number in range(len(ghost.joined)):
        yield Ended(live, Outcome.COMPLETED, number + 1)


def _finds() -> Iterator[Event]:
    messages = [Message(MessageId(f"m{n}"), OLD, "ann") for n in range(2)]
    turns = tuple(Turn(RunId(f"r{n}"), (message,)) for n, message in enumerate(messages))
    for held in product((True, False), repeat=2):
        queue = tuple(Waiting(t, held=h) for t, h in zip(turns, held, strict=True))
        yield Found(queue, hushed=False)
        if all(held):
            yield Found(queue, hushed=True)
            yield Found(queue[:1], hushed=True)
    yield Found((), hushed=True)


def _arrivals(bounds: Bounds, ghost: Ghost) -> Iterator[Event]:
    run = RunId(f"r{ghost.sent}")
    for by, origin in bounds.senders:
        message = Message(MessageId(f"m{ghost.sent}"), OLD, by, origin)
        for policy in bounds.policies:
            for tick in bounds.ticks:
                at = ghost.now + tick
                if not ghost.wakes or at <= ghost.wakes[0]:
                    yield Accepted(message, run, policy, at)


def _stops(bounds: Bounds, machine: SessionMachine) -> Iterator[Event]:
    turns = (*machine.steering, *(w.turn for w in machine.waiting))
    runs = [turn.run for turn in ((machine.active, *turns) if machine.active else turns)]
    for by in bounds.callers:
        for reason in bounds.reasons:
            yield StopAsked(reason, by=by)
        for run in (*runs, RunId("r-gone")):
            yield StopAsked(run=run, by=by)


def _touches(bounds: Bounds, ghost: Ghost) -> Iterator[Event]:
    for by in bounds.callers:
        for message in ghost.here:
            yield EditAsked(message, NEW, by)
            yield RemoveAsked(message, by)
            for place in range(-1, len(ghost.here)):
                yield MoveAsked(message, place, by)


def _impossible(machine: SessionMachine, ghost: Ghost) -> Iterator[Event]:
    """What cannot have happened, and what can no longer be asked."""
    nobody, nothing = RunId("r-gone"), MessageId("m-gone")
    yield Ended(nobody, Outcome.COMPLETED)
    yield SteeringTaken(nobody)
    yield Stored(nothing)
    yield EditAsked(nothing, NEW)
    if machine.active and not machine.started:
        yield Ended(machine.active.run, Outcome.COMPLETED)
        yield SteeringTaken(machine.active.run)
    if ghost.here:
        yield Found((), hushed=True)
    for known in {*ghost.here, *ghost.storing}:
        yield Accepted(Message(known, OLD), RunId("r-new"), "takeover")
    for run in ghost.dying:
        yield Accepted(Message(MessageId("m-new"), OLD), run, "queue")
        yield SteeringTaken(run)
        yield StopAsked(run=run)
