"""S. What a stop names, whom it answers, and what it says."""

import asyncio
import threading
import time
from concurrent.futures import Future

import pytest

from lastword import Outcome, Receipt, Run, Runtime, StaleRun, Status
from lastword.testing.recorder import FakeClock, Recorder
from lastword.testing.seeded import explore
from tests.promise.stories import (
    Latch,
    OneAtATime,
    a_while,
    answer,
    check_log,
    runtime,
    stop,
    talk,
)


@pytest.mark.scenario("S11", part="library")
async def test_the_receipt_says_what_was_ended_dropped_skipped_and_left() -> None:
    """All of it in one: a finished tool, one cut off, one never begun, a child, a queue."""
    busy, heard = Latch(), Recorder()

    async def search(what: str) -> str:
        return what

    async def deploy() -> None:
        await busy.wait()

    async def notify() -> None:
        raise AssertionError("never begun")

    async def engine(run: Run) -> None:
        if run.message.text == "look":
            await talk(run)
        await run.child("look")
        first, second, third = run.intend(search, "x"), run.intend(deploy), run.intend(notify)
        try:
            await first()
            await second()
            await third()
        finally:
            await run.emit("too late")

    clock = FakeClock(1_700_000_000.0)
    async with Runtime(engine, sink=heard, clock=clock) as r:
        session = r.session("s")
        await session.send("go")
        await busy.came.wait()
        await session.send("and then the tests", on_message="queue", by="ann")
        await session.send("gently", on_message="steer")
        receipt = await session.stop()
        stored = [entry for entry in await session.log() if isinstance(entry, Receipt)]

    assert receipt
    assert stored == [receipt]
    assert receipt.quiet
    assert receipt.durable
    assert receipt.generation == 2
    assert receipt.runs == ("s#1",)
    assert {status: [c.name for c in calls] for status, calls in receipt.tools.items()} == {
        Status.COMPLETED: ["search"],
        Status.MAY_HAVE_EXECUTED: ["deploy"],
        Status.NOT_STARTED: ["notify"],
    }
    assert [(c.session, c.fate) for c in receipt.children] == [("s#1/1", "ended")]
    assert {(m.message.text, m.message.by, m.fate) for m in receipt.messages} == {
        ("and then the tests", "ann", "dropped"),
        ("gently", "", "dropped"),
    }
    assert receipt.dropped == 1
    assert receipt.unconfirmed == ()
    assert receipt.fenced_at == pytest.approx(1_700_000_000.0, abs=1)
    assert Receipt.from_json(receipt.to_json()) == receipt


@pytest.mark.scenario("S13")
def test_a_stop_that_names_another_run_than_the_active_one_touches_nothing(schedules: int) -> None:
    async def story() -> None:
        async with runtime(OneAtATime(talk)) as r:
            session = r.session("s")
            first = await session.send("one")
            await first.started()
            taking_over = asyncio.create_task(session.send("two"))
            stopping = asyncio.create_task(stop(session, first.run))
            second = await taking_over
            try:
                receipt = await stopping
                assert receipt.runs == (first.run,)
            except StaleRun as stale:
                assert stale.run == first.run
                assert stale.active == second.run
            await second.started()

            assert session.active == second.run
            with pytest.raises(StaleRun, match=f"run {second.run} is active"):
                await session.stop(run=first.run)
            assert session.active == second.run
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("S14")
def test_a_stop_by_run_ends_that_run_and_the_queue_goes_on(schedules: int) -> None:
    async def story() -> None:
        async def engine(run: Run) -> None:
            if run.message.text == "a":
                await talk(run)

        async with runtime(OneAtATime(engine), on_message="queue") as r:
            session = r.session("s")
            a, b, c = [await session.send(text) for text in "abc"]
            await a.started()
            first = asyncio.create_task(stop(session, a.run))
            second = asyncio.create_task(stop(session, c.run))
            receipt = await first
            try:
                withdrawn = bool(await second)
            except StaleRun:
                withdrawn = False  # it had run by then

            assert receipt.runs == (a.run,)
            assert receipt.messages == ()
            assert await a.outcome() == Outcome.STOPPED
            assert await b.outcome() == Outcome.COMPLETED
            ended = await c.outcome()
            assert ended in {Outcome.WITHDRAWN, Outcome.STOPPED, Outcome.COMPLETED}
            assert (ended == Outcome.COMPLETED) != withdrawn
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("S15")
def test_after_a_stop_nothing_starts_until_the_person_speaks(schedules: int) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            await (talk(run) if run.message.text == "go" else answer(run))

        engine = OneAtATime(work)
        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await ticket.started()
            await asyncio.create_task(stop(session))
            sent = [
                asyncio.create_task(session.send("tick", origin="timer")),
                asyncio.create_task(session.send("done", origin="child", on_message="steer")),
            ]
            timer, child = [await one for one in sent]
            await a_while()

            assert engine.order in ([], ["go"])
            assert not session.busy
            assert {message.text for message in session.queue} == {"tick", "done"}

            person = await session.send("hello")
            assert await person.outcome() == Outcome.COMPLETED
            assert await timer.outcome() == Outcome.COMPLETED
            assert await child.outcome() == Outcome.COMPLETED
            assert engine.order[-3:][0] == "hello"
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("S19", part="thread")
async def test_a_stop_from_another_thread_holds_while_the_loop_is_stalled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stalled, release = threading.Event(), threading.Event()
    heard, answers = Recorder(), list[Receipt]()
    current: list[bool] = []

    async def hog(run: Run) -> None:
        stalled.set()
        release.wait(60)  # holds the event loop, and every task on it
        current.append(run.current)
        await run.emit("after the stall")

    async with Runtime(hog, sink=heard, deadline=0.2, stall_after=0.05) as r:
        session = r.session("s")

        def bystander() -> None:
            stalled.wait(60)
            answering: Future[Receipt] = session.stop_soon()
            answers.append(answering.result(60))  # answered while nothing on the loop can be
            release.set()

        thread = threading.Thread(target=bystander)
        thread.start()
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.STOPPED
        await asyncio.to_thread(thread.join)

    assert current == [False]
    assert heard == []
    [receipt] = answers
    assert receipt.runs == ("s#1",)
    assert [str(one) for one in receipt.unconfirmed] == ["run s#1"]
    assert "event loop stalled task='run s#1'" in caplog.text


