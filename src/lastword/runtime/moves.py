"""The moves of a session's machine, in order, each made under the session's lock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from lastword.core.events import (
    Accepted,
    ClockReached,
    EditAsked,
    Event,
    Found,
    LetGo,
    Loaded,
    MoveAsked,
    RemoveAsked,
    ResumeAsked,
    StopAsked,
)
from lastword.core.model import Generation, Reason
from lastword.core.orders import Start
from lastword.core.recovery import Recovery
from lastword.core.session import SessionMachine
from lastword.errors import LastwordError
from lastword.runtime.asking import Right, acting
from lastword.runtime.step import Step


class Moves:
    """Any thread may make one; the event loop carries out what they order."""

    def __init__(
        self, machine: SessionMachine, lock: threading.Lock, now: Callable[[], float]
    ) -> None:
        self.lost = Recovery()  # what an earlier process left, as long as nothing began since
        self.known = False  # whether the store was asked what there is to move
        self._machine = machine
        self._lock = lock
        self._now = now
        self._todo: deque[Step] = deque()
        self._early: list[Step] = []

    def make(self, event: Event) -> Step:
        """Tell the machine, and put in line what it orders.

        A stop that comes before anybody knows what there is to stop is made when it is known.
        What somebody asks for is not done for a run that has lost its session: `Superseded`.
        """
        if not (what := _asked(event)):
            return self._put(event)
        with acting(what) as asker:
            return self._put(event, asker, what)

    def _put(self, event: Event, asker: Right | None = None, what: str = "") -> Step:
        with self._lock:
            if asker:
                asker.must_hold(what)  # exact for its own session, whose lock this is
            step = Step(event, [], self._machine.generation, self._now())
            if isinstance(event, StopAsked) and not self.known:
                step.early = True
                self._early.append(step)
            else:
                self._make(step)
        return step

    def next(self) -> Step | None:
        """The next whose orders are to be carried out."""
        return self._todo.popleft() if self._todo else None

    def loaded(self, generation: Generation) -> None:
        """The store has told how far the session had got."""
        with self._lock:
            self._machine.apply(Loaded(generation))

    def now_known(self, found: Found | None) -> None:
        """The store has told. What was stopped meanwhile is stopped before anything can act."""
        with self._lock:
            self.known = True
            if found:
                self._tell(replace(found, stopping=bool(self._early)))
            for step in self._early:
                try:
                    self._make(step)
                except LastwordError as error:
                    step.error = error
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
            self._early = [step for step in self._early if step.promised]

    def _tell(self, event: Event) -> None:
        self._make(Step(event, [], self._machine.generation, self._now()))

    def _make(self, step: Step) -> None:
        step.orders = self._machine.apply(step.event)
        if any(isinstance(order, Start) for order in step.orders):
            self.lost = Recovery()
        step.generation = self._machine.generation
        self._todo.append(step)


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
