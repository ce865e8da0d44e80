"""Who may stop what somebody asked for: whoever has the right to stop all, and they themselves."""

from __future__ import annotations

from lastword.core.model import Turn
from lastword.core.value import value
from lastword.errors import NotAllowed


@value
class Rights:
    """Of those who talk in a session."""

    stoppers: frozenset[str] | None  # who may stop anything; None: everybody may

    def may_stop(self, by: str | None, whose: str) -> bool:
        """Whether somebody may stop what was asked for: all, or, without that right, their own."""
        return by is None or self.stoppers is None or by in self.stoppers or whose == by

    def stoppable(self, by: str | None, among: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """Of these turns, those that are theirs to stop."""
        return tuple(turn for turn in among if self.may_stop(by, turn.by))

    def must_be_allowed(self, by: str | None, asked: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """The same; raises `NotAllowed` if none is."""
        if not (theirs := self.stoppable(by, asked)):
            runs = ", ".join(turn.run for turn in asked)
            raise NotAllowed(f"{by!r} has no right to stop {runs}, so nothing was touched")
        return theirs
