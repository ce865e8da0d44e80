"""E22. What a framework does that is no call: refused after a stop, waited for, named."""

import asyncio
import threading
from contextlib import suppress

import pytest

from lastword import Outcome, Receipt, Run, Runtime, Superseded
from lastword.runtime.executor import ActKind
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, a_while, check_log, runtime
from tests.promise.workshop import until

KINDS = pytest.mark.parametrize("kind", ["tool", "write"])


@pytest.mark.scenario("E22")
@KINDS
def test_an_act_is_begun_before_the_stop_or_not_at_all(kind: ActKind, schedules: int) -> None:
    async def story() -> None:
        fenced, begun, late = False, list[int](), list[int]()

        async def engine(run: Run) -> None:
            async def write(number: int) -> None:
                with suppress(asyncio.CancelledError):  # deaf: only the check can keep it back
                    await asyncio.sleep(0)
                async with run.acting("checkpoint", kind):
                    (late if fenced else begun).append(number)
                    await asyncio.sleep(0)

            await asyncio.gather(*map(write, range(4)), return_exceptions=True)

        async def stopping() -> Receipt:
            nonlocal fenced
            asked = session.stop()
            fenced = True
            return await asked

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            receipt = await asyncio.create_task(stopping())
            await a_while()
            assert receipt.quiet
            assert late == []
            await check_log(session)
        moments.add(len(begun))

    moments: set[int] = set()
    explore(story, schedules)
    assert len(moments) > 1  # the stop came here and there


@pytest.mark.scenario("E22")
@KINDS
async def test_a_stop_waits_for_an_act_that_does_not_listen_and_then_names_it(
    kind: ActKind,
) -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        async with run.acting("checkpoint", kind):
            await latch.wait_stubbornly()

    async with Runtime(engine, deadline=0.3) as r:
        session = r.session("s")
        ticket = await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        assert f"{kind} checkpoint" in map(str, receipt.unconfirmed)
        assert f"{kind} checkpoint" in str(receipt)
        latch.open.set()
        assert (await receipt.settled()).quiet
        assert await ticket.outcome() == Outcome.STOPPED


@pytest.mark.scenario("E22")
@KINDS
async def test_an_act_in_a_thread_is_waited_for_and_the_next_is_refused(kind: ActKind) -> None:
    entered, release, refused = threading.Event(), threading.Event(), list[Superseded]()

    async def engine(run: Run) -> None:
        def write() -> None:
            with run.acting("checkpoint", kind):
                entered.set()
                release.wait(60)
            try:
                with run.acting("checkpoint", kind):
                    entered.clear()
            except Superseded as error:
                refused.append(error)

        await asyncio.to_thread(write)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(entered.is_set)
        receipt = await session.stop()
        assert [str(one) for one in receipt.unconfirmed] == [f"{kind} checkpoint"]
        release.set()
        later = await receipt.settled()
        await until(lambda: refused)

    assert later.quiet
    assert entered.is_set()  # the second one never began
    assert "checkpoint" in str(refused[0])


@pytest.mark.scenario("E22")
async def test_what_was_refused_is_in_the_receipt() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        try:
            await latch.wait()
        finally:
            async with run.acting("checkpoint", "write"):
                pass

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()

    assert [one.what for one in receipt.refused] == ["checkpoint"]


async def test_an_act_of_no_known_kind_is_an_error_that_says_so() -> None:
    async def engine(run: Run) -> None:
        run.acting("checkpoint", "wish")  # pyright: ignore[reportArgumentType] - that is the point

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.FAILED
        assert "kind" in ticket.error
