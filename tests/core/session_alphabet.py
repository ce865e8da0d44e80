"""What may happen to a session, within stated bounds, and what `explorer.py` holds it to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TypeAlias

from lastword.core.cell import CellId
from lastword.core.events import (
    Accepted,
    ClockReached,
    EditAsked,
    Ended,
    Event,
    Found,
    LetGo,
    Loaded,
    MoveAsked,
    ProgramsStand,
    RemoveAsked,
    ResumeAsked,
    SteeringTaken,
    StopAsked,
    Stored,
    StoreFailed,
)
from lastword.core.model import (
    Generation,
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
from lastword.core.rights import StandingProgram
from lastword.core.session import SessionMachine
from tests.core.entitled import owner
from tests.core.explorer import Alphabet, Explored, Law, explore, nothing
from tests.core.ghost import NEW, OLD, Ghost
from tests.core.law import forbidden, judge

Sender: TypeAlias = tuple[str, Origin]

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
    together: bool = False  # whether two messages may arrive as one
    programs: int = 0  # how many may stand


def explore_session(bounds: Bounds, machine: type[SessionMachine] = SessionMachine) -> Explored:
    """Walk every history of a session within the bounds."""
    name = f"{bounds.name} ({bounds.settings})"
    at_once = nothing if bounds.reports else _unwinding
    alphabet = Alphabet(name, partial(_events, bounds), at_once)
    return explore(machine(bounds.settings), alphabet, LAW)


def _unwinding(ghost: Ghost) -> Iterator[Event]:
    """A cancelled run that unwinds at once."""
    for run in ghost.dying:
        yield Ended(run, Outcome.FAILED)


def _judge(
    before: SessionMachine, event: Event, after: SessionMachine, orders: list[Order], ghost: Ghost
) -> Ghost:
    return _spent(judge(before, event, after, orders, ghost), event, orders)


def _spent(ghost: Ghost, event: Event, orders: list[Order]) -> Ghost:
    match event:
        case Accepted():
            return ghost._replace(sent=ghost.sent + 1 + len(event.more))
        case StopAsked() if orders:
            return ghost._replace(stops=ghost.stops + 1)
        case Found(waiting):
            return ghost._replace(sent=len(waiting))
        case EditAsked() | RemoveAsked() | MoveAsked():
            return ghost._replace(touches=ghost.touches + 1)
        case _:
            return ghost


def _key(m: SessionMachine, ghost: Ghost) -> object:
    """All but the generation, which the machine never reads, and which is judged step by step."""
    return (
        m.active,
        m.started,
        m.steering,
        m.waiting,
        m.hushed,
        m.storing,
        m.dying,
        m.programs,
        ghost,
    )


LAW = Law(Ghost(), _judge, _key, forbidden)


# what may happen next


def _events(bounds: Bounds, machine: SessionMachine, ghost: Ghost) -> Iterator[Event]:
    if bounds.found:
        yield from _stored(machine, ghost)
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
    yield from _programs(bounds, machine, ghost)
    if ghost.stops < bounds.stops:
        yield from _stops(bounds, ghost)
    if ghost.touches < bounds.touches:
        yield from _touches(bounds, ghost)
    yield from _impossible(machine, ghost)


def _ends(ghost: Ghost, live: RunId) -> Iterator[Event]:
    yield Ended(live, Outcome.COMPLETED)
    yield Ended(live, Outcome.FAILED)
    yield SteeringTaken(live)
    last = [m for m in ghost.here if m in ghost.joined]
    for number in range(len(last)):
        if ghost.together(last[-number - 1])[0] == last[-number - 1]:  # what is one is left as one
            yield Ended(live, Outcome.COMPLETED, number + 1)


def _stored(machine: SessionMachine, ghost: Ghost) -> Iterator[Event]:
    yield Loaded(Generation(machine.generation + 2))
    yield Loaded(Generation(machine.generation - 1))
    yield LetGo()
    if ghost == Ghost():
        yield from _finds()


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
                    if bounds.together and ghost.sent + 1 < bounds.messages:
                        yield from _together(bounds, ghost, Accepted(message, run, policy, at))


def _together(bounds: Bounds, ghost: Ghost, first: Accepted) -> Iterator[Event]:
    for by, origin in bounds.senders:
        second = Message(MessageId(f"m{ghost.sent + 1}"), OLD, by, origin)
        yield replace(first, more=(second,))


def _programs(bounds: Bounds, machine: SessionMachine, ghost: Ghost) -> Iterator[Event]:
    """One begins in the run that is going, or was found in an older log; one ends."""
    there = machine.programs
    if ghost.live and machine.active and len(there) < bounds.programs:
        new = StandingProgram(CellId(f"c-{ghost.live}"), ghost.live, owner(machine.active, ghost))
        if new not in there:
            yield ProgramsStand((*there, new))
    if bounds.programs and ghost == Ghost() and not there:
        yield ProgramsStand((StandingProgram(CellId("c-old"), RunId("r-old"), None),))
    if there:
        yield ProgramsStand(there[1:])


def _stops(bounds: Bounds, ghost: Ghost) -> Iterator[Event]:
    runs = [RunId(f"r{number}") for number in range(ghost.sent)]  # also of those that have ended
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
        new = Message(MessageId("m-new"), OLD)
        yield Accepted(new, RunId("r-new"), "takeover", more=(Message(known, OLD),))
        yield Accepted(new, RunId("r-new"), "takeover", more=(new,))
    for run in ghost.dying:
        yield Accepted(Message(MessageId("m-new"), OLD), run, "queue")
        yield SteeringTaken(run)
        yield StopAsked(run=run)
