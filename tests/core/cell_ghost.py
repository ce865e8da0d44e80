"""What a bystander remembers of a cell's history: the memory that `cell_law.py` judges with.

It is told the events and hears the orders, and never looks into the machine. It also is the world
in which the machine lives: what the store may hold, whether the interpreter runs, which calls were
made, and who is being shown what.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lastword.core.cell import CellRecord, Ending, Frontier, Kind, PendingCall, Values
from lastword.core.cell_events import (
    CallsAnswered,
    CallsEnded,
    CellEvent,
    CellNotStored,
    CellStored,
    Delivered,
    DeliveryFailed,
    ObserveDelivered,
    ObserveFailed,
    Raised,
    Reached,
    Returned,
    RuntimeLost,
    StartAsked,
    UsedUp,
)
from lastword.core.cell_orders import (
    CancelCalls,
    CellOrder,
    Commit,
    Deliver,
    EndCell,
    Execute,
    Kill,
    NotResumed,
    Resumed,
    Show,
    Stand,
    StartProgram,
    StoreCell,
)
from lastword.core.model import CallId

Ids = frozenset[CallId]
NONE: Ids = frozenset()


class Ghost(NamedTuple):
    """Everything of the past that the promise speaks of, and nothing else."""

    kind: Kind
    started: bool = False
    stores: tuple[StoreCell | Commit, ...] = ()  # not reported yet, oldest first
    disk: tuple[CellRecord | None, ...] = (None,)  # what the store may hold, apart from those
    sound: bool = True  # the store took what it was last given
    committed: Values | None = None
    begun_program: bool = False
    alive: bool = False  # there is an interpreter, or one is being loaded
    reloaded: bool = False  # it was loaded from a dump for the delivery under way
    running: bool = False
    made: tuple[PendingCall, ...] = ()  # all of them, ever
    unresolved: Ids = NONE
    arrived: Reached | None = None  # reported, and does not stand yet
    stood: Frontier | None = None
    open: bool = False  # it stands, and no resume of it is under way
    begun: Ids = NONE  # answered by the resume that was begun last
    delivering: Ids = NONE
    consumed: int = 0
    handed: Ids = NONE
    going: Ids = NONE
    ready: Ids = NONE  # ended, and not delivered
    left: tuple[str, ...] = ()  # printed, and not given to anybody
    showing: tuple[str, int] | None = None
    values: Values = ()
    ending: Ending | None = None  # the last that was to be stored
    told: Ending | None = None
    frontiers: int = 0  # the budgets of the exploration, as far as they are spent
    failures: int = 0
    losses: int = 0
    observed: int = 0
    crashes: int = 0

    @property
    def generation(self) -> int:
        return self.stood.generation if self.stood else 0

    @property
    def possible(self) -> tuple[CellRecord | None, ...]:
        """What a process that starts now may find in the store."""
        return (*self.disk, *(order.record for order in self.stores))

    def calls(self, ids: Ids) -> tuple[PendingCall, ...]:
        return tuple(call for call in self.made if call.id in ids)


def _printed(ghost: Ghost, text: str) -> Ghost:
    return ghost._replace(left=(*ghost.left, text)) if text else ghost


def told(ghost: Ghost, event: CellEvent) -> Ghost:  # noqa: PLR0911, PLR0912 - an arm an event
    """The memory after an event that was not turned down, before its orders are heard."""
    match event:
        case StartAsked():
            return ghost._replace(started=True)
        case CellStored():
            first, *others = ghost.stores
            committed = first.values if isinstance(first, Commit) else ghost.committed
            return ghost._replace(
                stores=tuple(others), disk=(first.record,), sound=True, committed=committed
            )
        case CellNotStored():
            first, *others = ghost.stores
            return ghost._replace(
                stores=tuple(others),
                disk=(*ghost.disk, first.record),
                sound=False,
                failures=ghost.failures + 1,
            )
        case ObserveDelivered() if ghost.showing:
            return ghost._replace(left=ghost.left[ghost.showing[1] :], showing=None)
        case ObserveFailed():
            return ghost._replace(showing=None)
        case CallsAnswered(_, results):
            return ghost._replace(open=False, begun=frozenset(r.call for r in results))
        case _ if ghost.ending is not None:
            return _late(ghost, event)
        case Reached(made=made, waits=waits, output=output, remembered=remembered):
            values = tuple({**dict(ghost.values), **dict(remembered)}.items())
            ids = frozenset(call.id for call in made)
            return _printed(ghost, output)._replace(
                running=False,
                arrived=event,
                values=values,
                made=(*ghost.made, *made),
                unresolved=(ghost.unresolved | ids) & waits,
                frontiers=ghost.frontiers + 1,
            )
        case Returned(output=output, remembered=remembered):
            values = tuple({**dict(ghost.values), **dict(remembered)}.items())
            return _printed(ghost, output)._replace(running=False, values=values)
        case Raised(output=output) | UsedUp(output=output):
            return _printed(ghost, output)._replace(running=False)
        case RuntimeLost():
            return ghost._replace(running=False, alive=False, losses=ghost.losses + 1)
        case CallsEnded(results):
            ids = frozenset(result.call for result in results)
            return ghost._replace(going=ghost.going - ids, ready=ghost.ready | ids)
        case Delivered():
            return ghost._replace(
                running=True,
                reloaded=False,
                unresolved=ghost.unresolved - ghost.delivering,
                consumed=ghost.generation,
                delivering=NONE,
            )
        case DeliveryFailed():
            return ghost._replace(delivering=NONE, failures=ghost.failures + 1)
        case _:
            return ghost


def _late(ghost: Ghost, event: CellEvent) -> Ghost:
    """What the world looks like to an interpreter, and to calls, that do not know of the end."""
    match event:
        case CallsEnded(results):
            return ghost._replace(going=ghost.going - {result.call for result in results})
        case Delivered() | DeliveryFailed():
            return ghost._replace(delivering=NONE)
        case _:
            return ghost._replace(running=False)


def heard(ghost: Ghost, order: CellOrder) -> Ghost:  # noqa: PLR0911, PLR0912 - an arm an order
    """The memory after an order."""
    match order:
        case StoreCell(record) | Commit(record):
            return ghost._replace(stores=(*ghost.stores, order), ending=record.ending)
        case StartProgram():
            return ghost._replace(begun_program=True, alive=True, running=True)
        case Stand(frontier):
            opened = ghost.kind == "pausable"
            return ghost._replace(stood=frontier, open=opened, arrived=None, begun=NONE)
        case Execute(calls):
            ids = frozenset(call.id for call in calls)
            return ghost._replace(handed=ghost.handed | ids, going=ghost.going | ids)
        case CancelCalls():
            return ghost
        case Deliver(_, results, reload):
            ids = frozenset(result.call for result in results)
            ghost = ghost._replace(alive=True, reloaded=reload)
            return ghost._replace(delivering=ids, begun=ids, ready=ghost.ready - ids)
        case Resumed():
            return ghost
        case NotResumed():
            return ghost._replace(open=True, begun=NONE, delivering=NONE)
        case Show(observer, observation):
            showing = (observer, len(observation.fresh))
            return ghost._replace(showing=showing, observed=ghost.observed + 1)
        case Kill():
            return ghost._replace(alive=False)
        case EndCell(ending):
            return ghost._replace(told=ending)


def key(ghost: Ghost, version: int) -> tuple[Any, ...]:
    """The memory with versions counted from the machine's, so that histories can meet."""
    disk = frozenset(_relative(record, version) for record in ghost.disk)
    stores = tuple((type(order), _relative(order.record, version)) for order in ghost.stores)
    return (*ghost._replace(disk=(), stores=()), disk, stores)


def _relative(record: CellRecord | None, version: int) -> tuple[Any, ...] | None:
    if record is None:
        return None
    r = record
    return (version - r.version, r.frontier, r.paused, r.doubtful, r.output, r.values, r.ending)
