"""When the generation has to move, and what may not leave any more when it has."""

from __future__ import annotations

from lastword.core.events import Event, Found, Loaded, StopAsked, StoreFailed
from lastword.core.model import RunId
from lastword.core.orders import Cancel, End, Order
from lastword.core.session import SessionMachine
from tests.core.entitled import ids_of
from tests.core.explorer import must


def generation_judged(
    before: SessionMachine, event: Event, after: SessionMachine, orders: list[Order]
) -> None:
    """Check one step."""
    _moved(before, event, after, orders)
    _fenced(before, after, orders)


def _moved(
    before: SessionMachine, event: Event, after: SessionMachine, orders: list[Order]
) -> None:
    steps = after.generation - before.generation
    old, new = _holder(before), _holder(after)
    stop = isinstance(event, StopAsked) and event.run is None and bool(orders) and old is None
    if isinstance(event, Loaded):
        must(after.generation == max(before.generation, event.generation), "none is used twice")
    elif isinstance(event, Found):
        must(steps >= 1, "whoever had the session before has it no longer")
    elif old == new or (isinstance(event, StoreFailed) and _goes_on(before, after)):
        must(steps == stop, "the generation moves at a stop, and never under a run that goes on")
    else:
        hands = (old is not None) + (new is not None)
        must(steps >= hands, "the generation moves at every start and at every end")


def _goes_on(before: SessionMachine, after: SessionMachine) -> bool:
    """Whether the same turn has it, less a message, by whose name it went."""
    old, new = ([m.active] if m.active else [] for m in (before, after))
    return not set(ids_of(old)).isdisjoint(ids_of(new))


def _holder(machine: SessionMachine) -> RunId | None:
    return machine.active.run if machine.active else None


def _fenced(before: SessionMachine, after: SessionMachine, orders: list[Order]) -> None:
    """What a run had let out is fenced in by whoever cancels it, and not by its own end."""
    if any(isinstance(order, Cancel) for order in orders):
        now = before.generation < after.fenced <= after.generation
        must(now, "what a cancelled run had let out may not leave any more")
    elif any(isinstance(order, End) and order.started for order in orders):
        must(after.fenced == before.fenced, "what a run had let out before its end may leave")
