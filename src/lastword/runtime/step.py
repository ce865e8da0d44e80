"""One move of a session's machine, and what is to be done about it."""

from __future__ import annotations

from dataclasses import dataclass

from lastword.core.entries import Note
from lastword.core.events import Accepted, Event, StopAsked
from lastword.core.model import Generation, Reason, RunId
from lastword.core.orders import Cancel, End, Order, Pause
from lastword.errors import LastwordError
from lastword.runtime.stop import Settlement


@dataclass(slots=True)
class Step:
    """What happened, what was ordered, and at which time of the loop's."""

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

    def freezes(self, run: RunId) -> bool:
        """Whether the cells that a run began go no further: they outlive the process, but not a
        stop or a takeover."""
        if not isinstance(self.event, StopAsked):
            return True
        if self.event.reason in {Reason.SHUTDOWN, Reason.LOST}:
            return False
        return self.event.run in {None, run}

    @property
    def ends_something(self) -> bool:
        """Whether somebody is owed a receipt for it."""
        asked = isinstance(self.event, StopAsked | Accepted)
        return asked and any(isinstance(order, Cancel | End | Pause) for order in self.orders)
