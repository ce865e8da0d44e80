"""One conversation, as a program sees it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import get_args

from lastword.core.events import EditAsked, Event, MoveAsked, RemoveAsked, ResumeAsked, StopAsked
from lastword.core.model import (
    Attachment,
    Generation,
    Message,
    MessageId,
    Origin,
    Policy,
    Reason,
    RunId,
    SessionId,
)
from lastword.core.orders import End, Pause
from lastword.core.receipt import MessageReport, Receipt, Unconfirmed
from lastword.core.transcript import Entry, Shown, build
from lastword.errors import RuntimeClosed, StoreError, Undurable, UnknownSession
from lastword.runtime import intake
from lastword.runtime.driver import Driver, Step
from lastword.runtime.feed import FeedEvent
from lastword.runtime.going import Going
from lastword.runtime.journal import ask
from lastword.runtime.run import running
from lastword.runtime.stop import Answer
from lastword.runtime.tasks import ended
from lastword.runtime.ticket import Ticket


class Session:
    """One conversation. At most one run is active in it."""

    def __init__(self, driver: Driver, runtime_must_be_open: Callable[[], object]) -> None:
        self._driver = driver
        self._runtime_must_be_open = runtime_must_be_open
        self._closed = False
        self._thread = threading.get_ident()
        self._loading: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<Session {self.id} generation={self.generation} busy={self.busy}>"

    @property
    def id(self) -> SessionId:
        return self._driver.id

    @property
    def above(self) -> SessionId | None:
        """If it is a child run's: the session of the run that started it."""
        return self._driver.above

    def is_below(self, id: SessionId) -> bool:
        """Whether it is a child's, at any depth, of that session."""
        return self.above is not None and self.id.startswith(f"{id}#")

    @property
    def generation(self) -> Generation:
        """Moves whenever the right to act changes hands."""
        return self._driver.machine.generation

    @property
    def busy(self) -> bool:
        """Whether something is going on, or will without another word from a person."""
        return self._driver.machine.busy

    @property
    def active(self) -> RunId | None:
        """The run that holds the session."""
        turn = self._driver.machine.active
        return turn.run if turn else None

    @property
    def queue(self) -> tuple[Message, ...]:
        """The messages that wait for their turn, in order."""
        waiting = self._driver.machine.waiting
        return tuple(message for w in waiting for message in w.turn.messages)

    async def send(
        self,
        text: str,
        *,
        id: str | None = None,
        by: str = "",
        origin: Origin = "person",
        attachments: tuple[Attachment, ...] = (),
        on_message: Policy | None = None,
    ) -> Ticket:
        """Send a message. It is accepted when this returns, and can be stopped from then on.

        The same `id` again is the same message. Raises `Refused` if it was not accepted.
        """
        _must_be_text(text)
        name = intake.check_id(id)
        must_be_one_of(on_message, (None, *get_args(Policy)), "on_message")
        must_be_one_of(origin, get_args(Origin), "origin")
        self._must_be_open()
        try:
            await self.loaded()
            if name is not None and (ticket := await intake.known(self._driver, name)):
                return ticket
        except StoreError as error:
            why = f"session {self.id} could not be read, so nothing was accepted: {error}"
            raise Undurable(why) from error
        self._must_be_open()
        ticket, stored = intake.accept(
            self._driver,
            text,
            id=name,
            by=by,
            origin=origin,
            attachments=attachments,
            on_message=on_message,
        )
        await unless_closed(stored)
        return ticket

    def stop(self, *, run: str | None = None, by: str | None = None) -> Answer:
        """Stop everything that was accepted, or one run. Nothing of it acts after this call.

        Await the receipt. The stop itself does not depend on that: it has happened when this
        returns. Raises `StaleRun` if `run` is neither active nor waiting, `NotAllowed` if `by`
        has no right to it; then nothing was touched.
        """
        return self.stop_for(Reason.STOPPED, run=run, by=by)

    def stop_for(self, reason: Reason, *, run: str | None = None, by: str | None = None) -> Answer:
        """Stop, for another reason than that somebody asked."""
        return self.fence_for(reason, run=run, by=by)()

    def fence_for(
        self, reason: Reason, *, run: str | None = None, by: str | None = None
    ) -> Callable[[], Answer]:
        """Fence only; what is returned, called, carries out the rest."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("stop() is for the event loop's thread; from others, stop_soon()")
        step = self._driver.apply(StopAsked(reason, RunId(run) if run else None, by))

        def carry_out() -> Answer:
            self._driver.carry_out()
            return Answer(self._answer(step, running.get()))

        return carry_out

    def stop_soon(
        self, *, run: str | None = None, by: str | None = None
    ) -> concurrent.futures.Future[Receipt]:
        """Stop from any thread. Nothing acts after this call; the receipt comes when it can.

        If the event loop is stalled, the receipt comes at the deadline all the same and says so.
        Do not wait for it on the loop's own thread, and not in a signal handler: there, use
        `loop.add_signal_handler(signal, session.stop)`.
        """
        driver, caller = self._driver, running.get()
        step = driver.apply(StopAsked(Reason.STOPPED, RunId(run) if run else None, by))
        future: concurrent.futures.Future[Receipt] = concurrent.futures.Future()

        def give(receipt: Receipt) -> None:
            with suppress(concurrent.futures.InvalidStateError):  # the loop or the watchdog, once
                future.set_result(receipt)

        def overdue() -> None:
            give(_at_fence(driver, step))

        def on_loop() -> None:
            driver.carry_out()
            self._answer(step, caller).add_done_callback(answered)

        def answered(done: asyncio.Future[Receipt]) -> None:
            if watchdog:
                watchdog.take_back(overdue)
            give(done.result())

        if watchdog := driver.shared.watchdog:
            watchdog.answer_by(step.at + driver.shared.deadline, overdue)
        driver.loop.call_soon_threadsafe(on_loop)
        return future

    def _answer(self, step: Step, caller: Going | None) -> asyncio.Future[Receipt]:
        """The receipt of what this step stopped, or of the stop that is still being settled."""
        pending = self._driver.settlements
        settlement = step.settlement or (pending[-1] if pending else None)
        now: asyncio.Future[Receipt] = self._driver.loop.create_future()
        if settlement is None:
            now.set_result(_at_fence(self._driver, step))
        elif settlement.answer.done() or settlement.includes(caller):
            now.set_result(settlement.receipt())  # nobody waits for their own end
        else:
            return settlement.answer
        return now

    # the queue

    async def edit(self, message: str, text: str, *, by: str | None = None) -> None:
        """Change a message that waits. Raises `NotWaiting` if its turn has come."""
        _must_be_text(text)
        await self._ask(EditAsked(MessageId(message), text, by))

    async def remove(self, message: str, *, by: str | None = None) -> None:
        """Take a message that waits out of the queue. Raises `NotWaiting` if its turn has come."""
        await self._ask(RemoveAsked(MessageId(message), by))

    async def move(self, message: str, to: int, *, by: str | None = None) -> None:
        """Give a message that waits another place in the queue, counted from 0."""
        await self._ask(MoveAsked(MessageId(message), to, by))

    async def resume(self) -> None:
        """Let the messages that a stop left waiting go on."""
        await self._ask(ResumeAsked())

    async def _ask(self, event: Event) -> None:
        self._must_be_open()
        self._driver.tell(event)
        await self._driver.journal.committed()

    # what happened

    def events(self, after: int | None = None) -> AsyncIterator[FeedEvent]:
        """What happens here, numbered: everything after a number, or, with None, from now on."""
        return self._driver.feed.follow(after)

    async def log(self) -> tuple[Entry, ...]:
        """Everything that happened here, in order, receipts included."""
        await self._driver.journal.committed()
        return await ask(self._driver.shared.store.entries(self.id))

    async def history(self) -> tuple[Shown, ...]:
        """What a model would be shown of it."""
        return build(await self.log(), self._driver.shared.partial)

    # for the runtime

    @property
    def driver(self) -> Driver:
        return self._driver

    async def loaded(self) -> None:
        """Know what the store knows."""
        if self._loading is None or (self._loading.done() and _failed(self._loading)):
            self._loading = self._driver.duties.start(intake.load(self._driver), name="load")
        await unless_closed(self._loading)

    async def flushed(self, seconds: float) -> None:
        """Return when all is durable, or cannot be, or so much time has passed."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(seconds):
                await self._driver.journal.committed()
        await ended(self._driver.duties.living, seconds)

    def close(self, *, closed: bool = True) -> None:
        """Take nothing more; or do so again after all."""
        self._closed = closed

    def _must_be_open(self) -> None:
        self._runtime_must_be_open()
        if self._closed:
            raise UnknownSession(f"session {self.id} was ended; ask the runtime for it anew")


