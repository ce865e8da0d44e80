"""Whoever comes to watch finds all that happened, and goes on from there without gap or repeat."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lastword import FeedEvent, Run, Runtime, Session
from lastword.core.entries import Entry, Finished, Text
from lastword.core.model import SessionId
from lastword.core.queue import QueueNews
from lastword.core.receipt import ProcessNews, Receipt
from lastword.stores.contract import LogPart
from lastword.stores.memory import MemoryStore
from lastword.testing import FakeClock
from tests.promise.workshop import POLITE, Workshop, until, working


@pytest.mark.parametrize("kind", ["memory:", "sqlite:"])
async def test_the_view_and_what_follows_it_are_the_whole_answer(kind: str, tmp_path: Path) -> None:
    words = [f"{number} " for number in range(400)]

    async def engine(run: Run) -> None:
        for number, word in enumerate(words):
            await run.emit(word)
            if number % 7 == 0:
                await run.call(asyncio.sleep, 0)

    store = kind if kind == "memory:" else f"sqlite:{tmp_path / 'it.db'}"
    async with Runtime(engine, store=store) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        wholes = [await _whole(session)]
        while not ticket.done:
            wholes.append(await _whole(session))
            await asyncio.sleep(0)
        assert set(wholes) == {"".join(words)}


async def _whole(session: Session) -> str:
    """The answer, as somebody who comes now learns it."""
    seen = await session.view()
    text = "".join(entry.text for entry in seen.entries if isinstance(entry, Text))
    if any(isinstance(entry, Finished) for entry in seen.entries):
        return text
    async for event in session.events(seen.number):
        text += event.text if event.kind == "text" else ""
        if event.kind == "finished":
            break
    return text


class LongToRead(MemoryStore):
    """A store from which every twentieth entry takes as long to read as a run needs for a word."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted, self.said = asyncio.Event(), asyncio.Event()
        self.reads = 0

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        found = await super().entries(session, after)
        self.reads += 1
        assert self.reads < 20, "it is read again and again"
        for _ in range(len(found) // 20):
            self.said.clear()
            self.wanted.set()
            await self.said.wait()
        return found


@pytest.mark.scenario("W36", part="library")
async def test_a_long_log_is_read_to_its_end_while_a_run_goes_on_speaking() -> None:
    store = LongToRead()

    async def engine(run: Run) -> None:
        for number in range(60):
            await run.call(asyncio.sleep, 0)
            await run.emit(f"{number} ")
        await run.progress("so far")
        while await store.wanted.wait():
            store.wanted.clear()
            await run.emit("more ")
            await run.call(asyncio.sleep, 0)  # which is written down before it is made
            store.said.set()

    async with Runtime(engine, store=store) as runtime:
        session = runtime.session("s")
        await session.send("go")
        async for event in session.events(0):
            if event.kind == "progress":
                break
        seen = await session.view()
        text = "".join(entry.text for entry in seen.entries if isinstance(entry, Text))
        assert text.startswith("0 1 2 ")
        assert "59 more" in text
        await session.stop()


class Overtaken(MemoryStore):
    """A store in which something is written while anything is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reading, self.written = asyncio.Event(), asyncio.Event()
        self.reads, self.goes_on = 0, False

    async def _meanwhile(self) -> None:
        if not self.goes_on:
            return
        self.reads += 1
        assert self.reads < 100, "it is read again and again"
        self.written.clear()
        self.reading.set()
        await self.written.wait()

    async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
        found = await super().entries(session, after)
        await self._meanwhile()
        return found

    async def part(
        self, session: SessionId, before: int | None = None, *, most: int, size: int | None = None
    ) -> LogPart:
        found = await super().part(session, before, most=most, size=size)
        if most > 1:
            await self._meanwhile()
        return found

    async def receipts(self, session: SessionId, skip: int, most: int) -> tuple[Receipt, ...]:
        found = await super().receipts(session, skip, most)
        await self._meanwhile()
        return found


@pytest.mark.scenario("W24", part="server")
async def test_each_reading_ends_however_fast_a_run_speaks() -> None:
    store = Overtaken()

    async def engine(run: Run) -> None:
        await run.emit("first ")
        while await store.reading.wait():
            store.reading.clear()
            await run.emit("more ")
            await run.call(asyncio.sleep, 0)  # which is written down before it is made
            store.written.set()

    async with Runtime(engine, store=store) as runtime:
        session = runtime.session("s")
        await session.send("go")
        async for event in session.events(0):
            if event.kind == "text":
                break
        store.goes_on = True
        page = await session.record.page(None, 50, 1 << 20)
        said = "".join(one.text for one in page.entries() if isinstance(one, Text))
        assert said.startswith("first more")
        assert page.number == session.last_event, "it is of the step in which it returns"
        assert await session.record.receipts(0, 10) == ()
        seen = await session.view()
        text = "".join(one.text for one in seen.entries if isinstance(one, Text))
        assert text.startswith(said)
        assert text.removeprefix("first ").replace("more ", "") == "", "nothing twice, or lost"
        store.goes_on = False
        await session.stop()


async def test_the_queue_is_told_whenever_it_has_changed() -> None:
    async def engine(_: Run) -> None:
        await asyncio.sleep(3600)

    async with Runtime(engine, on_message="queue") as runtime:
        session = runtime.session("s")
        for text in "abc":
            await session.send(text, id=text)
        await session.edit("b", "B")
        await session.move("c", 0)
        await session.remove("b")
        told = [e.fact async for e in _so_far(session.events(0), session.last_event)]
        queues = [
            "".join(queued.message.text for queued in news.messages)
            for news in told
            if isinstance(news, QueueNews)
        ]
        assert queues == ["b", "bc", "Bc", "cB", "c"]
        assert session.waiting.messages[0].placed == "queued"


async def test_a_process_is_told_of_from_its_start_to_its_end() -> None:
    async with working(Workshop(POLITE)) as session:
        [span] = session.spans
        assert (span.news.state, span.ended_at) == ("started", None)
        before = session.last_event
        events = [e async for e in _so_far(session.events(0), before)]
        await session.stop()
        await until(lambda: session.spans[0].ended_at is not None)
        events += [e async for e in _so_far(session.events(before), session.last_event)]
        told = [e.fact for e in events if isinstance(e.fact, ProcessNews)]
        assert [news.state for news in told] == ["starting", "started", "ended"]
        assert told[-1].pid == span.news.pid


async def test_what_was_refused_is_named_with_its_moment() -> None:
    async def engine(run: Run) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            for _ in range(30):
                await run.emit("late")

    async with Runtime(engine) as runtime:
        ticket = await runtime.session("s").send("go")
        await ticket.started()
        await asyncio.sleep(0)
        receipt = await runtime.session("s").stop()
        assert receipt.dropped == 30
        assert [one.what for one in receipt.refused] == ["text"] * 20
        assert all(one.after >= 0 for one in receipt.refused)
        assert type(receipt).from_json(receipt.to_json()) == receipt


async def test_events_and_entries_tell_when(tmp_path: Path) -> None:
    async def engine(run: Run) -> None:
        await run.emit("hello")

    clock = FakeClock(1000.0)
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with Runtime(engine, store=store, clock=clock) as runtime:
        session = runtime.session("s")
        await (await session.send("hi")).outcome()
        events = [e async for e in _so_far(session.events(0), session.last_event)]
        assert {event.at for event in events} == {1000.0}
        timed = {type(e).__name__: getattr(e, "at", None) for e in await session.log()}
        assert timed == {"Said": 1000.0, "Began": 1000.0, "Text": None, "Finished": 1000.0}
    async with Runtime(engine, store=store, clock=clock) as runtime:
        log = await runtime.session("s").log()
        assert [getattr(entry, "at", 1000.0) for entry in log] == [1000.0] * len(log)


async def _so_far(events: AsyncIterator[FeedEvent], last: int) -> AsyncIterator[FeedEvent]:
    async for event in events:
        yield event
        if event.number == last:
            return
