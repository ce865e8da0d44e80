"""The promise of exact frontiers as a judge of one step of a cell's machine.

Each clause is a function that is given what a bystander remembers, and what was done. `judge` asks
all of them, and raises `Broken` with the clause that did not hold. What has to happen is worked out
here a second time, from the promise, and from what was said and done alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from lastword.core.cell import CellOutcome, CellRecord, Ending, Frontier
from lastword.core.cell_events import (
    CellEvent,
    CellNotStored,
    CellStored,
    Delivered,
    DeliveryFailed,
    Frozen,
    ObserveBegun,
    ObserveDelivered,
    ObserveFailed,
    Raised,
    Reached,
    Returned,
    RuntimeLost,
    TerminateAsked,
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
from lastword.core.frontier import CellMachine
from tests.core.cell_ghost import NONE, Ghost, heard, told
from tests.core.explorer import must

Orders: TypeAlias = list[CellOrder]
Restore: TypeAlias = Callable[[CellRecord], tuple[CellMachine, Orders]]
LOOKS = ObserveBegun | ObserveDelivered | ObserveFailed


def judge(
    before: CellMachine, event: CellEvent, after: CellMachine, orders: Orders, ghost: Ghost
) -> Ghost:
    """Check one step; return what is remembered after it."""
    old = ghost
    ghost = told(old, event)
    for order in orders:
        _allowed(order, event, old, ghost)
        ghost = heard(ghost, order)
    looking_changes_nothing(before, event, after, orders)
    the_generation_only_grows(before, after)
    the_end_has_the_last_word(old, event, orders, ghost)
    what_has_to_end_it_does(old, event, orders, ghost)
    something_is_due(ghost)
    what_can_be_seen_is_so(after, ghost)
    a_restart_finds_it(after, ghost)
    return ghost


# what may be ordered


def _allowed(order: CellOrder, event: CellEvent, old: Ghost, now: Ghost) -> None:  # noqa: PLR0912 - one match, one arm an order
    match order:
        case StoreCell(record):
            _may_be_stored(record, event, old, now)
            completed = record.ending and record.ending.outcome is CellOutcome.COMPLETED
            must(not completed or now.committed is not None, "it completes with its values")
        case Commit(record, values):
            _may_be_stored(record, event, old, now)
            must(isinstance(event, Returned), "only a cell that completes commits")
            must(old.ending is None, "nothing is committed by a cell that has ended")
            must(values == now.values, "what was remembered is committed, all of it")
        case StartProgram():
            must(not old.begun_program, "a program is started once")
            must(old.ending is None, "an ended cell does not start")
            must(isinstance(event, CellStored) and now.sound, "it is stored before it starts")
        case Stand(frontier):
            must(frontier.generation == old.generation + 1, "frontiers are numbered one by one")
            must(now.arrived is not None, "a frontier stands where the program waits")
            if now.arrived:
                ids = frozenset(call.id for call in frontier.pending)
                must(ids == now.unresolved, "it lists the unresolved calls")
                must(frontier.output == now.arrived.output, "its output is that since the last")
                must(frontier.dump == now.arrived.dump, "its dump is its own")
            if now.kind == "pausable":
                must(_durably_at(now, frontier.generation), "a frontier is stored, then shown")
        case Execute(calls):
            ids = frozenset(call.id for call in calls)
            must(now.kind == "continuing", "a pausable cell's calls are not made by itself")
            must(old.ending is None, "no call of a cell that has ended is handed out")
            must(bool(ids) and not ids & old.handed, "a call is handed out once")
            named = all(r and ids <= {c.id for c in r.doubtful} for r in now.possible)
            must(named, "a call is stored before it is handed out")
        case CancelCalls(calls):
            must(frozenset(c.id for c in calls) == now.going, "the calls that still go are ended")
        case Deliver():
            _may_be_delivered(order, event, old, now)
        case Resumed(generation):
            must(event == Delivered(generation), "resumed means that it was delivered")
            must(generation > old.consumed, "a frontier is consumed once")
        case NotResumed(generation):
            must(generation == now.generation != now.consumed, "what did not arrive was not used")
            must(bool(old.begun) or not old.open, "somebody resumed it")
            must(isinstance(event, CellStored | CellNotStored), "it is back when the store has it")
        case Show(_, seen):
            must(seen.generation == now.generation, "an observer sees the current frontier")
            must(seen.fresh == now.left, "each piece of output is given once, in order")
            must(now.told == seen.ending, "an observer sees an end that everybody was told of")
        case Kill():
            must(old.alive, "there is something to end")
        case EndCell(ending, durable):
            must(now.told is None, "a cell ends once")
            must(ending == now.ending, "the end is the one that was to be stored")
            must(
                isinstance(event, CellStored | CellNotStored), "an end is stored before it is told"
            )
            must(durable == now.sound, "durable means that the store has it")


def _may_be_stored(record: CellRecord, event: CellEvent, old: Ghost, now: Ghost) -> None:
    known = [r.version for r in old.possible if r]
    must(record.version > max(known, default=0), "each record is newer than those before")
    if old.ending is not None:
        failed = isinstance(event, CellNotStored) and old.ending.outcome is CellOutcome.COMPLETED
        must(record.ending == old.ending or failed, "an end is not changed")
    must(record.output == now.left, "what was not given yet is kept")


def _may_be_delivered(order: Deliver, event: CellEvent, old: Ghost, now: Ghost) -> None:
    ids = frozenset(result.call for result in order.results)
    must(old.ending is None, "nothing is delivered to a cell that has ended")
    must(order.generation == now.generation > now.consumed, "a frontier is resumed once")
    must(0 < len(ids) == len(order.results), "each result is delivered once")
    must(ids <= now.unresolved, "a result answers a call that waits")
    must(order.reload == (not now.alive), "it is loaded again if its interpreter is gone")
    if now.kind == "pausable":
        must(ids == old.begun, "what was asked is delivered, all of it")
        must(
            isinstance(event, CellStored),
            "that a resume was begun is stored before it is delivered",
        )
        must(not any(r and r.paused for r in now.possible), "one resume, whatever a restart finds")
    else:
        again = isinstance(event, DeliveryFailed) and ids == old.delivering
        must(again or ids == now.ready & now.unresolved, "what has ended is delivered")


def _durably_at(ghost: Ghost, generation: int) -> bool:
    return all(
        r and r.paused and r.frontier and r.frontier.generation == generation
        for r in ghost.possible
    )


# what holds after every step


def looking_changes_nothing(
    before: CellMachine, event: CellEvent, after: CellMachine, orders: Orders
) -> None:
    if isinstance(event, LOOKS):
        moved = {name for name, was in vars(before).items() if vars(after)[name] != was}
        must(moved <= {"outlet", "version", "unsaved"}, "looking moves nothing")
        must(all(isinstance(o, Show | StoreCell) for o in orders), "looking runs nothing")
        if isinstance(event, ObserveBegun):
            must(moved <= {"outlet"} and len(orders) == 1, "whoever looks is shown it")


def the_generation_only_grows(before: CellMachine, after: CellMachine) -> None:
    must(before.generation <= after.generation <= before.generation + 1, "it only grows")


def the_end_has_the_last_word(old: Ghost, event: CellEvent, orders: Orders, now: Ghost) -> None:
    if old.ending is None:
        return
    must(now.ending is not None, "what has ended stays so")
    if not isinstance(event, CellStored | CellNotStored | LOOKS):
        must(orders == [], "what is reported after the end is not heard")


def what_has_to_end_it_does(old: Ghost, event: CellEvent, orders: Orders, now: Ghost) -> None:
    outcome, calls = _expected_end(old, event, now)
    if old.ending is not None and outcome is None:
        return
    must((now.ending.outcome if now.ending else None) is outcome, f"{outcome} is how it ends")
    if now.ending and outcome is not None:
        must(set(now.ending.may_have_executed) == set(calls), "what may have executed is named")
        must(not now.alive, "no interpreter is left")
        cancelled = any(isinstance(order, CancelCalls) for order in orders)
        must(cancelled == (bool(old.going) and old.ending is None), "no call is left")
        commits = any(isinstance(order, Commit) for order in orders)
        must(commits == (outcome is CellOutcome.COMPLETED), "its values are committed if it is")


def _expected_end(  # noqa: PLR0911, PLR0912 - one match, one arm an event
    old: Ghost, event: CellEvent, now: Ghost
) -> tuple[CellOutcome | None, tuple[object, ...]]:
    lost = (CellOutcome.LOST, old.calls(old.begun if old.kind == "pausable" else old.going))
    failed, going = CellOutcome.FAILED, old.calls(old.going)
    match event:
        case CellNotStored() if old.ending and old.told is None:
            mine = old.stores[0].record.ending
            completes = mine and mine.outcome is CellOutcome.COMPLETED
            return (failed, old.ending.may_have_executed) if completes else (None, ())
        case _ if old.ending is not None:
            return None, ()
        case TerminateAsked():
            return CellOutcome.TERMINATED, going
        case Frozen():
            return CellOutcome.FROZEN, going
        case Returned():
            return CellOutcome.COMPLETED, going
        case Raised() | UsedUp():
            return failed, going
        case Reached() if not now.unresolved:
            return failed, going
        case RuntimeLost() if old.running or old.delivering:
            return lost
        case CellNotStored() if not old.begun_program and old.generation == 0:
            return failed, ()
        case CellNotStored() if old.arrived and _awaits_arrival(old):
            return lost
        case DeliveryFailed() if old.kind == "continuing" and old.reloaded:
            return lost
        case _:
            return None, ()


def _awaits_arrival(ghost: Ghost) -> bool:
    failing = ghost.stores[0].record.frontier
    return failing is not None and failing.generation == ghost.generation + 1


def something_is_due(ghost: Ghost) -> None:
    """A cell never waits for what nobody will do."""
    if not ghost.started and ghost.ending is None:
        return
    goes_on = ghost.running or ghost.open or bool(ghost.going or ghost.delivering)
    done = ghost.told is not None
    must(bool(ghost.stores) or goes_on or done, "a cell does not hang")
    must(done or ghost.ending is None or bool(ghost.stores), "whoever waits is told of the end")
    must(not (ghost.open and ghost.ready), "what has ended is delivered")


def what_can_be_seen_is_so(after: CellMachine, ghost: Ghost) -> None:
    if ghost.ending is not None:
        must(after.pending == (), "an ended cell waits for nothing")
        must(after.standing == ("ended" if ghost.told else "ending"), "the end can be seen")
        return
    readable = ghost.stood is not None and not ghost.running and ghost.arrived is None
    shown = ghost.stood.pending if ghost.stood and readable else ()
    must(after.pending == shown, "a frontier can be read until it is consumed")
    must({call.id for call in after.pending} <= ghost.unresolved, "pending is unresolved")
    if ghost.kind == "pausable":
        must((after.standing == "paused") == ghost.open, "it says whether it can be resumed")
        must((after.standing == "resuming") == (bool(shown) and not ghost.open), "or is resumed")


def a_restart_finds_it(after: CellMachine, ghost: Ghost) -> None:
    """What the process that starts after a death makes of what it may find."""
    restore = type(after).restore
    for record in ghost.possible:
        if record is None:
            must(not ghost.begun_program, "nothing runs that is not stored")
            must(ghost.told is None or not ghost.sound, "an end is stored before it is told")
            continue
        found, ending, output = _found(restore, record)
        if ghost.told is not None and ghost.sound:
            must(ending == ghost.told, "an end that was told is an end after a restart")
        elif ghost.ending is None and ghost.sound and ghost.open:
            must(found == ghost.stood, "a frontier that was shown is there after a restart")
        elif found is not None:
            must(not ghost.delivering, "a resume under way is not begun again")
            must(found.generation > ghost.consumed, "a consumed frontier does not come back")
            must(ghost.kind == "pausable", "a continuing cell goes with its process")
        quiet = ghost.sound and not ghost.stores
        if quiet and (ghost.kind == "pausable" or ghost.told):
            must(output == ghost.left, "a restart gives what was not given")


@cache
def _found(
    restore: Restore, record: CellRecord
) -> tuple[Frontier | None, Ending | None, tuple[str, ...]]:
    machine, _ = restore(record)
    paused = machine.frontier if machine.standing == "paused" else None
    return paused, machine.ending, machine.outlet.pieces


def judge_restart(record: CellRecord, machine: CellMachine, orders: Orders, ghost: Ghost) -> Ghost:
    """Check what a process made of the record it found; return what is remembered then."""
    paused = machine.frontier if machine.standing == "paused" else None
    if paused:
        ids = frozenset(call.id for call in paused.pending)
        must(ids <= ghost.unresolved, "a restart asks for no call again")
        must(machine.values == ghost.values, "what was remembered is kept with the frontier")
        must(orders == [], "a frontier that is found stands still")
        ghost = ghost._replace(unresolved=ids, begun=NONE)
    elif record.ending is None:
        _found_lost(machine, ghost)
    ghost = ghost._replace(
        stores=(),
        disk=(record,),
        sound=True,
        alive=False,
        reloaded=False,
        running=False,
        arrived=None,
        delivering=NONE,
        open=paused is not None,
        stood=record.frontier,
        going=NONE,
        ready=NONE,
        left=record.output,
        showing=None,
        committed=record.values if record.ending else None,
        ending=record.ending,
        told=record.ending,
        crashes=ghost.crashes + 1,
    )
    for order in orders:
        _allowed(order, RuntimeLost(), ghost, ghost)
        ghost = heard(ghost, order)
    something_is_due(ghost)
    what_can_be_seen_is_so(machine, ghost)
    a_restart_finds_it(machine, ghost)
    return ghost


def _found_lost(machine: CellMachine, ghost: Ghost) -> None:
    must(machine.ending is not None, "what ran when its process died is lost")
    if machine.ending and ghost.sound:
        must(machine.ending.outcome is CellOutcome.LOST, "lost is never called otherwise")
        ids = frozenset(call.id for call in machine.ending.may_have_executed)
        named = ids == ghost.begun if ghost.kind == "pausable" else ids >= ghost.going
        must(named, "a restart names what may have executed")
