"""A cell's output on its way to observers: each piece is given once, in order.

It is given to one observer at a time. What did not arrive goes back, and the next one has it.
"""

from __future__ import annotations

from dataclasses import replace

from lastword.core.value import value
from lastword.errors import ImpossibleMove, ObserverBusy


@value
class Outlet:
    """What nobody was given yet, and who is being given some of it."""

    pieces: tuple[str, ...] = ()
    observer: str | None = None
    shown: int = 0  # how many of the pieces the observer is being given

    def printed(self, text: str) -> Outlet:
        """The same, with more to give."""
        return replace(self, pieces=(*self.pieces, text)) if text else self

    def begun(self, cell: str, observer: str) -> Outlet:
        """The same, while it is all being given to an observer."""
        if self.observer is not None:
            raise ObserverBusy(cell, self.observer)
        return replace(self, observer=observer, shown=len(self.pieces))

    def over(self, cell: str, observer: str, *, delivered: bool) -> Outlet:
        """The same, after the observer has it or has gone."""
        if observer != self.observer:
            raise ImpossibleMove(f"cell {cell} is not being shown to {observer}")
        return Outlet(self.pieces[self.shown if delivered else 0 :])
