"""R15. A session that is idle leaves memory, and is the same session when it is asked for again."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lastword import (
    Attachment,
    FeedEvent,
    Outcome,
    Run,
    Runtime,
    Session,
    SlowWatcher,
    Superseded,
    Ticket,
)
from lastword.core.entries import Said
from lastword.core.model import MessageId, SessionId
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.contract import StoredMessage, Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import Choices, play
from tests.promise.stories import (
    Latch,
    OneAtATime,
    a_while,
    answer,
    check_log,
    runtime,
    talk,
)
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("R15")
SOON = 0.01  # seconds of rest, where time is real


def told(story: Callable[[], Any]) -> None:
    """In virtual time, in which a while is longer than any rest."""
    play(story, Choices())


def names(r: Runtime) -> list[str]:
    return sorted(session.id for session in r.at_hand)


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


# it leaves, and comes back


def test_what_is_idle_leaves_memory_and_the_next_message_finds_all_that_was_said() -> None:
    shown: list[list[str]] = []

    async def engine(run: Run) -> None:
        shown.append([item.text for item in run.history])
        await answer(run)

    async def story() -> None:
        async with runtime(engine) as r:
            for text in ("one", "two", "three"):
                ticket = await r.session("s").send(text)
                assert await ticket.outcome() == Outcome.COMPLETED
                assert names(r) == ["s"]
                await a_while()
                assert names(r) == []
            assert shown[-1] == ["one", "re: one", "two", "re: two", "three"]
            await check_log(r.session("s"))

    told(story)


async def test_with_a_store_on_disk_it_is_the_same(tmp_path: Path) -> None:
    async with Runtime(answer, store=f"sqlite:{tmp_path / 'db'}", rest=SOON) as r:
        for text in ("one", "two"):
            ticket = await r.session("s").send(text)
            assert await ticket.outcome() == Outcome.COMPLETED
            await until(lambda: not r.at_hand)
        said = [e.message.id for e in await r.session("s").log() if isinstance(e, Said)]
        assert said == ["m1", "m2"]  # numbered on, and not over again


async def test_what_was_let_go_can_be_had_by_another_process_and_comes_back(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'db'}"
    async with Runtime(answer, store=store, rest=SOON) as r, Runtime(answer, store=store) as other:
        session = r.session("s")
        assert await (await session.send("here")).outcome() == Outcome.COMPLETED
        epoch, last = session.feed.epoch, session.last_event
        await until(lambda: not r.at_hand)
        there = other.session("s")
        elsewhere = await until_accepted(there, "there")
        assert await elsewhere.outcome() == Outcome.COMPLETED
        with pytest.raises(OwnedElsewhere):
            await session.send("mine?")
        await other.close()
        back = await until_accepted(session, "back")
        assert await back.outcome() == Outcome.COMPLETED
        texts = [item.text for item in await session.history()]
        assert texts == ["here", "re: here", "there", "re: there", "back", "re: back"]
        assert session.feed.epoch != epoch  # something happened that this feed does not tell
        assert session.last_event > last


async def until_accepted(session: Session, text: str) -> Ticket:
    """As soon as whoever had it has given it back."""
    tickets: list[Ticket] = []

    async def tried() -> None:
        with suppress(OwnedElsewhere):
            tickets.append(await session.send(text))

    while not tickets:
        await tried()
    return tickets[0]


async def test_what_came_with_messages_leaves_memory_with_the_session(tmp_path: Path) -> None:
    size, many = 1_000_000, 20
    store = f"sqlite:{tmp_path / 'db'}"
    # the loop keeps timers that were cancelled until they would have rung: a deadline's too
    async with Runtime(answer, store=store, rest=SOON, grace=0.1, deadline=0.2) as r:
        tracemalloc.start()
        try:
            held = [r.session(f"s{number}") for number in range(many)]
            for session in held:
                photo = Attachment("image/png", data="A" * size)
                await (await session.send("look", attachments=[photo])).outcome()
                del photo
            await until(lambda: not r.at_hand and _traced() < 2 * size)  # not one for each
        finally:
            tracemalloc.stop()
        assert len(held) == many  # though somebody has a handle on each
        assert [len(await session.history()) for session in held] == [2] * many


def test_two_handles_are_one_session_also_when_it_left_between() -> None:
    async def story() -> None:
        async with runtime(talk) as r:
            early = r.session("s")
            ticket = await early.send("go")
            await early.stop()
            assert await ticket.outcome() == Outcome.STOPPED
            await a_while()
            assert names(r) == []
            late = r.session("s")
            ticket = await late.send("again")
            assert early.busy
            assert early.active == ticket.run
            assert await early.stop()
            assert await ticket.outcome() == Outcome.STOPPED
            assert not late.busy
            await check_log(late)

    told(story)


def test_a_run_of_before_stays_fenced_when_its_session_has_come_back() -> None:
    runs: list[Run] = []
    leaked: list[str] = []

    async def engine(run: Run) -> None:
        runs.append(run)
        await run.emit("mine")

    async def sink(event: FeedEvent) -> None:
        leaked.append(event.text)

    async def story() -> None:
        async with runtime(engine, sink=sink) as r:
            await (await r.session("s").send("one")).outcome()
            await a_while()
            second = await r.session("s").send("two")
            await second.outcome()
            [before, after] = runs
            assert after.generation > before.generation
            await before.emit("late")
            with pytest.raises(Superseded):
                await before.call(len, "late")
            assert "late" not in leaked
            await check_log(r.session("s"))

    told(story)


def test_a_message_of_before_is_the_same_message_after() -> None:
    async def story() -> None:
        async with runtime(answer) as r:
            first = await r.session("s").send("hello", id="a")
            await first.outcome()
            await a_while()
            again = await r.session("s").send("hello", id="a")
            assert await again.outcome() == Outcome.COMPLETED
            assert again.run == first.run
            said = [e for e in await r.session("s").log() if isinstance(e, Said)]
            assert len(said) == 1

    told(story)


def test_after_a_stop_a_timer_waits_for_the_person_also_if_the_session_left_between() -> None:
    async def story() -> None:
        async with runtime(OneAtATime(answer)) as r:
            session = r.session("s")
            await session.send("go")
            await session.stop()
            await a_while()
            assert names(r) == []
            tick = await session.send("tick", origin="timer")
            await a_while()
            assert not tick.done
            assert names(r) == ["s"]  # something waits in it
            await session.send("I am back")
            assert await tick.outcome() == Outcome.COMPLETED

    told(story)


def test_a_receipt_of_before_can_be_asked_for_what_settled_since() -> None:
    async def story() -> None:
        async with runtime(talk) as r:
            session = r.session("s")
            await session.send("go")
            receipt = await session.stop()
            idle = await session.stop()
            await a_while()
            assert (await receipt.settled()).quiet
            assert (await idle.settled()).quiet
            assert (await session.stop()).quiet

    told(story)


# what stays


def test_what_is_going_on_or_waits_stays() -> None:
    latch: list[Latch] = []

    async def engine(run: Run) -> None:
        if run.message.text == "wait":
            await latch[0].wait()
        if run.message.text == "raise a child":
            await run.child("wait", keep=True)

    async def story() -> None:
        latch.append(Latch())
        async with runtime(engine, queue_on_stop="keep", on_message="queue") as r:
            await r.session("idle").send("nothing")
            await r.session("going").send("wait")
            paused = r.session("paused")
            for text in ("wait", "later"):
                await paused.send(text)
            await paused.stop()
            parent = await r.session("parent").send("raise a child")
            assert await parent.outcome() == Outcome.COMPLETED
            await a_while()
            assert {"going", "paused"} <= set(names(r))
            assert "idle" not in names(r)
            assert any(name.startswith("parent#") for name in names(r))
            assert "parent" in names(r)  # the store has both together
            assert [message.text for message in r.session("paused").queue] == ["later"]
            latch[0].open.set()
            await a_while()
            assert names(r) == ["paused"]
            # the child's result came home, and then its parent's session left
            home = [e.message for e in await r.session("parent").log() if isinstance(e, Said)]
            assert [message.origin for message in home] == ["person", "child"]
            await a_while()
            assert names(r) == ["paused"]  # also what was only looked at has left
        latch.clear()

    told(story)


def test_what_is_not_stored_yet_stays() -> None:
    class Stuck(MemoryStore):
        broken = False

        async def commit(self, write: Write) -> None:
            if self.broken:
                raise StoreError("the disk is full")
            await super().commit(write)

    async def story() -> None:
        store = Stuck()
        latch = Latch()

        async def engine(run: Run) -> None:
            await latch.wait()

        async with runtime(engine, store=store) as r:
            ticket = await r.session("s").send("go")
            await latch.came.wait()
            store.broken = True
            latch.open.set()
            await a_while()
            assert names(r) == ["s"]
            assert not ticket.done
            store.broken = False
            await a_while()
            assert ticket.known_outcome == Outcome.COMPLETED
            assert names(r) == []
            await check_log(r.session("s"))

    told(story)


def test_what_is_on_its_way_in_stays_however_slow_the_store_is() -> None:
    latch: list[Latch] = []

    class Slow(MemoryStore):
        async def message(self, session: SessionId, id: MessageId) -> StoredMessage | None:
            await latch[0].wait()
            return await super().message(session, id)

    async def story() -> None:
        latch.append(Latch())
        engine = OneAtATime(talk)
        async with runtime(engine, store=Slow()) as r:
            session = r.session("s")
            await session.loaded()
            sending = asyncio.create_task(session.send("go", id="a"))
            await a_while()
            assert names(r) == ["s"]
            latch[0].open.set()
            ticket = await sending
            assert session.active == ticket.run
            assert await r.session("s").stop()
            assert await ticket.outcome() == Outcome.STOPPED
            await check_log(session)

    told(story)


def test_of_what_came_with_messages_a_feed_keeps_the_newest_also_in_a_session_that_stays() -> None:
    async def story() -> None:
        async with runtime(talk) as r:
            session = r.session("s")
            for number in range(5):
                photo = Attachment("image/png", data="A" * 3_000_000)
                await session.send(f"photo {number}", attachments=[photo])
            assert session.busy
            with pytest.raises(SlowWatcher):
                await anext(session.events(after=0))
            kept = session.feed.since(session.last_event - 5)
            assert "photo 4" in [event.text for event in kept if event.kind == "said"]
            held = next(n for n in range(session.last_event) if session.feed.holds(n))
            accepted = [e for e in session.feed.since(held) if e.kind == "said"]
            assert [event.text for event in accepted] == ["photo 3", "photo 4"]
            await session.stop()

    told(story)


async def test_a_session_with_a_kept_process_stays_until_that_has_ended(tmp_path: Path) -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "serve":
            await run.spawn("sleep", "3600", on_stop="keep")

    async with Runtime(engine, store=f"sqlite:{tmp_path / 'db'}", rest=SOON) as r:
        await (await r.session("serves").send("serve")).outcome()
        await (await r.session("idle").send("nothing")).outcome()
        await until(lambda: names(r) == ["serves"])
        [kept] = r.session("serves").processes
        await kept.end()
        await until(lambda: not r.at_hand)
