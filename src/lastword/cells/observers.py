"""Who looks at a cell: one at a time, and what it printed is given once.

A run that looks is asked like one that acts, since what it is given nobody else is. If it loses its
session meanwhile, it was not given it, and keeps nobody from looking.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from lastword.core.cell import Observation
from lastword.core.cell_events import CellEvent, ObserveBegun, ObserveDelivered, ObserveFailed
from lastword.core.cell_orders import Show
from lastword.core.frontier import CellMachine
from lastword.runtime.asking import Right, acting


@dataclass(frozen=True, eq=False, slots=True)
class _Look:
    observer: str
    right: Right | None  # of the run that looks

    @property
    def is_lost(self) -> bool:
        return self.right is not None and not self.right.current


class Observers:
    """Of one cell."""

    def __init__(self, machine: CellMachine, tell: Callable[[CellEvent], object]) -> None:
        self._machine = machine
        self._tell = tell
        self._last: _Look | None = None

    @asynccontextmanager
    async def look(self, observer: str) -> AsyncGenerator[Observation]:
        """What is to be seen. If the block raises, what it was given was not delivered."""
        with acting("this look at a cell") as right:
            if self._last and self._last.is_lost:
                self._ends(self._last, delivered=False)
            [show] = self._machine.apply(ObserveBegun(observer))
            self._last = look = _Look(observer, right)
        if not isinstance(show, Show):
            raise TypeError(f"nothing to show: {show!r}")
        try:
            yield show.observation
        except BaseException:
            self._ends(look, delivered=False)
            raise
        self._ends(look, delivered=not look.is_lost)

    def _ends(self, look: _Look, *, delivered: bool) -> None:
        if self._last is look:
            self._last = None
            kind = ObserveDelivered if delivered else ObserveFailed
            self._tell(kind(look.observer))
