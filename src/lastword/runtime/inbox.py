"""What a session's machine is told, in order, each a move that is made under the session's lock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

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
from lastword.core.model import Generation, Reason
from lastword.core.orders import Cancel, End, Freeze, Order, Pause, Start
from lastword.core.recovery import Recovery
from lastword.core.rights import StandingProgram
from lastword.core.session import SessionMachine
from lastword.errors import LastwordError
from lastword.runtime.asking import Right, acting
from lastword.runtime.stop import Settlement


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
    error: LastwordError | None = None  # why an early one touched nothing

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
        self, machine: SessionMachine, lock: threading.Lock, now: Callable[[], float]
    ) -> None:
        self.lost = Recovery()  # what an earlier process left, as long as nothing began since
        self.known = False  # whether the store was asked what there is to move
        self._machine = machine
        self._lock = lock
        self._now = now
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
        with self._lock:
            if asker:
                asker.must_hold(what)  # exact for its own session, whose lock this is
            move = Move(event, [], self._machine.generation, self._now())
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
        move.orders = self._machine.apply(move.event)
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
