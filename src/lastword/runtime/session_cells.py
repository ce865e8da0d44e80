"""The cells of a session that have not ended. They are the session's, not a run's: a run's end
leaves them standing, and a stop or a takeover freezes them in the instant of the fence.

What a cell is, and how it runs, is for the floor above; here it is only known how it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol
from weakref import WeakValueDictionary

from lastword.core.cell import CellId, StoredCell, Values
from lastword.core.cell_events import Frozen
from lastword.core.cell_orders import StoreCell
from lastword.core.frontier import CellMachine
from lastword.core.model import CallId, RunId, SessionId
from lastword.core.receipt import CellReport
from lastword.core.rights import StandingProgram
from lastword.core.story import ProgramNews
from lastword.processes import Processes
from lastword.runtime.asks import Asks
from lastword.runtime.feed import Publish
from lastword.runtime.journal import Journal


class OpenCell(Protocol):
    """A cell that has not ended."""

    @property
    def stored(self) -> StoredCell:
        """All that is to outlive the process, as it is now."""
        ...

    def freeze(self) -> StoredCell | None:
        """Let it do nothing more; what is to be stored of it. In the step of the fence, so nothing
        is waited for. None if it had ended."""
        ...


class SessionCells:
    """One session's."""

    def __init__(
        self,
        session: SessionId,
        journal: Journal,
        processes: Processes,
        publish: Publish,
        asks: Asks,
        stand: Callable[
            [tuple[StandingProgram, ...]], None
        ],  # told of each change, before it is used
    ) -> None:
        self._session = session
        self._asks = asks
        self._stand = stand
        self.processes = processes  # where their programs run
        self._journal = journal
        self._publish = publish
        journal.on_cells = self.tell  # they stand where the store has them
        self.open: dict[CellId, OpenCell] = {}  # those that have not ended
        # that have ended and are looked at, so that a second observer finds the first
        self.seen: WeakValueDictionary[CellId, OpenCell] = WeakValueDictionary()

    def found(self, cells: Iterable[StoredCell]) -> None:
        """An earlier process left these. Those that were not at a frontier are lost."""
        known = tuple(cells)
        self._asks.found(self._session, known)
        for stored in known:
            machine, orders = CellMachine.restore(stored.record)
            for order in orders:
                if isinstance(order, StoreCell):
                    self._keep(replace(stored, record=order.record))
            if machine.ending is None:
                self.open[stored.id] = Asleep(stored, machine)
        self._changed()
        if self._journal.behind:
            self._journal.commit()

    def tell(self, cells: Iterable[StoredCell]) -> None:
        """Tell whoever watches where these stand."""
        for cell in cells:
            self._asks.stands(cell)
            self._publish(ProgramNews(RunId(cell.run), cell))

    def must_take(self, cell: CellId, generation: int, calls: tuple[CallId, ...]) -> None:
        """Raise as a message would be refused that answers these calls, and do nothing."""
        self._asks.must_take(cell, generation, calls)

    @property
    def standing(self) -> tuple[StoredCell, ...]:
        """The same, as the store has them: what has ended there, and is about to leave here, is not
        told again."""
        stored = (cell.stored for cell in self.open.values())
        return tuple(one for one in stored if one.record.ending is None)

    @property
    def at_work(self) -> bool:
        """Whether one of them was taken up here: whoever has it has more of it than the store."""
        return any(not isinstance(cell, Asleep) for cell in self.open.values()) or bool(self.seen)

    def put(self, cell: OpenCell) -> None:
        """It is to be found here, in place of what was; again, if it works for another run."""
        self.open[cell.stored.id] = cell
        self._changed()

    def leave(self, id: CellId) -> None:
        """It has ended."""
        if self.open.pop(id, None):
            self._changed()

    def _changed(self) -> None:
        stored = [cell.stored for cell in self.open.values()]
        self._stand(tuple(StandingProgram(one.id, RunId(one.run), one.by) for one in stored))

    def keep(self, cell: StoredCell, values: Values = ()) -> None:
        """Have it stored with the next commit."""
        self._journal.keep(cell, values)

    async def values(self) -> Values:
        """What cells of the session have remembered. Raises StoreError."""
        return await self._journal.values()

    async def committed(self) -> None:
        """Return when all that was to be stored is. Raises StoreError."""
        await self._journal.committed()

    def freeze(self, such: Callable[[StoredCell], bool]) -> tuple[CellReport, ...]:
        """Such cells do nothing more; it is stored with whatever is next."""
        reports: list[CellReport] = []
        for id_, cell in tuple(self.open.items()):
            before = cell.stored
            if such(before) and (frozen := cell.freeze()):
                self._keep(frozen)
                frontier = before.record.frontier
                waits = tuple(call.name for call in frontier.pending) if frontier else ()
                reports.append(CellReport(id_, frontier.generation if frontier else 0, waits))
                self.leave(id_)
        return tuple(reports)

    def _keep(self, ended: StoredCell) -> None:
        """It waits for nobody any more, which is stored with whatever is next."""
        self._journal.keep(ended)
        self._asks.stands(ended)


class Asleep:
    """A cell that an earlier process left at a frontier, and nobody has taken up yet."""

    def __init__(self, stored: StoredCell, machine: CellMachine) -> None:
        self.stored = stored
        self._machine = machine

    def freeze(self) -> StoredCell | None:
        """It was standing still, and does so for good."""
        for order in self._machine.apply(Frozen()):
            if isinstance(order, StoreCell):
                return replace(self.stored, record=order.record)
        return None
