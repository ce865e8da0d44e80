"""G. No tool begins after a stop, and what the record says of each call is true."""

import asyncio
import threading
import time
from typing import Any

import pytest

from lastword import Call, Outcome, Receipt, Run, Runtime, Status, Token
from lastword.core.entries import Called, Result
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import Trap, explore, sweep
from tests.promise.stories import Latch, a_while, check_log, runtime, stop


@pytest.mark.scenario("G1")
def test_of_five_calls_in_order_a_stop_during_the_second_leaves_three_not_started(
    schedules: int,
) -> None:
    async def story() -> None:
        made, second = list[int](), Latch()

        async def tool(number: int) -> None:
            made.append(number)
            if number == 2:
                await second.wait()

        async def engine(run: Run) -> None:
            for call in [run.intend(tool, number) for number in range(1, 6)]:
                await call()

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            await second.came.wait()
            receipt = await asyncio.create_task(stop(session))
            await a_while()

            assert made == [1, 2]
            assert [call.status for call in receipt.calls] == [
                Status.COMPLETED,
                Status.MAY_HAVE_EXECUTED,
                *[Status.NOT_STARTED] * 3,
            ]
            results = [e for e in await session.log() if isinstance(e, Result)]
            assert [e.status for e in results] == [call.status for call in receipt.calls]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("G2", part="thread")
async def test_a_tool_that_holds_its_thread_delays_no_stop_and_its_result_is_discarded() -> None:
    entered, release = threading.Event(), threading.Event()
    got: list[object] = []

    def wedge() -> str:
        entered.set()
        release.wait(60)
        return "late"

    async def quick(number: int) -> int:
        return number

    async def engine(run: Run) -> None:
        async def use(call: Call[Any]) -> None:
            got.append(await call())

        calls = [run.intend(wedge), *(run.intend(quick, n) for n in range(3))]
        await asyncio.gather(*(use(call) for call in calls))

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await asyncio.to_thread(entered.wait, 60)
        asked = time.monotonic()
        receipt = await session.stop()
        answered = time.monotonic()
        release.set()
        later = await receipt.settled()
        results = [e for e in await session.log() if isinstance(e, Result)]

    assert answered - asked < 1
    wedged = [c.call for c in receipt.calls if c.name == "wedge"]
    assert [e.status for e in results if e.call in wedged] == [Status.MAY_HAVE_EXECUTED]
    assert [str(one) for one in receipt.unconfirmed] == ["tool wedge"]
    assert [call.name for call in receipt.tools[Status.MAY_HAVE_EXECUTED]] == ["wedge"]
    assert "late" not in got
    assert later.quiet
    assert later.calls == receipt.calls


def test_a_tool_deaf_to_cancellation_hands_its_late_result_to_nobody(schedules: int) -> None:
    async def story() -> None:
        deaf, got = Latch(), list[str]()

        async def tool() -> str:
            await deaf.wait_stubbornly()
            return "late"

        async def engine(run: Run) -> None:
            got.append(await run.call(tool))

        async with runtime(engine, deadline=1.0) as r:
            session = r.session("s")
            await session.send("go")
            await deaf.came.wait()
            receipt = await asyncio.create_task(stop(session))
            deaf.open.set()
            later = await receipt.settled()

            assert {str(one) for one in receipt.unconfirmed} == {"tool tool", "run s#1"}
            assert got == []
            assert [call.status for call in later.calls] == [Status.MAY_HAVE_EXECUTED]
            await check_log(session)

    explore(story, schedules)


def _no_lie(written: list[int], receipt: Receipt) -> None:
    """Never "not started" and a written file."""
    for call in receipt.calls:
        assert not (written and call.status is Status.NOT_STARTED)


@pytest.mark.scenario("G3")
@pytest.mark.parametrize("threaded", [False, True])
def test_a_call_is_never_reported_as_not_started_if_it_wrote_anything(
    threaded: bool,
    schedules: int,
) -> None:
    async def story() -> None:
        written: list[int] = []

        async def write() -> None:
            written.append(1)
            await asyncio.sleep(0)

        def write_in_thread() -> None:
            written.append(1)

        async def engine(run: Run) -> None:
            await run.call(write_in_thread if threaded else write)

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await ticket.started()
            stopping = asyncio.create_task(stop(session))
            receipt = await stopping
            before = list(written)
            await a_while()

            assert written == before
            _no_lie(written, receipt)
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("G3")
@pytest.mark.parametrize("task", ["run", "commit", "Task-"])
@pytest.mark.parametrize("threaded", [False, True])
def test_a_stop_at_every_step_between_the_check_and_the_first_line_tells_no_lie(
    task: str, threaded: bool
) -> None:
    async def story(trap: Trap) -> None:
        written, fence, receipts = list[int](), list[int](), list[Any]()

        async def write() -> None:
            written.append(1)

        def write_in_thread() -> None:
            written.append(1)

        async def engine(run: Run) -> None:
            await run.call(write_in_thread if threaded else write)

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("before")
            await a_while()
            await session.loaded()  # so that it is accepted in the step in which it is sent

            def stop_now(_: object) -> None:
                receipts.append(session.stop())
                fence.append(len(written))

            trap.set(task, stop_now)
            await session.send("go")
            await a_while()

            if receipts:
                receipt = await receipts[0]
                assert len(written) == fence[0], "it was written after the fence"
                if receipt.calls:
                    _no_lie(written[1:], receipt)
            await check_log(session)

    assert sweep(story) > (1 if threaded or task != "Task-" else 0)


