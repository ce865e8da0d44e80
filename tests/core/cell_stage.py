"""A cell for stories: its machine, and a store that takes what it is given."""

from __future__ import annotations

from lastword.core.cell import (
    CallResult,
    CellId,
    CellOutcome,
    CellRecord,
    Kind,
    Observation,
    PendingCall,
    PendingGeneration,
)
from lastword.core.cell_events import (
    CallsAnswered,
    CellEvent,
    CellStored,
    Delivered,
    ObserveBegun,
    ObserveDelivered,
    Reached,
    StartAsked,
)
from lastword.core.cell_orders import CellOrder, Commit, Show, StartProgram, StoreCell
from lastword.core.frontier import CellMachine
from lastword.core.model import CallId


class Cell:
    """A machine and a store that takes everything, unless it is told not to."""

    def __init__(self, kind: Kind = "pausable", machine: CellMachine | None = None) -> None:
        self.machine = machine or CellMachine(CellId("cell"), kind)
        self.disk: CellRecord | None = None

    def tell(self, event: CellEvent, *, stored: bool = True) -> list[CellOrder]:
        """What comes of an event, with all that follows when the store has taken its part."""
        said: list[CellOrder] = []
        orders = self.machine.apply(event)
        while orders:
            order = orders.pop(0)
            said.append(order)
            if isinstance(order, StoreCell | Commit) and stored:
                self.disk = order.record
                orders += self.machine.apply(CellStored(order.record.version))
        return [order for order in said if not isinstance(order, StoreCell)]

    def reach(self, *made: str, waits: str = "", output: str = "") -> list[CellOrder]:
        calls = tuple(PendingCall(CallId(id_), f"tool_{id_}") for id_ in made)
        ids = frozenset(map(CallId, waits or "".join(made)))
        return self.tell(Reached(calls, ids, output, b"dump", ((f"saw {waits}", "1"),)))

    def go_on(self, generation: int, *ids: str) -> list[CellOrder]:
        """Resume it, and let the interpreter take the results."""
        orders = self.tell(resume(generation, *ids))
        return orders + self.tell(Delivered(PendingGeneration(generation)))

    def look(self) -> Observation:
        """Observe it, and let the observer have it."""
        [shown] = self.tell(ObserveBegun("ann"))
        assert isinstance(shown, Show)
        self.tell(ObserveDelivered("ann"))
        return shown.observation

    def restart(self) -> Cell:
        """The same cell in a process that finds what this one stored."""
        assert self.disk is not None
        machine, orders = CellMachine.restore(self.disk)
        found = Cell(machine=machine)
        found.disk = self.disk
        for order in orders:
            assert isinstance(order, StoreCell)
            found.tell(CellStored(order.record.version))
        return found

    @property
    def waits_on(self) -> list[str]:
        return [call.id for call in self.machine.pending]


def paused(*made: str, output: str = "", kind: Kind = "pausable") -> Cell:
    """A cell at its first frontier."""
    cell = Cell(kind)
    assert cell.tell(StartAsked()) == [StartProgram()]
    cell.reach(*made, output=output)
    return cell


def resume(generation: int, *ids: str) -> CallsAnswered:
    return CallsAnswered(PendingGeneration(generation), results(*ids))


def results(*ids: str) -> tuple[CallResult, ...]:
    return tuple(CallResult(CallId(id_), f"result of {id_}") for id_ in ids)


def ended(cell: Cell) -> CellOutcome | None:
    return cell.machine.ending.outcome if cell.machine.ending else None


def named(cell: Cell) -> list[str]:
    assert cell.machine.ending is not None
    return [call.id for call in cell.machine.ending.may_have_executed]
