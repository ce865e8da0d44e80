"""What a run begins with, for an engine that lives elsewhere: all that it is to know of it."""

from __future__ import annotations

from lastword.core.model import Generation, RunId, SessionId, Turn
from lastword.core.shown import Shown
from lastword.core.value import value
from lastword.runtime.tracing import Headers


@value
class Beginning:
    """One run, as it begins."""

    run: RunId
    sessions: tuple[SessionId, ...]  # its own last, and before that those above it
    generation: Generation
    epoch: str
    turn: Turn
    by: str
    lives: tuple[tuple[SessionId, str], ...]
    top: RunId
    history: tuple[Shown, ...]
    declined: bool
    suspects: frozenset[RunId]
    grace: float  # seconds that its processes are asked to end in, if nobody says
    traced: Headers  # in which what is traced there is part of it

    @property
    def session(self) -> SessionId:
        """Its own."""
        return self.sessions[-1]
