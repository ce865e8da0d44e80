"""One conversation, as a program sees it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager
from typing import Literal, get_args

from lastword.core.asks import Ask
from lastword.core.cell import StoredCell
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
from lastword.core.question import Question
from lastword.core.queue import QueueNews
from lastword.core.receipt import Receipt, Unconfirmed
from lastword.core.scene import Span
from lastword.core.seen import seen
from lastword.core.story import FeedEvent
from lastword.core.transcript import Entry, Shown
from lastword.errors import OwnedElsewhere, StoreError, Undurable
from lastword.runtime import intake
from lastword.runtime.asking import act, origin_of
from lastword.runtime.checks import (
    attachments_of,
    encodable,
    must_be_count,
    must_be_name,
    must_be_one_of,
    must_be_text,
)
from lastword.runtime.conversation import Conversation, unless_closed
from lastword.runtime.driver import Driver
from lastword.runtime.feed import Feed
from lastword.runtime.jobs import Job
from lastword.runtime.journal import ask
from lastword.runtime.news import queue_of
from lastword.runtime.record import Record
from lastword.runtime.shelf import Shelf
from lastword.runtime.soon import stop_soon
from lastword.runtime.stop import Answer
from lastword.runtime.ticket import Ticket
from lastword.runtime.view import View, queued_elsewhere, view
from lastword.stores.contract import Overview


class Session:
    """One conversation. At most one run is active in it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._seat = conversation.seat

    @property
    def _driver(self) -> Driver:
        return self._conversation.driver

    def __repr__(self) -> str:
        return f"<Session {self.id} generation={self.generation} busy={self.busy}>"

    @property
    def id(self) -> SessionId:
        return self._seat.id

    @property
    def above(self) -> SessionId | None:
        """If it is a child run's: the session of the run that started it."""
        return self._driver.ancestors[-1] if self._driver.ancestors else None

    @property
    def generation(self) -> Generation:
        """Moves whenever the right to act changes hands."""
        return self._seat.machine.generation

    @property
    def fenced(self) -> Generation:
        """Where the last stop or takeover moved it to: what a run let out at an older one, and has
        not left yet, must not leave any more."""
        return self._seat.feed.fenced

    @property
    def busy(self) -> bool:
        """Whether something is going on, or will without another word from a person."""
        return self._seat.machine.busy

    @property
    def active(self) -> RunId | None:
        """The run that holds the session."""
        turn = self._seat.machine.active
        return turn.run if turn else None

    @property
    def queue(self) -> tuple[Message, ...]:
        """The messages that wait for their turn, in order."""
        waiting = self._seat.machine.waiting
        return tuple(message for w in waiting for message in w.turn.messages)

    @property
    def processes(self) -> tuple[Job, ...]:
        """What goes on here under an id: what was declared `keep`, and what a model has named."""
        named = (job for job in self._seat.jobs if not job.kept and job.alive)
        return (*self._seat.kept, *named)

    def process(self, id: str, *, by: str | None = None) -> Job:
        """What has this id, also if it ended lately, for `by` to act on. Raises `NoSuchJob` if
        nothing has, `NotAllowed` if `by` has no right to stop the run that started it."""
        return self._seat.whose.job(id, by)

    @property
    def asks(self) -> tuple[Ask, ...]:
        """What waits for a person and can be answered now: what runs ask, here and below, and what
        programs wait on."""
        return self._seat.asks.open(self.id)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What runs ask, here and below, as it is shown."""
        return self._seat.asks.questions(self.id)

    @property
    def waiting(self) -> QueueNews:
        """The same, with what sent to steer is not taken up yet, and how each of them waits."""
        return queue_of(self._seat.machine)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The processes that runs of it have started; of those that ended, the last hundred."""
        driver = self._conversation.at_work
        return driver.news.spans if driver else ()

    @property
    def ending(self) -> tuple[Unconfirmed, ...]:
        """What was stopped and has not ended yet."""
        driver = self._conversation.at_work
        return tuple(driver.dying) if driver else ()

    @property
    def shelf(self) -> Shelf:
        """Its cells that have not ended."""
        return self._driver.cells

    async def cells(self) -> tuple[StoredCell, ...]:
        """All cells that its runs have begun, in order, as they are stored."""
        with self._conversation.held() as driver:
            await driver.journal.committed()
            return await ask(driver.shared.store.cells(self.id))

    async def overview(self) -> Overview | None:
        """How a list shows it; None if nothing was ever said in it."""
        return await ask(self._driver.shared.store.overview(self.id))

    async def view(self) -> View:
        """All that happened, and the number of the event after which to go on."""
        self._conversation.must_be_open()
        with self._conversation.held() as driver:
            return await view(driver)

    @property
    def record(self) -> Record:
        """What happened here, some of it at a time."""
        return Record(self._conversation)

    @property
    def known(self) -> bool:
        """Whether this process has it. If not, what is going on in it is known from the store."""
        return self._seat.moves.known

    async def queued(self) -> QueueNews:
        """What waits, also where this process does not have the session: as the store has it."""
        with self._conversation.held() as driver:
            return self.waiting if self.known else await queued_elsewhere(driver)

    async def loaded(self) -> None:
        """Have the session: return when what the store knows of it is known here.

        From then on, until it has been idle for long, a message is accepted in the very step in
        which it is sent.
        """
        self._conversation.must_be_open()
        with self.held():
            await self._conversation.loaded()

    def held(self) -> AbstractContextManager[object]:
        """Keep it in memory meanwhile: for who asks several things that belong together."""
        return self._conversation.held()

    @act
    async def send(
        self,
        text: str,
        *,
        id: str | None = None,
        by: str = "",
        origin: Origin | None = None,
        attachments: Sequence[Attachment] = (),
        on_message: Policy | None = None,
    ) -> Ticket:
        """Send a message. It is accepted when this returns, and can be stopped from then on.

        The same `id` again is the same message, whatever it says. What is sent from inside a run
        is not a person's, unless `by` says whose it is: it takes over from nobody, and waits where
        a person said stop. Raises `Refused` if it was not accepted.
        """
        must_be_text(text, "a message's text")
        must_be_name(by, "by, who sends a message,")
        name = intake.check_id(id)
        attached = attachments_of(attachments)
        must_be_one_of(on_message, (None, *get_args(Policy)), "on_message")
        must_be_one_of(origin, (None, *get_args(Origin)), "origin")
        with self._conversation.held() as driver:
            try:
                self._conversation.must_be_open()
                await self._conversation.loaded()
                known = await intake.known(driver, name) if name is not None else None
            except OwnedElsewhere:
                raise
            except StoreError as error:
                why = f"session {self.id} could not be read, so nothing was accepted: {error}"
                raise Undurable(why) from error
            if known:
                return await self._acknowledged(*known)
            self._conversation.must_be_open()
            ticket, stored = intake.accept(
                driver,
                encodable(text),
                id=name,
                by=by,
                origin=origin_of(origin, by),
                attachments=attached,
                on_message=on_message,
            )
            return await self._acknowledged(ticket, stored, named=name is not None)

    async def _acknowledged(
        self, ticket: Ticket, stored: asyncio.Task[None] | None, *, named: bool = True
    ) -> Ticket:
        """The ticket, once the message is durable."""
        if stored:
            doubt = f"the runtime was closed before it was known that {ticket.message.id} is stored"
            remedy = "; send it again, with its id, to find out" if named else ""
            await unless_closed(stored, StoreError(doubt + remedy))
        return ticket

    def stop(self, *, run: str | None = None, by: str | None = None, said: str = "") -> Answer:
        """Stop everything that was accepted, or one run. Nothing of it acts after this call.

        Await the receipt. The stop itself does not depend on that: it has happened when this
        returns. The model is told what is `said` of it. Raises `StaleRun` if `run` is neither
        active nor waiting, `NotAllowed` if `by` has no right to it; then nothing was touched.
        """
        if threading.get_ident() != self._driver.shared.thread:
            raise RuntimeError("stop() is for the event loop's thread; from others, stop_soon()")
        must_be_text(said, "said, why something was stopped,")
        _must_be_names(run, by)
        return self._conversation.fence(Reason.STOPPED, _run(run), by, encodable(said))()

    def stop_soon(
        self, *, run: str | None = None, by: str | None = None
    ) -> concurrent.futures.Future[Receipt]:
        """Stop from any thread. Nothing acts after this call; the receipt comes when it can.

        If the event loop is stalled, the receipt comes at the deadline all the same and says so;
        that is the watchdog's doing, so not with `stall_after=None`. Do not wait for it on the
        loop's own thread, and not in a signal handler: there, use
        `loop.add_signal_handler(signal, session.stop)`.
        """
        _must_be_names(run, by)
        return stop_soon(self._conversation, StopAsked(Reason.STOPPED, _run(run), by))

    # the queue

    @act
    async def edit(self, message: str, text: str, *, by: str | None = None) -> None:
        """Change a message that waits. Raises `NotWaiting` if its turn has come."""
        must_be_text(text, "a message's text")
        _must_be_names(message, by)
        await self._ask(EditAsked(MessageId(message), encodable(text), by))

    @act
    async def remove(self, message: str, *, by: str | None = None) -> None:
        """Take a message that waits out of the queue. Raises `NotWaiting` if its turn has come."""
        _must_be_names(message, by)
        await self._ask(RemoveAsked(MessageId(message), by))

    @act
    async def move(self, message: str, to: int, *, by: str | None = None) -> None:
        """Give a message that waits another place in the queue, counted from 0."""
        must_be_count(to, "the place in the queue", least=0)
        _must_be_names(message, by)
        await self._ask(MoveAsked(MessageId(message), to, by))

    @act
    async def resume(self, *, by: str | None = None) -> None:
        """Let the messages that a stop left waiting go on.

        A run may ask for that only if it says `by` whom it was asked: else `NotAllowed`.
        """
        _must_be_names(by)
        await self._ask(ResumeAsked(origin_of(None, by or "")))

    async def _ask(self, event: Event) -> None:
        self._conversation.must_be_open()
        with self._conversation.held() as driver:
            await self._conversation.loaded()
            self._conversation.must_be_open()
            driver.tell(event)
            try:
                await driver.journal.committed()
            except StoreError as error:
                done = f"this was done in session {self.id}, but is not stored yet"
                raise StoreError(f"{done}; it will be tried again: {error}") from error

    # what happened

    @property
    def feed(self) -> Feed:
        """What happens here, for who wants more than one event at a time."""
        return self._seat.feed

    @property
    def over(self) -> Literal["deleted", "lost"] | None:
        """Whether it was deleted, or another process has it now."""
        return (
            "deleted" if self._conversation.deleted else "lost" if self._conversation.lost else None
        )

    @property
    def last_event(self) -> int:
        """The number of the last thing that happened here."""
        return self._seat.feed.last

    def events(self, after: int | None = None) -> AsyncIterator[FeedEvent]:
        """What happens here, numbered: everything after a number, or, with None, from now on.

        A watcher that falls too far behind gets `SlowWatcher`, and no run waits for it. What a run
        did and was stopped before a watcher came to it is not handed out: the numbers have a gap
        there, and the log has what was said.
        """
        feed = self._seat.feed
        if after is not None:
            must_be_count(after, "the number after which to watch", least=0)
            if after > feed.last:
                raise ValueError(f"session {self.id} has no event {after} yet, only {feed.last}")
        return feed.follow(after)

    async def log(self) -> tuple[Entry, ...]:
        """Everything that happened here, as it was seen, in order, receipts included."""
        with self._conversation.held() as driver:
            await driver.journal.committed()
            return seen(await ask(driver.shared.store.entries(self.id)))

    async def history(self) -> tuple[Shown, ...]:
        """What a model would be shown of it."""
        with self._conversation.held() as driver:
            return tuple(await driver.history.shown())


def _must_be_names(*names: str | None) -> None:
    for name in names:
        if name is not None:
            must_be_name(name, "what a run, a message or a person is known by")


def _run(run: str | None) -> RunId | None:
    return None if run is None else RunId(run)
