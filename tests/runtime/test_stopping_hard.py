"""Stops against runs, tools, sinks and loops that make it hard."""

import asyncio
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from lastword import FeedEvent, Outcome, Receipt, Run, Runtime, Status, Superseded
from lastword.core.entries import Result
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, a_while, mark_of, runtime, talk


@pytest.mark.parametrize("what", ["call", "child"])
async def test_an_engine_that_retries_whatever_happens_cannot_freeze_a_stop(what: str) -> None:
    answered, asked = asyncio.Event(), asyncio.Event()
    guard = time.monotonic() + 20

    async def model() -> None:
        asked.set()
        await asyncio.sleep(0.01)

    async def engine(run: Run) -> None:
        while not answered.is_set():
            assert time.monotonic() < guard, "the event loop was never given way to"
            with suppress(asyncio.CancelledError, Superseded):
                first = what == "call" or not asked.is_set()
                await (run.call(model) if first else run.child("x", engine=talk))

    async with Runtime(engine, deadline=0.2) as r:
        session = r.session("s")
        await session.send("go")
        await asked.wait()
        receipt = await session.stop()
        answered.set()

        assert [str(one) for one in receipt.unconfirmed] == ["run s#1"]  # it never gave in
        assert len(receipt.calls) < 20, "what is refused is counted, not listed"
        assert (await receipt.settled()).quiet


async def test_an_idle_stop_is_answered_while_an_ended_runs_thread_goes_on() -> None:
    entered, release = threading.Event(), threading.Event()

    def slow() -> None:
        entered.set()
        release.wait(60)

    async def engine(run: Run) -> None:
        run.task(run.call(slow))
        await asyncio.to_thread(entered.wait, 60)

    async with Runtime(engine, deadline=0.5) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
        receipt = await session.stop()

        assert not receipt
        assert str(receipt) == (
            "Nothing was running in s.\n  still ending: tool slow\n  tools may have executed: slow"
        )
        release.set()
        assert (await receipt.settled()).quiet


