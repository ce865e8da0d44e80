"""A stop, from whoever asks to the receipt: the fence first, and then what can be said of it.

On the event loop the fence and what it orders are one step. From any other thread the fence is made
there, lock and all, so that it does not wait for the loop; the loop does the rest when it comes to
it, and if it does not, the watchdog answers at the deadline. A stop that comes before the store was
read is made when it was, before anything can act.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Protocol

from lastword.core.events import StopAsked
from lastword.core.model import Reason
from lastword.core.orders import End, Pause
from lastword.core.receipt import MessageReport, Receipt, Unconfirmed
from lastword.errors import OwnedElsewhere, RuntimeClosed, StoreError, Superseded
from lastword.runtime.active_run import ActiveRun, run_here
from lastword.runtime.elsewhere import silent, stopped
from lastword.runtime.seat import Move, Seat
from lastword.runtime.shared import Shared
from lastword.runtime.stop import Settlement
from lastword.runtime.tasks import unless_closed
from lastword.runtime.ticket import Stopping, given
from lastword.runtime.work import Work


class Stoppable(Protocol):
    """What a stop needs of its conversation."""

    seat: Seat
    shared: Shared
    closed: bool

    @property
    def work(self) -> Work: ...
    @property
    def beyond(self) -> str:
        """Why nothing that goes on under its name can be stopped through this one."""
        ...

    def carry_out(self) -> None: ...
    def load(self) -> asyncio.Task[None]: ...


def fence(of: Stoppable, asked: StopAsked, *, only_here: bool = False) -> Callable[[], Stopping]:
    """Stop; what is returned, called, carries out the rest and gives the answer. `only_here`: what
    turns out to be another process's is left alone."""
    try:
        move = of.seat.inbox.make(asked)
    except Superseded:
        return partial(_not_stopped, of, asked)
    move.only_here = only_here

    def carry_out() -> Stopping:
        of.carry_out()
        if asked.reason is Reason.SHUTDOWN:
            move.early = False
        answer = _answer(of, move, run_here())
        return Stopping(answer, partial(_fenced, of, move, _settlement(of, move), answer))

    return carry_out


def stop_soon(of: Stoppable, asked: StopAsked) -> concurrent.futures.Future[Receipt]:
    """Nothing acts after this call; the receipt comes when it can. Any thread may ask."""
    caller, shared, work = run_here(), of.shared, of.work
    future: concurrent.futures.Future[Receipt] = concurrent.futures.Future()
    try:
        move = of.seat.inbox.make(asked)
    except Superseded:
        future.set_result(_refused(of, asked))
        return future
    work.runs.end_processes_now()

    def give(receipt: Receipt) -> None:
        with suppress(concurrent.futures.InvalidStateError):  # the loop or the watchdog, once
            future.set_result(receipt)

    def overdue() -> None:
        move.promised = move.early  # its receipt says so
        give(_at_fence(of, move, beyond=of.beyond))

    def on_loop() -> None:
        of.carry_out()
        _answer(of, move, caller).add_done_callback(answered)

    def answered(done: asyncio.Future[Receipt]) -> None:
        if watchdog:
            watchdog.take_back(overdue)
        with suppress(concurrent.futures.InvalidStateError):
            _hand_over(done, future)

    if watchdog := shared.watchdog:
        watchdog.answer_by(move.at + shared.told.deadline, overdue)
    shared.loop.call_soon_threadsafe(on_loop)
    return future


def _hand_over(done: asyncio.Future[Receipt], to: concurrent.futures.Future[Receipt]) -> None:
    if done.cancelled():
        to.cancel()
    elif error := done.exception():
        to.set_exception(error)
    else:
        to.set_result(done.result())


# what it is answered


def _answer(of: Stoppable, move: Move, caller: ActiveRun | None) -> asyncio.Future[Receipt]:
    """The receipt of what this move stopped, or of the stop that is still being settled."""
    if why := of.beyond:
        return given(_at_fence(of, move, beyond=why))
    if move.early and not of.closed:
        return _answer_early(of, move, caller)
    settlement = _settlement(of, move)
    if settlement is None:
        return given(_at_fence(of, move))
    if settlement.answer.done() or settlement.includes(caller):
        return given(settlement.receipt())  # nobody waits for their own end
    return settlement.answer