async def test_a_stop_from_another_thread_moves_the_generation_before_it_returns() -> None:
    emitted, stopped, done = threading.Event(), threading.Event(), threading.Event()
    late: list[str] = []

    def tool(run: Run) -> None:
        emitted.set()
        stopped.wait(60)
        late.append(f"current={run.current}")

    async def engine(run: Run) -> None:
        await run.call(tool, run)

    async with Runtime(engine) as r:
        session = r.session("s")

        def bystander() -> None:
            emitted.wait(60)
            before = session.generation
            future = session.stop_soon()
            assert session.generation == before + 1
            stopped.set()
            future.result(60)
            done.set()

        thread = threading.Thread(target=bystander)
        thread.start()
        await session.send("go")
        await asyncio.to_thread(done.wait, 60)
        thread.join()

    assert late == ["current=False"]


def test_a_run_that_stops_itself_is_answered_at_the_fence(schedules: int) -> None:
    async def story() -> None:
        receipts: list[Receipt] = []

        async with runtime(talk) as r:
            session = r.session("s")

            async def suicidal_tool() -> None:
                receipts.append(await session.stop())
                await session.stop()

            async def engine(run: Run) -> None:
                await run.call(suicidal_tool)

            r2 = runtime(engine)
            async with r2:
                session = r2.session("s")
                ticket = await session.send("go")
                assert await ticket.outcome() == Outcome.STOPPED
                await a_while()
                [receipt] = receipts
                assert not receipt.quiet  # it was still in it
                assert (await receipt.settled()).quiet

    explore(story, schedules)


def test_a_stop_after_a_new_message_is_a_new_stop_that_names_what_still_dies(
    schedules: int,
) -> None:
    async def story() -> None:
        wedged = Latch()

        async def engine(run: Run) -> None:
            if run.message.text == "wedge":
                await wedged.wait_stubbornly()
            else:
                await talk(run)

        async with runtime(engine, deadline=2.0) as r:
            session = r.session("s")
            first = await session.send("wedge")
            await wedged.came.wait()
            one = asyncio.create_task(stop(session))
            joined = asyncio.create_task(stop(session))
            await asyncio.sleep(0.5)
            second = await session.send("more")
            await second.started()
            other = await session.stop()

            assert (await one).runs == (await joined).runs == (first.run,)
            assert other.runs == (second.run,)
            assert [str(left) for left in other.unconfirmed] == [f"run {first.run}"]
            wedged.open.set()
            assert (await other.settled()).quiet

    explore(story, schedules)


def test_cancelling_whoever_asked_for_a_stop_does_not_undo_it(schedules: int) -> None:
    async def story() -> None:
        async with runtime(talk) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await ticket.started()
            stopping = asyncio.create_task(stop(session))
            await asyncio.sleep(0)
            stopping.cancel()
            await asyncio.wait([stopping])
            if session.busy:  # it was cancelled before it had asked
                await session.stop()

            assert await ticket.outcome() == Outcome.STOPPED
            await check_log(session)

    explore(story, schedules)


@pytest.mark.parametrize(("seconds", "cancels"), [(0.9, 1), (1.5, 2), (2.5, 3)])
def test_a_polite_ending_has_a_second_before_it_is_cancelled_again(
    seconds: float, cancels: int, schedules: int
) -> None:
    async def story() -> None:
        felt: list[str] = []
        up = asyncio.Event()

        async def engine(run: Run) -> None:
            now = asyncio.get_running_loop().time
            up.set()
            end = float("inf")
            while (left := end - now()) > 0:
                try:
                    await asyncio.sleep(min(left, 1000))
                except asyncio.CancelledError:
                    felt.append("cancel")
                    end = min(end, now() + seconds)

        async with runtime(engine, deadline=10) as r:
            session = r.session("s")
            await session.send("go")
            await up.wait()
            receipt = await session.stop()

            assert receipt.quiet
            assert len(felt) == cancels
            assert receipt.took == pytest.approx(seconds)

    explore(story, schedules)


async def test_whoever_stalls_the_loop_is_named_with_its_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    named = threading.Event()
    caplog.handler.addFilter(lambda _: named.set() or True)

    async def helper() -> None:
        named.wait(60)  # on the loop, until the watchdog has spoken

    async def engine(run: Run) -> None:
        await run.task(helper(), name="title")

    async with Runtime(engine, stall_after=0.05) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED

    assert "event loop stalled task='run s#1: title'" in caplog.text


@pytest.mark.scenario("S21")
async def test_what_ends_as_soon_as_its_process_can_run_again_is_not_named() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        try:
            await latch.wait()
        finally:
            for _ in range(40):  # longer than what ends at once
                await asyncio.sleep(0)
            time.sleep(0.2)  # noqa: ASYNC251 - the engine's own: nothing else of the loop runs
            for _ in range(4):
                await asyncio.sleep(0)

    async with Runtime(engine, deadline=0.1, grace=0.05) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()

    assert receipt.quiet
    assert receipt.took > 0.1
