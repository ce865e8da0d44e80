"""Who may stop what somebody asked for: whoever has the right to stop all, and they themselves.

That is so of turns, and of programs, which outlive the run for which they last worked: a program is
theirs whose that run was.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from lastword.core.cell import CellId
from lastword.core.model import RunId, Turn
from lastword.core.value import value
from lastword.errors import Named, NotAllowed


@value
class StandingProgram:
    """A cell that has not ended, as far as it can be stopped."""

    cell: CellId
    run: RunId  # for which it last worked
    by: str | None  # whose that run was; None: an older log did not say, so it is nobody's own


Stoppable: TypeAlias = Turn | StandingProgram
S = TypeVar("S", Turn, StandingProgram)


@value
class Rights:
    """Of those who talk in a session."""

    stoppers: frozenset[str] | None  # who may stop anything; None: everybody may

    def may_stop(self, by: str | None, whose: str | None) -> bool:
        """Whether somebody may stop what was asked for: all, or, without that right, their own."""
        return by is None or self.stoppers is None or by in self.stoppers or whose == by

    def stoppable(self, by: str | None, among: tuple[S, ...]) -> tuple[S, ...]:
        """Of these, those that are theirs to stop."""
        return tuple(one for one in among if self.may_stop(by, one.by))

    def overtaken(self, by: Turn, among: tuple[S, ...]) -> tuple[S, ...]:
        """Of these, those that one of the people may stop whose words are in that turn."""
        people = {one.by for one in by.messages if one.origin == "person"}
        return tuple(one for one in among if any(self.may_stop(by, one.by) for by in people))

    def must_be_allowed(self, by: str | None, asked: tuple[Stoppable, ...]) -> None:
        """Raise `NotAllowed` if there is something, and none of it is theirs to stop."""
        if asked and not any(self.may_stop(by, one.by) for one in asked):
            named = [Named(one.run) if isinstance(one, Turn) else one.cell for one in asked]
            several = [word for one in named for word in (", ", one)][1:]
            why = f"{by!r} has no right to stop "
            raise NotAllowed(why, *several, ", so nothing was touched")