async def unless_closed(duty: asyncio.Task[None]) -> None:
    """Wait for a duty of a session's; if it was given up, the runtime is being closed."""
    try:
        await asyncio.shield(duty)
    except asyncio.CancelledError:
        here = asyncio.current_task()
        if duty.cancelled() and not (here and here.cancelling()):
            raise RuntimeClosed("this runtime was closed before it was done") from None
        raise


def _failed(task: asyncio.Task[None]) -> bool:
    return task.cancelled() or task.exception() is not None


def _at_fence(driver: Driver, step: Step) -> Receipt:
    """All that is known in the instant of the fence; false if there was nothing to stop."""
    ends = [order for order in step.orders if isinstance(order, End)]
    runs = tuple(end.turn.run for end in ends if end.started)
    dropped = [m for end in ends if not end.started for m in end.turn.messages]
    paused = [m for order in step.orders if isinstance(order, Pause) for m in order.turn.messages]
    took = driver.loop.time() - step.at

    async def settled() -> Receipt:
        driver.carry_out()
        if step.settlement:
            return await asyncio.shield(step.settlement.done)
        await driver.gone()
        return _at_fence(driver, step)

    return Receipt(
        session=driver.id,
        generation=step.generation,
        reason=step.event.reason if isinstance(step.event, StopAsked) else Reason.STOPPED,
        fenced_at=driver.shared.clock() - took,
        took=took,
        runs=runs,
        messages=(
            *(MessageReport(message, "dropped") for message in dropped),
            *(MessageReport(message, "paused") for message in paused),
        ),
        unconfirmed=tuple(Unconfirmed("run", run) for run in sorted(driver.machine.dying)),
        durable=not step.orders and not driver.journal.behind,
        later=settled,
    )


def _must_be_text(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"a message's text must be a str, and {text!r} is not")


def must_be_one_of(value: object, allowed: tuple[object, ...], what: str) -> None:
    """Raise a `ValueError` that names what was wrong and what would be right."""
    if value not in allowed:
        names = ", ".join(repr(name) for name in allowed if name is not None)
        raise ValueError(f"{what} must be one of {names}; it is {value!r}")
