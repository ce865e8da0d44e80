"""A counterpart somewhere else: a session's verbs, forwarded to another thread's event loop.

It is the smallest one there can be. What goes over is a verb and values, on a queue; what comes
back is an answer to it, or news: events for the feed, which is a buffer of this side's own, and
what has become of a message. Nothing of the conversation itself is ever on this side.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal, TypeVar

from lastword import Engine, Receipt, Runtime, Session, Ticket
from lastword.core.asks import AnswerSent
from lastword.core.cell import StoredCell
from lastword.core.entries import Entry
from lastword.core.events import (
    EditAsked,
    Instead,
    MoveAsked,
    RemoveAsked,
    ResumeAsked,
    StopAsked,
)
from lastword.core.model import Generation, Message, MessageId, Placement, Policy, RunId, SessionId
from lastword.core.queue import QueueNews
from lastword.core.shown import Shown
from lastword.core.story import FeedEvent
from lastword.errors import OwnedElsewhere
from lastword.runtime.feed import Feed
from lastword.runtime.protocol import Changing, Counterpart, Doings, Here, LogPage, Now, Sent, View
from lastword.runtime.ticket import Stopping
from lastword.stores.contract import Label, Overview

T = TypeVar("T")
Verb = Literal["have", "send", "stop", "stop soon", "change", "answer", "read", "stand", "become"]


class There:
    """A runtime in a thread of its own, which is asked over a queue, and answers in futures."""

    def __init__(self, engine: Engine, session: str) -> None:
        self.told: list[Verb] = []  # what went over
        self._engine = engine
        self._name = session
        self._asked: asyncio.Queue[Callable[[], Coroutine[Any, Any, None]] | None] = asyncio.Queue()
        self._loop = asyncio.new_event_loop()
        self._open: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._session: Session | None = None
        self._tickets: dict[MessageId, Ticket] = {}
        self.news: Callable[[FeedEvent, Generation], object] = _nobody

    async def begin(self) -> None:
        self._thread.start()
        await asyncio.wrap_future(self._open)

    async def end(self) -> None:
        self._loop.call_soon_threadsafe(self._asked.put_nowait, None)
        await asyncio.to_thread(self._thread.join)

    def ask(
        self, verb: Verb, do: Callable[[Session], Coroutine[Any, Any, T]]
    ) -> concurrent.futures.Future[T]:
        """Put it on the queue; its answer is what comes back."""
        self.told.append(verb)
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()

        async def asked() -> None:
            assert self._session
            try:
                answer.set_result(await do(self._session))
            except Exception as error:  # noqa: BLE001 - it is told to who asked
                answer.set_exception(error)

        self._loop.call_soon_threadsafe(self._asked.put_nowait, asked)
        return answer

    async def send(
        self, session: Session, sent: Sent, on_message: Policy | None, instead: Instead | None
    ) -> tuple[Message, RunId, Placement]:
        id_, by, came = sent.id, sent.by, sent.attachments
        if instead:
            run = instead.turn.run
            ticket = await session.again(sent.text, run=run, id=id_, by=by, attachments=came)
        else:
            ticket = await session.send(
                sent.text, id=id_, by=by, attachments=came, on_message=on_message
            )
        self._tickets[ticket.message.id] = ticket
        return ticket.message, ticket.run, ticket.placed

    def ticket(self, id: MessageId) -> Ticket:
        return self._tickets[id]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        going: set[asyncio.Task[None]] = set()
        async with Runtime(self._engine, stall_after=None) as runtime:
            self._session = runtime.session(self._name)
            relay = asyncio.create_task(self._relay(self._session))
            self._open.set_result(None)
            while asked := await self._asked.get():
                going.add(asyncio.create_task(asked()))
            relay.cancel()
            await asyncio.gather(*going)

    async def _relay(self, session: Session) -> None:
        async for event in session.events(after=0):
            self.news(event, session.fenced)


class Away:
    """The side of it that a `Session` speaks to. It knows what it was told last."""

    def __init__(self, there: There, session: str) -> None:
        self.id = SessionId(session)
        self.record = Read(there)
        self._there = there
        self._loop = asyncio.get_running_loop()
        self._fenced = Generation(0)
        self.feed = Feed(self.id, self._loop, lambda: self._fenced, keep=1000)
        self._following: set[asyncio.Task[None]] = set()
        there.news = lambda event, fenced: self._loop.call_soon_threadsafe(
            self._heard, event, fenced
        )

    def _heard(self, event: FeedEvent, fenced: Generation) -> None:
        self._fenced = fenced
        self.feed.append(event.fact, event.generation)

    async def _asked(self, verb: Verb, do: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
        return await asyncio.wrap_future(self._there.ask(verb, do))

    def now(self) -> Now:
        async def look(session: Session) -> Now:
            return Now(
                session.generation,
                session.active,
                session.busy,
                session.known,
                session.above,
                session.over,
            )

        return self._there.ask("stand", look).result()

    def doings(self) -> Doings:
        async def look(session: Session) -> Doings:
            return Doings(
                session.waiting,
                session.ending,
                session.spans,
                (),
                session.programs,
                session.asks,
                session.questions,
                session.begun,
            )

        return self._there.ask("stand", look).result()

    @contextmanager
    def held(self) -> Generator[object]:
        yield None

    async def have(self) -> None:
        await self._asked("have", lambda session: session.loaded())

    async def send(
        self, sent: tuple[Sent, ...], on_message: Policy | None, instead: Instead | None = None
    ) -> tuple[Ticket, ...]:
        [one] = sent
        there = self._there
        message, run, placed = await self._asked(
            "send", lambda s: there.send(s, one, on_message, instead)
        )
        ticket = Ticket(message, run)
        ticket.placed = placed
        following = asyncio.create_task(self._follow(ticket))
        self._following.add(following)
        following.add_done_callback(self._following.discard)
        return (ticket,)

    async def _follow(self, ticket: Ticket) -> None:
        there = self._there.ticket(ticket.message.id)
        ticket.tell_started(await self._asked("become", lambda _: there.started()))
        outcome = await self._asked("become", lambda _: there.outcome())
        ticket.tell_outcome(outcome, there.error)

    def stop(self, asked: StopAsked) -> Stopping:
        answer = asyncio.wrap_future(self._there.ask("stop", lambda s: _stopped(s, asked)))

        async def fenced() -> Receipt:
            return await answer

        return Stopping(answer, fenced)

    def stop_soon(self, asked: StopAsked) -> concurrent.futures.Future[Receipt]:
        return self._there.ask("stop soon", lambda session: _stopped(session, asked))

    async def change(self, asked: Changing) -> None:
        await self._asked("change", lambda session: _changed(session, asked))

    async def answer(self, said: AnswerSent) -> None:
        await self._asked("answer", lambda session: _answered(session, said))

    @property
    def here(self) -> Here:
        raise OwnedElsewhere(self.id, "the thread that it is in")


async def _changed(session: Session, asked: Changing) -> None:
    match asked:
        case EditAsked(message, text, by):
            await session.edit(message, text, by=by)
        case RemoveAsked(message, by):
            await session.remove(message, by=by)
        case MoveAsked(message, to, by):
            await session.move(message, to, by=by)
        case ResumeAsked():
            await session.resume()


async def _answered(session: Session, said: AnswerSent) -> None:
    allow, at, always, scope = said.allow, said.generation, said.always, said.scope
    await session.answer(said.question, allow, at, always=always, scope=scope, by=said.by)


async def _stopped(session: Session, asked: StopAsked) -> Receipt:
    return await session.stop(run=asked.run, by=asked.by, said=asked.said)


class Read:
    """What happened there, asked for there."""

    def __init__(self, there: There) -> None:
        self._there = there

    async def _read(self, do: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
        return await asyncio.wrap_future(self._there.ask("read", do))

    async def log(self) -> tuple[Entry, ...]:
        return await self._read(lambda session: session.log())

    async def view(self) -> View:
        return await self._read(lambda session: session.view())

    async def page(self, before: int | None, most: int, size: int) -> LogPage:
        return await self._read(lambda session: session.record.page(before, most, size))

    async def receipts(self, skip: int, most: int) -> tuple[Receipt, ...]:
        return await self._read(lambda session: session.record.receipts(skip, most))

    async def said(self, ids: Collection[MessageId]) -> tuple[Message, ...]:
        return await self._read(lambda session: session.record.said(ids))

    async def cells(self) -> tuple[StoredCell, ...]:
        return await self._read(lambda session: session.cells())

    async def label(self, label: Label) -> None:
        async def labelled(session: Session) -> None:
            await session.record.label(label)

        await self._read(labelled)

    async def overview(self) -> Overview | None:
        return await self._read(lambda session: session.overview())

    async def queued(self) -> QueueNews:
        return await self._read(lambda session: session.queued())

    async def history(self) -> tuple[Shown, ...]:
        return await self._read(lambda session: session.history())


@asynccontextmanager
async def far_away(engine: Engine, session: str) -> AsyncGenerator[tuple[Session, There]]:
    """A session whose conversation is in another thread, and that side, to see what went over."""
    there = There(engine, session)
    await there.begin()
    try:
        counterpart: Counterpart = Away(there, session)
        yield Session(counterpart), there
    finally:
        await there.end()


def _nobody(event: FeedEvent, fenced: Generation) -> None:
    """Nobody hears it."""
