"""A session from the runtime's side: opened, stopped, flushed, let go and closed, whoever asks.

Its driver, which is most of what it takes, is there while there is something to do. Whoever waits
for anything on the way to an act holds it at work meanwhile; so a driver that was let go is never
the one that acts. A stop from another thread needs none: it is made at the seat, under the lock
under which the session is let go, and is first in what the next driver finds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from lastword.core.events import StopAsked
from lastword.core.model import Reason, RunId, SessionId
from lastword.core.orders import End, Pause
from lastword.core.receipt import MessageReport, Receipt, Unconfirmed
from lastword.errors import (
    LastwordError,
    OwnedElsewhere,
    RuntimeClosed,
    StoreError,
    Superseded,
    UnknownSession,
)
from lastword.runtime import intake
from lastword.runtime.asking import acting
from lastword.runtime.driver import Driver
from lastword.runtime.going import Going, run_here
from lastword.runtime.resting import at_rest
from lastword.runtime.seat import Seat
from lastword.runtime.step import Step
from lastword.runtime.stop import Answer, Settlement
from lastword.runtime.tasks import ended

T = TypeVar("T")
_TAKEN = "another process, which has taken it over"


class Conversation:
    """One session, as its runtime has it. A program is given a `Session` of it."""

    def __init__(
        self,
        seat: Seat,
        make: Callable[[Conversation], Driver],
        runtime_must_be_open: Callable[[], object],
        *,
        new: bool = False,  # its name was never used: there is nothing to load
    ) -> None:
        self.seat = seat
        seat.feed.whose = self
        self.closed = False
        self._new = seat.moves.known = new
        self.deleted = False
        self.asked = 0  # how often something was asked of it
        self.below = 0  # child runs, which the store has together with it
        self._make = make
        self._driver: Driver | None = None
        self._holders = 0
        self._runtime_must_be_open = runtime_must_be_open
        self._loading: asyncio.Task[None] | None = None
        self.releasing: asyncio.Task[None] | None = None  # to whoever asks next, in any process

    @property
    def id(self) -> SessionId:
        return self.seat.id

    @property
    def at_work(self) -> Driver | None:
        """The part of it that acts, if there is one now."""
        return self._driver

    @property
    def driver(self) -> Driver:
        """The same, made if there is none. Any thread may ask."""
        if driver := self._driver:
            return driver
        with self.seat.lock:
            if self._driver is None:
                self._driver = self._make(self)
            return self._driver

    @contextmanager
    def held(self) -> Generator[Driver]:
        """Its driver, which is the session's until this ends. For the event loop's thread."""
        self.asked += 1
        self._holders += 1
        try:
            yield self.driver
        finally:
            self._holders -= 1

    @property
    def lost(self) -> bool:
        """Whether another process has it."""
        return self._driver is not None and self._driver.lost

    @property
    def idle(self) -> bool:
        """Whether nothing of it is going, and nothing waits."""
        return not self.seat.machine.busy and not self.seat.machine.waiting

    def is_below(self, id: SessionId) -> bool:
        """Whether it is a child's, at any depth, of that session."""
        return self._driver is not None and id in self._driver.ancestors

    def let_go(self) -> bool:
        """Leave memory, if nothing here is needed: whatever comes next finds it in the store."""
        driver = self._driver
        if driver and driver.lost:
            return not driver.settlements  # who holds it is told; who asks anew gets another
        if driver is None or self._holders or self.below or self.closed or not at_rest(driver):
            return False
        if not self.seat.moves.forget():
            return False  # a stop from another thread was quicker
        self._driver = self._loading = None
        driver.retire()
        self.seat.feed.trim()
        return True

    def put_away(self) -> None:
        """It stays, and nothing is said in it: keep no more of it than that takes."""
        if self._driver and not self._driver.going:
            self._driver.history.forget()
            self.seat.feed.trim()

    @property
    def over(self) -> bool:
        """Whether it was a child run's, which has ended: its log can be read, and no more."""
        return not self._new and self._driver is not None and bool(self._driver.ancestors)

    def must_be_open(self) -> None:
        """Raise if nothing can be asked of it any more."""
        self._runtime_must_be_open()
        if self.lost:
            raise OwnedElsewhere(self.id, _TAKEN)
        if self.closed or self.over:
            raise UnknownSession(
                f"session {self.id} has ended: it was deleted (ask the runtime for it anew), or it "
                "was a child run's (which can be read, and no more)"
            )

    async def loaded(self) -> None:
        """Know what the store knows."""
        while not self.seat.moves.known:
            with acting(f"taking of session {self.id}"):  # from others, and to settle what is left
                loading = self._load()
            await unless_closed(loading)

    def _load(self) -> asyncio.Task[None]:
        if self._loading is None or (self._loading.done() and _failed(self._loading)):
            self._loading = self.driver.duties.start(self._load_now(), name="load")
        return self._loading

    async def _load_now(self) -> None:
        if self.releasing:  # it is given back before it is had again, and not after
            await asyncio.wait([self.releasing])
        await intake.load(self.driver)

    def end_processes_now(self) -> None:
        """Those of stopped runs, although the loop may be stalled. Any thread may ask."""
        if self._driver:
            self._driver.end_processes_now()

    async def flushed(self, seconds: float) -> None:
        """Return when all is durable, or cannot be, or so much time has passed."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(seconds):
                await self.driver.journal.committed()
        await ended(self.driver.duties.living, seconds)

    def fence(
        self, reason: Reason, run: RunId | None = None, by: str | None = None, said: str = ""
    ) -> Callable[[], Answer]:
        """Stop; what is returned, called, carries out the rest and gives the answer."""
        if reason is Reason.SHUTDOWN and self._loading:
            self._loading.cancel()  # what has not been read stays as it is
        asked = StopAsked(reason, run, by, said)
        try:
            step = self.seat.moves.make(asked)
        except Superseded:
            return partial(self._not_stopped, asked)

        def carry_out() -> Answer:
            self.driver.carry_out()
            if reason is Reason.SHUTDOWN:
                step.early = False
            answer = self.answer(step, run_here())
            return Answer(answer, partial(self._at_fence, step, self._settlement(step), answer))

        return carry_out

    def refused(self, asked: StopAsked) -> Receipt:
        """What a run is told that asks for a stop and has lost its own session: that it is none."""
        step = Step(asked, [], self.seat.machine.generation, self.driver.loop.time())
        why = "nothing was stopped, because the run that asked for it has been stopped or replaced"
        return at_fence(self, step, beyond=why)

    def _not_stopped(self, asked: StopAsked) -> Answer:
        receipt, loop = self.refused(asked), self.driver.loop
        answer: asyncio.Future[Receipt] = loop.create_future()
        # not at once: a loop that asks until all is quiet must not stall the event loop
        loop.call_soon(answer.set_result, receipt)

        async def fenced() -> Receipt:
            return receipt

        return Answer(answer, fenced)

    def answer(self, step: Step, caller: Going | None) -> asyncio.Future[Receipt]:
        """The receipt of what this step stopped, or of the stop that is still being settled."""
        if why := self.beyond:
            return _given(at_fence(self, step, beyond=why))
        if step.early and not self.closed:
            return self._answer_early(step, caller)
        settlement = self._settlement(step)
        if settlement is None:
            return _given(at_fence(self, step))
        if settlement.answer.done() or settlement.includes(caller):
            return _given(settlement.receipt())  # nobody waits for their own end
        return settlement.answer

    def _settlement(self, step: Step) -> Settlement | None:
        """What sees off what this step stopped, or an earlier one that is not over."""
        pending = self.driver.settlements
        return step.settlement or (pending[-1] if pending else None)

    async def _at_fence(
        self, step: Step, settlement: Settlement | None, answer: asyncio.Future[Receipt]
    ) -> Receipt:
        """What is known in the instant of the fence, once that is stored, or could not be."""
        if step.early or settlement is None:
            return await asyncio.shield(answer)
        receipt = at_fence(self, step)
        return replace(receipt, durable=await asyncio.shield(settlement.fence))

    @property
    def beyond(self) -> str:
        """Why nothing that goes on under its name can be stopped through this one."""
        if self._driver and self._driver.settlements:
            return ""
        if self.deleted:
            return "it was deleted; ask the runtime for it anew"
        return f"it belongs to {_TAKEN}; stop it there" if self.lost else ""

    def _answer_early(self, step: Step, caller: Going | None) -> asyncio.Future[Receipt]:
        """The receipt of a stop that came before anybody knew what there is to stop."""

        async def answer() -> Receipt:
            try:
                async with asyncio.timeout(self.driver.shared.deadline):
                    await unless_closed(self._load())
            except TimeoutError:
                step.promised = True
                why = "its store has not answered; the stop comes first when it does"
                waits = at_fence(self, step, beyond=why)
                return replace(waits, later=partial(self._answer_early, step, None))
            except (StoreError, RuntimeClosed) as error:
                return at_fence(self, step, beyond=str(error))
            if step.error:
                raise step.error
            step.early = False
            return await self.answer(step, caller)

        return self.driver.settling.start(answer(), name=f"stop {self.id}")


async def unless_closed(duty: asyncio.Task[T], error: LastwordError | None = None) -> T:
    """Wait for something the runtime does; if it was given up, the runtime is being closed."""
    try:
        return await asyncio.shield(duty)
    except asyncio.CancelledError:
        here = asyncio.current_task()
        if duty.cancelled() and not (here and here.cancelling()):
            closed = RuntimeClosed("this runtime was closed before it was done")
            raise (error or closed) from None
        raise


def _failed(task: asyncio.Task[None]) -> bool:
    return task.cancelled() or task.exception() is not None


def _given(receipt: Receipt) -> asyncio.Future[Receipt]:
    now: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
    now.set_result(receipt)
    return now


def at_fence(session: Conversation, step: Step, *, beyond: str = "") -> Receipt:
    """All that is known in the instant of the fence; false if there was nothing to stop.

    `beyond` is why there may be something all the same.
    """
    driver = session.driver
    if step.early and not driver.moves.known and not beyond:
        beyond = "it was not read from its store yet; the stop comes first when it is"
    ends = [order for order in step.orders if isinstance(order, End)]
    dropped = [m for end in ends if not end.started for m in end.turn.messages]
    paused = [m for order in step.orders if isinstance(order, Pause) for m in order.turn.messages]
    took = driver.loop.time() - step.at

    async def settled() -> Receipt:
        session.driver.carry_out()
        if step.settlement:
            return await asyncio.shield(step.settlement.done)
        await session.driver.gone()
        return at_fence(session, step)

    return Receipt(
        session=driver.id,
        generation=step.generation,
        reason=step.event.reason if isinstance(step.event, StopAsked) else Reason.STOPPED,
        fenced_at=driver.shared.clock() - took,
        took=took,
        runs=tuple(end.turn.run for end in ends if end.started),
        lost=driver.moves.lost.lost,
        calls=driver.moves.lost.calls,
        messages=(
            *(MessageReport(message, "dropped") for message in dropped),
            *(MessageReport(message, "paused") for message in paused),
        ),
        level=driver.shared.processes.level or "",
        unconfirmed=(Unconfirmed("session", beyond),) if beyond else tuple(driver.dying),
        durable=not beyond and not step.orders and not driver.journal.behind,
        later=None if beyond else settled,
    )