@pytest.mark.scenario("G4")
def test_a_stop_during_a_hook_before_a_tool_keeps_the_tool_from_running(schedules: int) -> None:
    async def story() -> None:
        hook, made = Latch(), list[str]()

        async def before(call: Call[Any]) -> None:
            assert call.name == "tool"
            await hook.wait_stubbornly()

        async def tool() -> None:
            made.append("tool")

        async def engine(run: Run) -> None:
            await run.call(tool)

        async with runtime(engine, before_tool=before) as r:
            session = r.session("s")
            await session.send("go")
            await hook.came.wait()
            stopping = session.stop()
            hook.open.set()
            receipt = await stopping
            await a_while()

            assert made == []
            assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]

    explore(story, schedules)


@pytest.mark.scenario("G7")
async def test_an_outside_resource_can_refuse_the_older_run_by_its_token() -> None:
    class Disk:
        """A resource that keeps the highest generation it has seen for each session."""

        def __init__(self) -> None:
            self.seen: dict[str, int] = {}
            self.written: list[str] = []

        def write(self, token: Token, text: str) -> bool:
            if token.generation < self.seen.get(token.session, 0):
                return False
            self.seen[token.session] = token.generation
            self.written.append(text)
            return True

    disk, old = Disk(), Latch()
    answers: dict[str, bool] = {}

    async def engine(run: Run) -> None:
        if run.message.text == "old":
            await old.wait_stubbornly()
        answers[run.message.text] = disk.write(run.token, run.message.text)

    async with Runtime(engine, deadline=0.1) as r:
        session = r.session("s")
        await session.send("old")
        await old.came.wait()
        new = await session.send("new")
        assert await new.outcome() == Outcome.COMPLETED
        old.open.set()
        receipt = await new.receipt()
        assert receipt
        await receipt.settled()

    assert disk.written == ["new"]
    assert answers == {"new": True, "old": False}


async def test_a_tool_that_raises_was_completed_with_an_error() -> None:
    async def broken() -> None:
        raise ValueError("no such file")

    async def engine(run: Run) -> None:
        with pytest.raises(ValueError, match="no such file"):
            await run.call(broken)
        await run.emit("went on")

    async with Runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("go")

        assert await ticket.outcome() == Outcome.COMPLETED
        [result] = [e for e in await session.log() if isinstance(e, Result)]
        assert result.status is Status.COMPLETED
        assert "no such file" in result.content


@pytest.mark.parametrize("steps", range(12))
def test_a_call_given_up_by_the_engine_itself_is_settled_truthfully(
    steps: int, schedules: int
) -> None:
    async def story() -> None:
        written: list[int] = []

        def write() -> None:
            written.append(1)

        async def engine(run: Run) -> None:
            call = run.intend(write)
            making = asyncio.create_task(call())
            for _ in range(steps):
                await asyncio.sleep(0)
            making.cancel()
            await asyncio.wait([making])
            await asyncio.sleep(10)
            if call.status is Status.NOT_STARTED:
                assert written == []

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")

            assert await ticket.outcome() == Outcome.COMPLETED
            results = [e for e in await session.log() if isinstance(e, Result)]
            assert len(results) == 1
            assert not (written and results[0].status is Status.NOT_STARTED)

    explore(story, schedules)


async def test_what_is_to_be_called_is_durable_before_the_tools_first_line() -> None:
    class Watched(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.order: list[str] = []

        async def commit(self, write: Write) -> None:
            await asyncio.sleep(0)
            await super().commit(write)
            self.order += [f"stored {e.name}" for e in write.entries if isinstance(e, Called)]

    store = Watched()

    async def tool() -> None:
        store.order.append("tool ran")

    async def engine(run: Run) -> None:
        await run.call(tool)

    async with Runtime(engine, store=store) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED

    assert store.order == ["stored tool", "tool ran"]
