"""D. What a process that dies leaves behind: taken up where the log ends, at every such place.

Here the death is simulated: a copy of the store, taken as each commit is made, is what a new
process would find. Real deaths are in `tests/crash`.
"""

import asyncio
from collections import Counter
from typing import Literal

import pytest

from lastword import FeedEvent, Outcome, Refused, Run, Runtime, Session, Status
from lastword.core.entries import Entry, Finished, Result, Said
from lastword.core.model import SessionId
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.contract import StoredSession
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import explore
from tests.promise.disk import Disk, left_waiting
from tests.promise.stories import Latch, a_while, answer, check_log, runtime
from tests.promise.workshop import until


async def test_a_run_that_was_going_is_lost_and_its_open_call_is_settled_once() -> None:
    """D1, without the kill."""
    latch = Latch()

    async def engine(run: Run) -> None:
        await run.emit("Working")
        await run.call(latch.wait)

    disk = Disk()
    async with runtime(engine, store=disk) as r:
        ticket = await r.session("s").send("go")
        await latch.came.wait()
        found = disk.found()
        latch.open.set()

    log: tuple[Entry, ...] = ()
    for _ in range(3):  # whoever opens it again finds it settled
        async with runtime(engine, store=found) as r:
            session = r.session("s")
            log = await session.log()
            assert not session.busy
    results = [entry for entry in log if isinstance(entry, Result)]
    assert [result.status for result in results] == [Status.MAY_HAVE_EXECUTED]
    ends = [entry for entry in log if isinstance(entry, Finished)]
    assert [(end.run, end.outcome) for end in ends] == [(ticket.run, Outcome.LOST)]


@pytest.mark.parametrize("on_restart", ["wait", "run"])
async def test_what_had_not_begun_waits_or_runs(on_restart: Literal["wait", "run"]) -> None:
    latch = Latch()
    order: list[str] = []

    async def engine(run: Run) -> None:
        order.append(run.message.text)
        await latch.wait()

    disk = Disk()
    async with runtime(engine, store=disk, on_message="queue") as r:
        session = r.session("s")
        for text in ("first", "second", "third"):
            await session.send(text, id=text)
        await latch.came.wait()
        found = disk.found()
        latch.open.set()

    order.clear()
    async with runtime(engine, store=found, on_message="queue", on_restart=on_restart) as r:
        session = r.session("s")
        assert await (await session.send("first", id="first")).outcome() == Outcome.LOST
        second = await session.send("second", id="second")  # the same request, once more
        if on_restart == "wait":
            await asyncio.sleep(0)
            assert [message.text for message in session.queue] == ["second", "third"]
            assert not order
            await session.resume()
        assert await second.outcome() == Outcome.COMPLETED
        third = await session.send("third", id="third")
        assert await third.outcome() == Outcome.COMPLETED
        assert order == ["second", "third"]
        await check_log(session)


async def test_a_new_word_from_the_person_comes_before_what_was_found() -> None:
    async def engine(run: Run) -> None:
        order.append(run.message.text)
        await latch.wait()

    latch = Latch()
    order: list[str] = []
    disk = Disk()
    async with runtime(engine, store=disk, on_message="queue") as r:
        for text in ("lost", "found"):
            await r.session("s").send(text)
        await latch.came.wait()
        found = disk.found()
        latch.open.set()

    order.clear()
    async with runtime(engine, store=found, on_message="queue") as r:
        session = r.session("s")
        await (await session.send("new")).outcome()
        while session.busy:
            await asyncio.sleep(0)
    assert order == ["new", "found"]


async def test_nothing_starts_by_itself_where_the_last_act_was_a_stop() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        order.append(run.message.text)
        await latch.wait_stubbornly()

    order: list[str] = []
    disk = Disk()
    async with runtime(engine, store=disk, on_message="queue", queue_on_stop="keep") as r:
        session = r.session("s")
        for text in ("first", "kept"):
            await session.send(text)
        await latch.came.wait()
        stopping = session.stop()
        await session.log()  # the stop is durable; the run has not unwound
        found = disk.found()
        latch.open.set()
        await stopping

    order.clear()
    settings = {"on_message": "queue", "queue_on_stop": "keep", "on_restart": "run"}
    async with runtime(engine, store=found, **settings) as r:
        session = r.session("s")
        await asyncio.sleep(0)
        log = await session.log()
        assert not order
        assert not session.busy
        assert [message.text for message in session.queue] == ["kept"]
    outcomes = [entry.outcome for entry in log if isinstance(entry, Finished)]
    assert outcomes == [Outcome.STOPPED]


async def test_the_feed_tells_what_was_found() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        await run.call(latch.wait)

    disk = Disk()
    async with runtime(engine, store=disk, on_message="queue") as r:
        for text in ("one", "two"):
            await r.session("s").send(text)
        await latch.came.wait()
        found = disk.found()
        latch.open.set()

    async with runtime(engine, store=found, on_message="queue") as r:
        event = await anext(aiter(r.session("s").events(after=0)))
        assert event.kind == "recovery"
        assert event.text == "Found after a restart: lost: s#1; may have executed: wait; 1 waiting."


async def test_a_child_that_was_going_is_lost_with_its_parent() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        if "/" not in run.session:
            await run.child("below")
        await latch.wait()

    disk = Disk()
    async with runtime(engine, store=disk) as r:
        await r.session("s").send("go")
        await latch.came.wait()
        await until(lambda: "s#1/1" in disk.names)
        found = disk.found()
        latch.open.set()

    async with runtime(engine, store=found) as r:
        for name in ("s", "s#1/1"):
            ends = [e for e in await r.session(name).log() if isinstance(e, Finished)]
            assert [end.outcome for end in ends] == [Outcome.LOST]
        assert await found.unfinished() == ()


