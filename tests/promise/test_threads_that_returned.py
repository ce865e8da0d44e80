"""E25. A tool's thread that had returned when the stop came, and nobody had heard of it yet."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from lastword import Outcome, Run, Runtime, Status
from lastword.core.entries import Entry, Result
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, a_while, check_log, runtime


def results(log: Sequence[Entry]) -> list[Result]:
    return [entry for entry in log if isinstance(entry, Result)]


@pytest.mark.scenario("E25")
@pytest.mark.parametrize("fails", [False, True], ids=["gives", "raises"])
def test_what_had_ended_before_the_stop_is_completed_and_what_had_not_is_in_doubt(
    fails: bool, schedules: int
) -> None:
    seen: set[Status] = set()

    async def story(turns: int) -> None:
        returned, going = list[str](), asyncio.Event()

        def tool() -> str:
            returned.append("written")
            if fails:
                raise OSError("disk full")
            return "written"

        async def engine(run: Run) -> None:
            going.set()
            await run.call(tool)

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await going.wait()
            before = list[str]()

            async def stopping() -> None:
                for _ in range(turns):
                    await asyncio.sleep(0)
                before.extend(returned)
                await session.stop()

            await asyncio.create_task(stopping())
            await a_while()
            await ticket.outcome()
            [result] = results(await session.log())
            seen.add(result.status)
            assert result.status is (Status.COMPLETED if before else Status.NOT_STARTED)
            if before:
                assert result.error is fails
                assert result.content == ("OSError('disk full')" if fails else "written")
            await check_log(session)

    for turns in range(12):  # so that either comes first about as often
        explore(partial(story, turns), max(schedules // 12, 8))
    assert seen == {Status.COMPLETED, Status.NOT_STARTED}


@pytest.mark.scenario("E25")
def test_a_thread_that_returns_after_the_stop_may_have_executed(schedules: int) -> None:
    async def story() -> None:
        async def engine(run: Run) -> None:
            await run.call(tool)

        def tool() -> str:
            session.stop_soon()  # and returns before the event loop has come to it
            return "late"

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.STOPPED
            [result] = results(await session.log())
            assert (result.status, result.content) == (Status.MAY_HAVE_EXECUTED, "")
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("E25")
@pytest.mark.parametrize("known", [True, False])
async def test_a_part_of_a_late_call_that_is_over_says_what_came_of_it(known: bool) -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        if run.message.text != "go":
            return

        async def body() -> str:
            with call.under_way() as part:
                if known:
                    part.gave("a page")
            await latch.wait()  # what the framework does with it
            return "a page, in a frame"

        call = run.asked("look", "{}", body, late=True)
        await call()

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        await session.stop()
        [result] = results(await session.log())
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        await check_log(session)

    told = (Status.COMPLETED, "a page") if known else (Status.MAY_HAVE_EXECUTED, "")
    assert (result.status, result.content) == told


@pytest.mark.scenario("E25")
async def test_a_result_that_cannot_be_told_is_in_doubt_and_keeps_no_stop() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        async def body() -> object:
            with call.under_way() as part:
                part.gave(object())
            await latch.wait()
            return None

        def broken(_: object) -> str:
            raise ZeroDivisionError

        call = run.asked("look", "{}", body, late=True)
        call.render = broken
        await call()

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()

    assert receipt.quiet
    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]


@pytest.mark.scenario("E25")
async def test_a_call_that_goes_on_after_a_part_of_it_may_have_executed() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        async def body() -> str:
            with call.under_way() as part:
                part.gave("a page")
            with call.under_way():  # the framework tries it again
                await latch.wait()
            return "another page"

        call = run.asked("look", "{}", body, late=True)
        await call()

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()

    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
