"""What of a session stays while anybody has something of it: its lock, its machine, its feed.

What its machine is told is told here, each time a `Move` that is made under the session's lock, in
order, by any thread; the event loop carries out what was ordered.

A session that is idle leaves memory and comes back as another `Work`. Its seat has no second:
whoever holds a handle, watches its feed or still unwinds in a run of it holds the seat, and through
that finds, and is found by, the one conversation of its name. So the generation that a run of
earlier asks is the session's own, a stop finds what is to be stopped, and events go on being
numbered where they were.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from lastword.core.asks import Closed
from lastword.core.cell import StoredCell
from lastword.core.entries import Note
from lastword.core.events import (
    Accepted,
    ClockReached,
    EditAsked,
    Event,
    Found,
    LetGo,
    Loaded,
    MoveAsked,
    ProgramsStand,
    RemoveAsked,
    ResumeAsked,
    StopAsked,
)
from lastword.core.model import Generation, Reason, SessionId
from lastword.core.orders import Cancel, End, Freeze, Order, Pause, Start
from lastword.core.recovery import Recovery
from lastword.core.rights import StandingProgram
from lastword.core.session import SessionMachine
from lastword.core.story import Fact, FeedEvent
from lastword.errors import LastwordError
from lastword.runtime.asking import Right, acting
from lastword.runtime.asks import Asks
from lastword.runtime.feed import Feed
from lastword.runtime.hold import Hold, fenced_at
from lastword.runtime.jobs import Jobs
from lastword.runtime.owned import Kept
from lastword.runtime.shared import Shared
from lastword.runtime.stop import Settlement
from lastword.runtime.tracing import TraceContext, Tracing


@dataclass(slots=True)
class Move:
    """What happened, what was ordered, when by the loop's clock, and what is done about it."""

    event: Event
    orders: list[Order]
    generation: Generation
    at: float
    settlement: Settlement | None = None
    early: bool = False  # it came before anybody knew what there is to stop
    promised: bool = False  # its receipt said that it will be made, however late
    only_here: bool = False  # what is another process's by now is not asked to be stopped there
    error: LastwordError | None = None  # why an early one touched nothing
    asked_in: TraceContext | None = None  # where somebody asked for it, to a tracer

    @property
    def reason(self) -> Reason:
        """Why what it ends does."""
        return self.event.reason if isinstance(self.event, StopAsked) else Reason.SUPERSEDED

    @property
    def is_a_stop(self) -> bool:
        """Whether a person stopped something."""
        return isinstance(self.event, StopAsked) and self.event.reason is Reason.STOPPED

    def notes(self, end: End) -> tuple[Note, ...]:
        """What the model is told of why a run was ended, as part of its turn."""
        said = self.event.said if isinstance(self.event, StopAsked) and end.started else ""
        return (Note(end.turn.run, f"The person said why: {said}"),) if said else ()

    def freezes(self, cell: StoredCell) -> bool:
        """Whether it goes no further: as the machine said, which knew of it or of its run.

        A thread that stops a run may be quicker than the machine is told of the run's last cell.
        """
        for order in self.orders:
            match order:
                case Freeze(cells) if cell.id in cells:
                    return True
                case Cancel(run, reason) if cell.run == run and reason.freezes:
                    return True
                case _:
                    pass
        return False

    @property
    def ends_something(self) -> bool:
        """Whether somebody is owed a receipt for it."""
        asked = isinstance(self.event, StopAsked | Accepted)
        return asked and any(
            isinstance(order, Cancel | End | Pause | Freeze) for order in self.orders
        )


