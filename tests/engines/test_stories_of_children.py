"""The stories of what tools start, kept by every engine: processes and runs below them."""

import pytest

from lastword import Outcome, Run, Runtime
from lastword.testing.provider import Answer, Call, Say
from tests.engines.stories import run_here
from tests.engines.subjects import TALKING
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import STUBBORN, gone, is_up, until

pytestmark = pytest.mark.parametrize("kind", TALKING)


@pytest.mark.scenario("P1", part="processes")
@pytest.mark.scenario("S11", part="processes")
async def test_what_a_tool_started_ends_with_the_answer_and_is_named(kind: str) -> None:
    pids: list[int] = []

    async def build() -> str:
        process = await run_here().spawn(shell=STUBBORN)
        await is_up(process)
        pids.append(process.pid)
        await process.wait()
        return "built"

    async with TALKING[kind]() as one, Runtime(one.engine, grace=0.1) as r:
        one.tool(build)
        one.answer(Call("build", {}))
        session = r.session("s")
        await session.send("build it")
        await until(lambda: pids)
        receipt = await session.stop()
        assert receipt.quiet
        assert gone(pids[0])
        assert "killed" in {process.fate for process in receipt.processes}


@pytest.mark.scenario("C1")
@pytest.mark.scenario("C2", part="library")
@pytest.mark.scenario("C3")
async def test_what_a_tool_started_below_it_ends_in_the_same_instant(kind: str) -> None:
    latch, polite = Latch(), Latch()

    async def below(run: object) -> None:
        await (latch.wait_stubbornly() if not latch.came.is_set() else polite.wait())

    async def delegate() -> str:
        run = run_here()
        wedged = await run.child("wedge", engine=below)
        await latch.came.wait()
        other = await run.child("wait", engine=below)
        await wedged.outcome()
        return await other.text()

    async with TALKING[kind]() as one, Runtime(one.engine, deadline=0.5, grace=0.1) as r:
        one.tool(delegate)
        one.answer(Call("delegate", {}))
        session = r.session("s")
        await session.send("go")
        await polite.came.wait()
        receipt = await session.stop()
        assert [(c.session, c.fate) for c in receipt.children] == [
            ("s#1/1", "unconfirmed"),
            ("s#1/2", "ended"),
        ]
        latch.open.set()
        assert (await receipt.settled()).quiet
        await check_log(session)


@pytest.mark.scenario("C1")
async def test_the_same_engine_three_levels_below_a_tool_is_stopped_with_it(kind: str) -> None:
    latch, runs = Latch(), list[Run]()

    async def delegate() -> str:
        runs.append(run_here())
        if len(runs) < 3:
            below = await runs[-1].child("deeper")
            return await below.text()
        await latch.wait()
        return "never"

    async with TALKING[kind]() as one, Runtime(one.engine) as r:
        one.tool(delegate)
        one.provider.always(lambda _: Answer(Call("delegate", {})))
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        stopping = session.stop()
        current = [run.current for run in runs]
        receipt = await stopping
        assert current == [False] * 3
        assert len({run.session for run in runs}) == 3
        assert receipt.quiet
        assert [(c.session, c.fate) for c in receipt.children] == [("s#1/1", "ended")]
        assert len(one.provider.requests) == 3
        one.provider.always(lambda _: Answer(Say("fine")))
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        assert len(one.provider.requests) == 4  # no child woke the parent
        await check_log(session)


@pytest.mark.scenario("C4")
async def test_what_a_tool_started_to_be_kept_goes_on_and_waits_for_the_person(kind: str) -> None:
    latch = Latch()

    async def below(run: object) -> None:
        await latch.wait()
        await run_here().emit("found it")

    async def delegate() -> str:
        await run_here().child("search", engine=below, keep=True)
        await Latch().wait()
        return "never"

    async with TALKING[kind]() as one, Runtime(one.engine) as r:
        one.tool(delegate)
        one.answer(Call("delegate", {}))
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        assert [child.fate for child in receipt.children] == ["kept"]
        latch.open.set()
        await until(lambda: session.queue)
        assert len(one.provider.requests) == 1
        one.answer("fine")
        one.answer("That is it.")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        await until(lambda: len(one.provider.requests) == 3)
        assert "found it" in one.provider.requests[2].prompt
