"""I. A stop changes nothing in any other session, and nothing grows."""

import asyncio
import gc
import threading
import tracemalloc
from collections import Counter
from contextlib import suppress

import pytest

from lastword import Outcome, Run, Runtime
from lastword.errors import UnknownSession
from lastword.testing.recorder import Recorder
from lastword.testing.seeded import explore
from tests.meter import open_files
from tests.promise.stories import Latch, a_while, check_log, mark_of, runtime, stop, talk
from tests.promise.workshop import until


@pytest.mark.scenario("I1")
def test_a_stop_in_one_session_changes_nothing_in_another(schedules: int) -> None:
    async def story() -> None:
        heard = Recorder()
        used: list[str] = []

        def shared_tool(name: str) -> str:  # in the threads that all sessions share
            used.append(name)
            return name

        async def engine(run: Run) -> None:
            for number in range(5):
                await run.call(shared_tool, run.session)
                await run.emit(f"{number}")

        async with runtime(engine, sink=heard) as r:
            one, two = r.session("one"), r.session("two")
            await one.send("go")
            other = await two.send("go")
            receipt = await asyncio.create_task(stop(one))

            assert await other.outcome() == Outcome.COMPLETED
            assert [e.text for e in heard if e.session == "two"] == list("01234")
            assert used.count("two") == 5
            assert two.generation == 2
            assert receipt.session == "one"
            await check_log(one)
            await check_log(two)

    explore(story, schedules)


@pytest.mark.scenario("I2")
def test_a_stale_run_that_unwinds_late_takes_nothing_from_the_next(schedules: int) -> None:
    async def story() -> None:
        stale, heard = Latch(), Recorder()

        async def engine(run: Run) -> None:
            if run.message.text == "old":
                async with run.typing():
                    await stale.wait_stubbornly()
            else:
                async with run.typing():
                    await talk(run)

        async with runtime(engine, sink=heard, deadline=1.0) as r:
            session = r.session("s")
            await session.send("old")
            await stale.came.wait()
            new = await session.send("new")
            await new.started()
            while "0 " not in heard.texts:
                await asyncio.sleep(0.01)
            generation = session.generation
            stale.open.set()
            receipt = await new.receipt()
            assert receipt
            await receipt.settled()
            before = len(heard.texts)
            await asyncio.sleep(1)

            assert session.active == new.run
            assert session.generation == generation
            assert len(heard.texts) > before
            marks = [mark_of(e) for e in heard if e.kind == "typing" and e.run == new.run]
            assert False not in marks
            await session.stop()
            await check_log(session)

    explore(story, schedules)


def _living() -> dict[str, int]:
    return {
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        "descriptors": len(open_files()),
    }


def _no_more(after: dict[str, int], before: dict[str, int], spare: int = 1) -> None:
    """An idle thread may have come or gone; nothing else may have come."""
    for what, count in after.items():
        assert count <= before[what] + (spare if what == "threads" else 0), (what, before, after)


@pytest.mark.scenario("I5", part="library")
async def test_two_thousand_messages_and_stops_leave_nothing_behind() -> None:
    async def tool() -> None:
        await asyncio.sleep(0)

    async def engine(run: Run) -> None:
        async with run.typing():
            child = await run.child("help", engine=talk)
            with suppress(asyncio.CancelledError):
                await run.call(tool)
                await run.call(len, "in a thread")
                await talk(run)
            await run.emit(f"too late, {child.run}")

    async with Runtime(engine, feed_limit=100) as r:

        async def cycle(number: int, name: str) -> None:
            ticket = await r.session(name).send("go")
            if number % 3:
                await ticket.started()
                await asyncio.sleep(0)
            if number % 5 == 0:
                await (await r.session(name).send("no, this")).receipt()
            await r.session(name).stop()

        async def over_many(count: int) -> dict[str, int]:
            for number in range(count):
                name = f"s{number % 7}"
                await cycle(number, name)
                if number % 50 < 7:
                    await r.delete(name)  # what was said may be kept; nothing else may
            for name in await r.sessions():
                with suppress(UnknownSession):
                    await r.delete(name)
            await at_rest()
            return _living()

        async def at_rest() -> None:
            """Return when nobody is about to let go of something, and the collector finds nothing
            more: whatever is there then, stays."""
            await until(lambda: not gc.collect() and len(asyncio.all_tasks()) <= idle)

        idle = len(asyncio.all_tasks())
        before = await over_many(1000)  # so that tables of the interpreter's have grown
        tracemalloc.start()
        await over_many(400)
        memory = tracemalloc.get_traced_memory()[0]
        after = await over_many(1000)
        grown = tracemalloc.get_traced_memory()[0] - memory
        tracemalloc.stop()

        async def in_one(count: int) -> None:
            for number in range(count):
                await cycle(number, "one")

        # the log grows, and should; none of what acts may
        acts = {"Ticket", "ActiveRun", "Hold", "Run", "Ledger", "Call", "Settlement", "Effect"}
        acts |= {"Fence", "Task", "Child", "Conversation", "Work", "Runs", "Stops", "Messages"}
        acts |= {"Journal", "Future", "Move", "Turn"}
        await in_one(300)
        await at_rest()
        first = _all_living()
        await in_one(400)
        await at_rest()
        living = _all_living()
        more = {name: living[name] - first[name] for name in acts}

    _no_more(after, before)
    assert grown < 100_000, f"{grown} bytes more after 1,000 cycles"
    assert max(more.values()) < 20, more


def _all_living() -> Counter[str]:
    return Counter(type(thing).__name__ for thing in gc.get_objects())


def test_a_deleted_session_never_uses_a_generation_again(schedules: int) -> None:
    async def story() -> None:
        stale, heard = Latch(), Recorder()

        async def engine(run: Run) -> None:
            if run.message.text == "old":
                await stale.wait_stubbornly()
                await run.emit("from the grave")
            await run.emit("hello")

        async with runtime(engine, sink=heard, deadline=1.0) as r:
            old = r.session("s")
            await old.send("old")
            await stale.came.wait()
            await r.delete("s")
            gone = old.generation
            ticket = await r.session("s").send("new")

            assert await ticket.outcome() == Outcome.COMPLETED
            assert r.session("s").generation > gone
            assert ticket.run != "s#1"
            stale.open.set()
            await a_while()
            assert heard.texts == ["hello"]

    explore(story, schedules)


async def test_deleting_a_session_leaves_one_of_a_similar_name_alone() -> None:
    up = Latch()

    async def work(run: Run) -> None:
        await up.wait()

    async def engine(run: Run) -> None:
        if run.session == "a#b":
            await (await run.child("help", engine=work)).outcome()

    async with Runtime(engine) as r:
        await (await r.session("a").send("go")).outcome()
        other = await r.session("a#b").send("go")
        await up.came.wait()
        await r.delete("a")

        assert r.session("a#b").busy
        assert r.session("a#b#1/1").busy
        up.open.set()
        assert await other.outcome() == Outcome.COMPLETED