@pytest.mark.scenario("X2")
@pytest.mark.scenario("R5", part="sqlite")
def test_what_the_person_saw_was_stored_before_they_saw_it(schedules: int) -> None:
    async def story() -> None:
        said: list[str] = []

        async def sink(event: FeedEvent) -> None:
            if event.kind == "text":
                said.append(event.text)

        async def engine(run: Run) -> None:
            for number in range(200):
                await run.emit(f"{number} ")
                await asyncio.sleep(0.01)

        disk = Disk()
        async with runtime(engine, store=disk, sink=sink) as r:
            session = r.session("s")
            await session.send("go")
            await asyncio.sleep(1.0)  # lastword: virtual
            seen = "".join(said)
            found = disk.found()
            await session.stop()

        async with runtime(engine, store=found) as r:
            [_, shown, note] = await r.session("s").history()
            assert seen
            assert shown.text.startswith(seen)
            assert len(shown.text) - len(seen) <= 4  # the one word that was about to be shown
            assert "lost" in note.text

    explore(story, min(schedules, 50))


@pytest.mark.parametrize("on_restart", ["wait", "run"])
def test_at_every_moment_of_a_busy_life_a_death_loses_nothing_and_repeats_nothing(
    schedules: int, on_restart: Literal["wait", "run"]
) -> None:
    """D2, D3 and clauses 6, 8 and 11, at every commit of many schedules."""

    async def story() -> None:
        executed: Counter[str] = Counter()
        stopped: set[str] = set()
        disk = Disk()

        async def append(text: str) -> None:
            executed[text] += 1
            await asyncio.sleep(0.01)

        async def engine(run: Run) -> None:
            await run.emit("Let me see. ")
            for step in range(2):
                await run.call(append, f"{run.message.id}.{step}")
            await run.emit("Done.")

        async def live(session: Session) -> None:
            for number, policy in enumerate(("queue", "takeover", "queue", "steer", "queue")):
                ticket = await session.send("go", id=f"x{number}", on_message=policy)
                disk.acknowledged.add(ticket.message.id)
                await asyncio.sleep(0.004 * number)
                if number == 3:
                    receipt = await session.stop()
                    stopped.update(report.message.id for report in receipt.messages)

        async with runtime(engine, store=disk) as r:
            await live(r.session("s"))
            await a_while()

        for found, acknowledged in disk.moments[:: max(len(disk.moments) // 8, 1)]:
            before = Counter(executed)
            begun = found.begun
            async with runtime(engine, store=found, on_restart=on_restart) as r:
                session = r.session("s")
                await session.resume()
                await a_while()
                log = await session.log()
                assert acknowledged <= {e.message.id for e in log if isinstance(e, Said)}
                assert not session.busy
                await check_log(session)
            again = executed - before
            assert not {call for call in again if call in begun}, "a tool ran twice"

    explore(story, max(schedules // 20, 5))


async def test_a_runtime_that_cannot_open_its_store_says_so_and_leaves_nothing() -> None:
    class Broken(MemoryStore):
        async def open(self) -> None:
            raise OSError("no such disk")

    async def engine(run: Run) -> None: ...

    with pytest.raises(Exception, match="the store failed: OSError"):
        async with Runtime(engine, store=Broken()):
            pass


async def waiting_in(disk: Disk, name: str) -> list[str]:
    async with runtime(answer, store=disk) as r:
        return [message.text for message in r.session(name).queue]


async def test_an_opening_that_is_given_up_ends_nothing() -> None:
    found = await left_waiting("a", "b")
    slow = found.found()
    gate = Latch()
    load = slow.load

    async def load_slowly(session: SessionId) -> StoredSession | None:
        if session == "b":
            await gate.wait()
        return await load(session)

    slow.load = load_slowly
    opening = asyncio.create_task(runtime(answer, store=slow).__aenter__())
    await gate.came.wait()
    opening.cancel()
    await asyncio.wait([opening])
    slow.load = load
    assert await waiting_in(slow.found(), "a") == ["waiting"]
    assert await waiting_in(slow.found(), "b") == ["waiting"]


@pytest.mark.parametrize("error", [StoreError("damaged"), OwnedElsewhere("a", "another")])
async def test_one_session_that_cannot_be_taken_up_keeps_no_other_from_it(
    error: StoreError,
) -> None:
    found = await left_waiting("a", "b")
    load = found.load

    async def load_one(session: SessionId) -> StoredSession | None:
        if session == "a":
            raise error
        return await load(session)

    found.load = load_one
    async with runtime(answer, store=found) as r:
        assert [message.text for message in r.session("b").queue] == ["waiting"]
        with pytest.raises(Refused, match=str(error)):
            await r.session("a").send("hello?")
    found.load = load
    assert await waiting_in(found, "a") == ["waiting"]


async def test_a_turn_that_lost_its_first_message_is_shown_all_the_same() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        if run.message.text == "a":
            await latch.wait()
        shown.append([item.text for item in run.history])

    shown: list[list[str]] = []
    async with runtime(engine, on_message="steer") as r:
        session = r.session("s")
        await session.send("a")
        await latch.came.wait()
        tickets = [await session.send(text, id=text) for text in ("b", "c")]
        await session.remove("b")
        latch.open.set()
        assert [await t.outcome() for t in tickets] == [Outcome.WITHDRAWN, Outcome.COMPLETED]
        assert shown[-1][-1] == "c"
        assert [item.text for item in await session.history()][-1] == "c"
