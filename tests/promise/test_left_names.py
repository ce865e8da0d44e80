"""R1. What carries the name of a run, and comes to act only when that run has long been gone."""

import asyncio
from contextvars import Context
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime, Superseded
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, check_log, runtime, stop


@pytest.mark.scenario("R1")
def test_a_generator_that_is_closed_late_takes_nothing_back(schedules: int) -> None:
    async def story() -> None:
        latch, refused = Latch(), asyncio.Event()

        async def words():  # noqa: ANN202 - an async generator
            try:
                yield "one"
            finally:  # where the loop sees off what was not closed
                try:
                    await r.session("s").send("go on with the old thing")
                except Superseded:
                    refused.set()
                    raise

        async def engine(run: Run) -> None:
            if run.message.text == "old":
                async for _ in words():
                    await latch.wait()

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("old", by="ann")
            await latch.came.wait()
            new = await session.send("only the docs", by="ann")

            assert await new.outcome() == Outcome.COMPLETED
            await refused.wait()
            assert not session.busy
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("R1")
async def test_what_a_run_that_ended_by_itself_left_behind_may_act_but_not_as_a_person() -> None:
    later = asyncio.Event()
    polling: list[asyncio.Task[str]] = []

    async def poll(by: str) -> str:
        await later.wait()
        return (await r.session("other").send("news", by=by)).message.origin

    async def engine(run: Run) -> None:
        if run.message.text == "go":
            polling.extend(asyncio.create_task(poll(by)) for by in ("", "ann"))
            polling.append(asyncio.create_task(poll(""), context=Context()))

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
        later.set()

        assert [await one for one in polling] == ["run", "person", "person"]


@pytest.mark.scenario("R1")
async def test_a_fenced_run_takes_no_session_from_another_process(tmp_path: Path) -> None:
    path = f"sqlite:{tmp_path / 'log.db'}"
    going, tried = asyncio.Event(), asyncio.Queue[bool]()  # whether each act was refused

    async def engine(run: Run) -> None:
        if run.message.text != "go":
            return
        going.set()
        try:
            await asyncio.Event().wait()
        finally:
            other = first.session("other")
            for act in (other.loaded, lambda: other.send("mine"), lambda: first.delete("other")):
                try:
                    await act()
                except Superseded:
                    tried.put_nowait(True)
                else:
                    tried.put_nowait(False)

    async with Runtime(engine, store=path) as first, Runtime(engine, store=path) as second:
        before = await second.session("other").send("hello")
        assert await before.outcome() == Outcome.COMPLETED
        await second.close()
    async with Runtime(engine, store=path) as first, Runtime(engine, store=path) as second:
        await first.session("s").send("go")
        await going.wait()
        await stop(first.session("s"))
        assert [await tried.get() for _ in range(3)] == [True, True, True]

        ticket = await second.session("other").send("still mine")
        assert await ticket.outcome() == Outcome.COMPLETED


@pytest.mark.scenario("R1")
def test_a_deletion_that_was_asked_for_before_a_stop_is_not_begun_after_it(schedules: int) -> None:
    async def story() -> None:
        latch = Latch()

        async def engine(run: Run) -> None:
            if run.message.text == "work":
                await asyncio.Event().wait()
            await latch.wait()
            await r.delete("other")

        async with runtime(engine) as r:
            other, session = r.session("other"), r.session("s")
            await other.send("work")
            await session.send("go")
            await latch.came.wait()
            latch.open.set()
            for _ in range(3):
                await asyncio.sleep(0)
            at_work = other.active is not None
            await session.stop()
            for _ in range(20):
                await asyncio.sleep(0)

            assert (other.active is not None) == at_work

    explore(story, schedules)


@pytest.mark.scenario("R1")
async def test_what_was_to_be_written_to_a_process_is_not_after_a_stop(tmp_path: Path) -> None:
    queued, done = asyncio.Event(), tmp_path / "done"
    program = (
        "trap '' TERM; sleep 0.5; "
        'while read -r line; do case $line in do*) touch "${line#do }";; esac; done'
    )

    async def engine(run: Run) -> None:
        process = await run.spawn("sh", "-c", program, stdin="pipe")
        assert process.stdin
        run.task(process.stdin.write(b"x" * 100_000 + b"\n"))  # more than a pipe takes
        await asyncio.sleep(0)
        run.task(process.stdin.write(f"do {done}\n".encode()))
        await asyncio.sleep(0)
        queued.set()
        await asyncio.Event().wait()

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await queued.wait()
        receipt = await stop(session)

        assert (await receipt.settled()).quiet
        assert not done.exists()
