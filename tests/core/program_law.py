"""Which programs a step has to freeze, and that it freezes no other."""

from __future__ import annotations

from lastword.core.cell import CellId
from lastword.core.events import Accepted, Event, LetGo, ProgramsStand, StopAsked
from lastword.core.model import Reason
from lastword.core.orders import Cancel, End, Freeze, Order
from lastword.core.rights import StandingProgram
from lastword.core.session import SessionMachine
from tests.core.entitled import may, people
from tests.core.explorer import must
from tests.core.ghost import Ghost


def stoppable_programs(before: SessionMachine, event: StopAsked) -> tuple[StandingProgram, ...]:
    """What a stop of everything finds standing: programs outlive a process, and no stop."""
    ends = event.reason in {Reason.STOPPED, Reason.SUPERSEDED, Reason.PARENT}
    return before.programs if ends and event.run is None else ()


def programs_judged(
    before: SessionMachine, event: Event, after: SessionMachine, orders: list[Order], ghost: Ghost
) -> list[Order]:
    """Check what a step freezes; return what else it orders."""
    frozen = [cell for order in orders if isinstance(order, Freeze) for cell in order.cells]
    must(sorted(frozen) == sorted(_expected(before, event, orders, ghost)), "what may be is frozen")
    for order in orders:
        must(not isinstance(order, Freeze) or bool(order.cells), "what is frozen is named")
    first = next((at for at, o in enumerate(orders) if isinstance(o, Cancel | End)), len(orders))
    late = any(isinstance(order, Freeze) for order in orders[first:])
    must(not late, "nothing stands that worked for what has ended")
    stand = tuple(p for p in before.programs if p.cell not in frozen)
    if isinstance(event, ProgramsStand):
        stand = event.programs
    if isinstance(event, LetGo):
        stand = ()  # the store has them
    must(after.programs == stand, "the machine knows what stands")
    return [order for order in orders if not isinstance(order, Freeze)]


def _expected(
    before: SessionMachine, event: Event, orders: list[Order], ghost: Ghost
) -> set[CellId]:
    cancelled = any(isinstance(order, Cancel) for order in orders)
    match event:
        case StopAsked(reason, by=by):
            theirs = [p for p in stoppable_programs(before, event) if may(before, by, p.by)]
            ends = reason not in {Reason.SHUTDOWN, Reason.LOST}
        case Accepted() if any(isinstance(order, Cancel | End) for order in orders):
            who = people(event)
            theirs = [p for p in before.programs if any(may(before, by, p.by) for by in who)]
            ends = True
        case _:
            return set()
    works = [p for p in before.programs if ends and cancelled and p.run == ghost.live]
    return {p.cell for p in (*theirs, *works)}