def _answer_early(of: Stoppable, move: Move, caller: ActiveRun | None) -> asyncio.Future[Receipt]:
    """The receipt of a stop that came before anybody knew what there is to stop."""

    async def answer() -> Receipt:
        try:
            async with asyncio.timeout(of.shared.told.deadline):
                await unless_closed(of.load())
        except TimeoutError:
            move.promised = True
            why = "its store has not answered; the stop comes first when it does"
            waits = _at_fence(of, move, beyond=why)
            return replace(waits, later=partial(_answer_early, of, move, None))
        except OwnedElsewhere as error:
            return await _elsewhere(of, move, error)
        except (StoreError, RuntimeClosed) as error:
            return _at_fence(of, move, beyond=str(error))
        if move.error:
            raise move.error
        move.early = False
        return await _answer(of, move, caller)

    return of.work.stops.tasks.start(answer(), name=f"stop {of.seat.id}")


async def _elsewhere(of: Stoppable, move: Move, error: OwnedElsewhere) -> Receipt:
    """The receipt of whoever has the session, if they can be asked."""
    reach, asked = None if move.only_here else of.shared.store.reach, move.event
    if reach is None or not isinstance(asked, StopAsked) or asked.reason is not Reason.STOPPED:
        return _at_fence(of, move, beyond=str(error))

    async def here() -> Receipt:
        return await fence(of, asked)()

    stop = stopped(reach, asked, of.seat.id, here)
    stopping = of.work.stops.tasks.start(stop, name=f"stop {of.seat.id} elsewhere")
    try:
        async with asyncio.timeout(of.shared.told.deadline):
            return await asyncio.shield(stopping)
    except TimeoutError:
        return silent(_at_fence(of, move, beyond="it"), error, partial(asyncio.shield, stopping))
    except StoreError as failed:
        return _at_fence(of, move, beyond=f"{error} ({failed})")


def _settlement(of: Stoppable, move: Move) -> Settlement | None:
    """What sees off what this move stopped, or an earlier one that is not over."""
    pending = of.work.stops.pending
    return move.settlement or (pending[-1] if pending else None)


async def _fenced(
    of: Stoppable, move: Move, settlement: Settlement | None, answer: asyncio.Future[Receipt]
) -> Receipt:
    """What is known in the instant of the fence, once that is stored, or could not be."""
    if move.early or settlement is None:
        return await asyncio.shield(answer)
    receipt = _at_fence(of, move)
    return replace(receipt, durable=await asyncio.shield(settlement.fence))


def _refused(of: Stoppable, asked: StopAsked) -> Receipt:
    """What a run is told that asks for a stop and has lost its own session: that it is none."""
    move = Move(asked, [], of.seat.machine.generation, of.shared.loop.time())
    why = "nothing was stopped, because the run that asked for it has been stopped or replaced"
    return _at_fence(of, move, beyond=why)


def _not_stopped(of: Stoppable, asked: StopAsked) -> Stopping:
    receipt, loop = _refused(of, asked), of.shared.loop
    answer: asyncio.Future[Receipt] = loop.create_future()
    # not at once: a loop that asks until all is quiet must not stall the event loop
    loop.call_soon(answer.set_result, receipt)

    async def fenced() -> Receipt:
        return receipt

    return Stopping(answer, fenced)


def _at_fence(of: Stoppable, move: Move, *, beyond: str = "") -> Receipt:
    """All that is known in the instant of the fence; false if there was nothing to stop.

    `beyond` is why there may be something all the same.
    """
    seat, shared, work = of.seat, of.shared, of.work
    if move.early and not seat.inbox.known and not beyond:
        beyond = "it was not read from its store yet; the stop comes first when it is"
    ends = [order for order in move.orders if isinstance(order, End)]
    dropped = [m for end in ends if not end.started for m in end.turn.messages]
    paused = [m for order in move.orders if isinstance(order, Pause) for m in order.turn.messages]
    took = shared.loop.time() - move.at

    async def settled() -> Receipt:
        of.carry_out()
        if move.settlement:
            return await asyncio.shield(move.settlement.done)
        await of.work.stops.gone()
        return _at_fence(of, move)

    return Receipt(
        session=seat.id,
        generation=move.generation,
        reason=move.event.reason if isinstance(move.event, StopAsked) else Reason.STOPPED,
        fenced_at=shared.clock() - took,
        took=took,
        runs=tuple(end.turn.run for end in ends if end.started),
        lost=seat.inbox.lost.lost,
        calls=seat.inbox.lost.calls,
        messages=(
            *(MessageReport(message, "dropped") for message in dropped),
            *(MessageReport(message, "paused") for message in paused),
        ),
        level=shared.processes.level or "",
        unconfirmed=(Unconfirmed("session", beyond),) if beyond else work.runs.dying,
        durable=not beyond and not move.orders and not work.journal.behind,
        later=None if beyond else settled,
    )