def test_many_takeovers_of_a_wedged_run_cost_no_more_each(schedules: int) -> None:
    async def story() -> None:
        wedged = Latch()

        async def engine(run: Run) -> None:
            if run.message.text == "0":
                await wedged.wait_stubbornly()
            await talk(run)

        async with runtime(engine, deadline=1.0) as r:
            session = r.session("s")
            for number in range(40):
                await session.send(f"{number}")
                if number == 0:
                    await wedged.came.wait()
            receipt = await session.stop()

            assert [str(one) for one in receipt.unconfirmed] == ["run s#1"]
            wedged.open.set()
            assert (await receipt.settled()).quiet

    explore(story, max(schedules // 100, 3))


async def test_two_calls_of_one_intent_make_it_once() -> None:
    paid: list[int] = []

    async def pay() -> None:
        paid.append(1)

    async def engine(run: Run) -> None:
        call = run.intend(pay)
        await asyncio.gather(call(), call(), return_exceptions=True)

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED

    assert paid == [1]


async def test_every_stop_during_a_stall_names_what_still_goes_on() -> None:
    stalled, release = threading.Event(), threading.Event()
    answers: list[Receipt] = []

    async def hog(run: Run) -> None:
        stalled.set()
        release.wait(60)

    async with Runtime(hog, deadline=0.1) as r:
        session = r.session("s")

        def bystander() -> None:
            stalled.wait(60)
            answers.extend(session.stop_soon().result(60) for _ in range(2))
            release.set()

        thread = threading.Thread(target=bystander)
        thread.start()
        await session.send("go")
        await asyncio.to_thread(thread.join)

        first, second = answers
        assert first
        assert not second
        assert not first.quiet
        assert not second.quiet
        assert (await first.settled()).quiet
        assert (await second.settled()).quiet


@pytest.mark.scenario("R12")
async def test_a_sink_or_tool_that_hides_a_coroutine_is_awaited() -> None:
    begun: list[str] = []

    async def really_send(event: object) -> None:
        begun.append(str(event))

    def hidden(event: object) -> Any:
        return really_send(event)

    async def engine(run: Run) -> None:
        await run.call(hidden, "x")
        await run.emit("hello")

    async with Runtime(engine, sink=hidden) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED

    assert begun == ["x", "hello"]


@pytest.mark.parametrize("error", [StopIteration, SystemExit, KeyboardInterrupt])
async def test_whatever_a_thread_raises_ends_its_call_and_nothing_else(
    error: type[BaseException],
) -> None:
    def tool() -> None:
        raise error("no")

    async def engine(run: Run) -> None:
        with pytest.raises(RuntimeError, match=f"it raised {error.__name__} in its thread"):
            await run.call(tool)

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED


async def test_a_tool_whose_thread_could_not_be_started_was_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def engine(run: Run) -> None:
        with monkeypatch.context() as m:
            m.setattr(threading.Thread, "start", no_thread)
            with pytest.raises(RuntimeError, match="can't start"):
                await run.call(len, "x")

    async with Runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED
        [result] = [e for e in await session.log() if isinstance(e, Result)]
        assert result.status is Status.NOT_STARTED


def test_no_delivery_overtakes_another_that_nobody_waits_for(schedules: int) -> None:
    async def story() -> None:
        landed: list[str] = []

        async def slow(event: FeedEvent) -> None:
            await asyncio.sleep(3 if mark_of(event) is True else 1)
            landed.append(event.text or str(mark_of(event)))

        async def engine(run: Run) -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(run.emit("a"), 0.5)
            await run.emit("b")
            async with run.typing():
                await asyncio.sleep(1000)

        async with runtime(engine, sink=slow, deadline=30) as r:
            session = r.session("s")
            await session.send("go")
            await asyncio.sleep(2.5)  # the mark is on its way
            receipt = await session.stop()

            assert receipt.quiet
            assert landed == ["a", "b", "True", "False"]

    explore(story, schedules)


async def test_a_thread_in_the_sink_is_under_way_until_it_has_left() -> None:
    entered, release = threading.Event(), threading.Event()

    def sink(event: FeedEvent) -> None:
        if event.kind == "typing" and mark_of(event) is False:
            entered.set()
            release.wait(60)

    async def engine(run: Run) -> None:
        async with run.typing():
            await asyncio.sleep(1000)

    async with Runtime(engine, sink=sink, deadline=0.2) as r:
        session = r.session("s")
        events = session.events()
        await session.send("go")
        while (await anext(events)).kind != "typing":
            pass
        receipt = await session.stop()

        assert [str(one) for one in receipt.unconfirmed] == ["delivery sink"]
        later = asyncio.ensure_future(receipt.settled())
        await asyncio.to_thread(entered.wait, 60)
        for _ in range(200):
            await asyncio.sleep(0)
        assert not later.done()
        release.set()
        assert (await later).quiet


async def test_the_answer_to_a_stop_can_be_awaited_again_and_made_a_task_of() -> None:
    wedged = Latch()

    async def engine(run: Run) -> None:
        await wedged.wait_stubbornly()

    async with Runtime(engine, deadline=0.3) as r:
        session = r.session("s")
        await session.send("go")
        await wedged.came.wait()
        answer = session.stop()
        with suppress(TimeoutError):
            await asyncio.wait_for(answer, 0.01)
        task = asyncio.create_task(session.stop())

        assert (await answer).runs == (await answer).runs == (await task).runs == ("s#1",)
        wedged.open.set()


def test_two_wedged_calls_of_one_tool_are_two(schedules: int) -> None:
    async def story() -> None:
        wedged = Latch()

        async def fetch() -> None:
            await wedged.wait_stubbornly()

        async def engine(run: Run) -> None:
            await asyncio.gather(run.call(fetch), run.call(fetch))

        async with runtime(engine, deadline=1.0) as r:
            session = r.session("s")
            await session.send("go")
            await wedged.came.wait()
            await a_while()
            receipt = await session.stop()

            assert [str(one) for one in receipt.unconfirmed].count("tool fetch") == 2
            wedged.open.set()

    explore(story, schedules)