class Inbox:
    """Any thread may make one; the event loop carries out what they order."""

    def __init__(
        self,
        machine: SessionMachine,
        lock: threading.Lock,
        now: Callable[[], float],
        tracing: Tracing | None = None,
    ) -> None:
        self.lost = Recovery()  # what an earlier process left, as long as nothing began since
        self.known = False  # whether the store was asked what there is to move
        self._machine = machine
        self._lock = lock
        self._now = now
        self._tracing = tracing
        self.shuts: set[Callable[[], object]] = set()  # as the right to act moves, under lock
        self._todo: deque[Move] = deque()
        self._early: list[Move] = []

    def make(self, event: Event) -> Move:
        """Tell the machine, and put in line what it orders.

        A stop that comes before anybody knows what there is to stop is made when it is known.
        What somebody asks for is not done for a run that has lost its session: `Superseded`.
        """
        if not (what := _asked(event)):
            return self._put(event)
        with acting(what) as asker:
            return self._put(event, asker, what)

    def _put(self, event: Event, asker: Right | None = None, what: str = "") -> Move:
        tracing = self._tracing if isinstance(event, StopAsked | Accepted) else None
        asked_in = tracing.here() if tracing else None
        with self._lock:
            if asker:
                asker.must_hold(what)  # exact for its own session, whose lock this is
            generation, now = self._machine.generation, self._now()
            move = Move(event, [], generation, now, asked_in=asked_in)
            if isinstance(event, StopAsked) and not self.known:
                move.early = True
                self._early.append(move)
            else:
                self._make(move)
        return move

    def next(self) -> Move | None:
        """The next whose orders are to be carried out."""
        return self._todo.popleft() if self._todo else None

    def loaded(self, generation: Generation) -> None:
        """The store has told how far the session had got."""
        with self._lock:
            self._machine.apply(Loaded(generation))

    def programs_stand(self, programs: tuple[StandingProgram, ...]) -> None:
        """These have not ended, and are what a stop finds from here on."""
        with self._lock:
            self._machine.apply(ProgramsStand(programs))

    def now_known(self, found: Found | None) -> None:
        """The store has told. What was stopped meanwhile is stopped before anything can act."""
        with self._lock:
            self.known = True
            if found:
                self._tell(replace(found, stopping=bool(self._early)))
            for move in self._early:
                try:
                    self._make(move)
                except LastwordError as error:
                    move.error = error
            if self._early:  # whatever they left may start now
                self._tell(ClockReached(0.0))
            self._early.clear()

    def forget(self) -> bool:
        """Know no longer what there is, unless something is to be done; whether it was so."""
        with self._lock:
            if self._todo or self._early:
                return False
            self._machine.apply(LetGo())
            self.known = False
            return True

    def not_known(self) -> None:
        """The store could not tell. Who still waits for an answer is told; whoever was told that
        the stop comes first when it can is believed."""
        with self._lock:
            self._early = [move for move in self._early if move.promised]

    def _tell(self, event: Event) -> None:
        self._make(Move(event, [], self._machine.generation, self._now()))

    def _make(self, move: Move) -> None:
        before = self._machine.generation
        move.orders = self._machine.apply(move.event)
        while self._machine.generation != before and self.shuts:
            self.shuts.pop()()
        if any(isinstance(order, Start) for order in move.orders):
            self.lost = Recovery()
        move.generation = self._machine.generation
        self._todo.append(move)


def _asked(event: Event) -> str:
    """What somebody asks for by it; empty if it is the runtime's own doing."""
    match event:
        case Accepted():
            return "this sending"
        case StopAsked(reason=Reason.STOPPED):
            return "this stop"
        case EditAsked() | RemoveAsked() | MoveAsked() | ResumeAsked():
            return "this change of the queue"
        case _:
            return ""


class LeftSession(NamedTuple):
    """What this process remembers of a session that nobody here has: events are numbered on."""

    epoch: str
    last: int
    generation: Generation
    closed: Closed  # what was asked, for who answers late


class Seat:
    """One session's. Any thread may make it."""

    __slots__ = ("asks", "feed", "id", "inbox", "jobs", "kept", "lock", "machine")

    def __init__(
        self,
        id: SessionId,
        shared: Shared,
        *,
        above: Hold | None = None,  # of a child's run: its parent's, with which it shares the lock
        before: LeftSession | None = None,
        asks: Asks | None = None,  # of a child's run: those of the person's session
    ) -> None:
        self.id = id
        self.lock = above.lock if above else threading.Lock()
        self.machine = SessionMachine(shared.settings, before.generation if before else 0)
        self.inbox = Inbox(self.machine, self.lock, shared.loop.time, shared.tracing)
        self.feed = Feed(
            id,
            shared.loop,
            partial(fenced_at, self.machine, above),
            keep=shared.told.feed_limit,
            clock=shared.clock,
            home=shared.thread,
            numbered=(before.epoch, before.last) if before else None,
        )
        self.jobs = Jobs(self.machine.rights)  # its processes that have an id, its children's too
        self.kept: list[Kept] = []  # those of them that outlive their runs
        self.asks = asks or Asks(  # what waits for a person, also below
            id, self.publish, before.closed if before else None
        )

    def publish(self, fact: Fact) -> FeedEvent:
        """Something of the session's own, into its feed."""
        with self.lock:
            return self.feed.append(fact, self.machine.generation)

    @property
    def left(self) -> LeftSession:
        """What the next seat of that name is to know."""
        closed = self.asks.machine.closed
        return LeftSession(self.feed.epoch, self.feed.last, self.machine.generation, closed)
