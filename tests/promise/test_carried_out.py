"""E23, E24. Calls that are made where nobody here can see it, and calls of agents inside tools."""

import asyncio

import pytest

from lastword import Call, Outcome, Run, Runtime, Status
from lastword.core.entries import Called, Result
from lastword.core.model import SessionId
from lastword.errors import ImpossibleMove, Superseded
from lastword.testing.seeded import explore
from tests.promise.disk import Disk
from tests.promise.stories import Latch, a_while, check_log, runtime, stop


@pytest.mark.scenario("E23")
async def test_a_call_is_durable_before_it_is_carried_out_elsewhere() -> None:
    disk, written = Disk(), list[str]()

    async def engine(run: Run) -> None:
        call = run.asked("browse", '{"page": 1}')
        await call.begin()
        stored = disk.entries_of(SessionId("s"))
        written.extend(entry.name for entry in stored if isinstance(entry, Called))
        call.end("a page")

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]
        await check_log(session)

    assert written == ["browse"]
    assert (result.status, result.content, result.error) == (Status.COMPLETED, "a page", False)


@pytest.mark.scenario("E23")
def test_of_calls_made_elsewhere_a_stop_says_what_is_known(schedules: int) -> None:
    async def story() -> None:
        begun, ended = set[str](), set[str]()

        async def engine(run: Run) -> None:
            async def make(call: Call[object]) -> None:
                await call.begin()
                begun.add(call.id)
                await asyncio.sleep(1)
                ended.add(call.id)
                call.end("done")

            asked = [run.asked("browse", "{}") for _ in range(3)]
            await asyncio.gather(*map(make, asked))

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            receipt = await asyncio.create_task(stop(session))
            known = {one.call: one.status for one in receipt.calls}
            now = frozenset(begun), frozenset(ended)
            await a_while()

            assert receipt.quiet  # no stop waits for what it cannot see
            assert (begun, ended) == now
            for call, status in known.items():
                if call in ended:
                    assert status in (Status.COMPLETED, Status.MAY_HAVE_EXECUTED)
                elif call in begun:
                    assert status is Status.MAY_HAVE_EXECUTED
                else:
                    assert status is not Status.COMPLETED
            assert await ticket.outcome() in (Outcome.STOPPED, Outcome.COMPLETED)
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("E23")
async def test_an_end_that_comes_after_the_stop_changes_nothing() -> None:
    latch, kept = Latch(), list[Call[object]]()

    async def engine(run: Run) -> None:
        if run.message.text != "go":
            return
        kept.append(run.asked("browse", "{}"))
        await kept[0].begin()
        await latch.wait()

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        kept[0].end("too late")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        history = str(await session.history())
        await check_log(session)

    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
    assert "too late" not in history


@pytest.mark.scenario("E23")
async def test_a_call_that_may_not_be_made_is_not_carried_out_elsewhere_either() -> None:
    def forbid(_: object) -> None:
        raise PermissionError("not here")

    async def engine(run: Run) -> None:
        await run.asked("browse", "{}").begin()

    async with Runtime(engine, before_tool=forbid) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.FAILED
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]

    assert result.status == Status.NOT_STARTED


async def test_what_has_not_begun_cannot_end_and_what_has_no_body_cannot_be_made() -> None:
    errors: list[ImpossibleMove] = []

    async def engine(run: Run) -> None:
        try:
            run.asked("browse", "{}").end("nothing")
        except ImpossibleMove as error:
            errors.append(error)
        try:
            await run.asked("browse", "{}")()
        except ImpossibleMove as error:
            errors.append(error)

    async with Runtime(engine) as r:
        await (await r.session("s").send("go")).outcome()

    assert ["not begun" in str(error) or "body" in str(error) for error in errors] == [True, True]


async def test_a_call_is_made_by_the_body_that_it_is_given_when_it_is_made() -> None:
    async def body() -> str:
        return "async"

    def blocking() -> str:
        return "in a thread"

    async def engine(run: Run) -> None:
        asked = [run.asked("look", "{}") for _ in range(2)]
        await asked[0](body)
        await asked[1](blocking)

    async with Runtime(engine) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        results = [entry for entry in await session.log() if isinstance(entry, Result)]

    assert [entry.content for entry in results] == ["async", "in a thread"]


async def delegating(run: Run, latch: Latch | None = None) -> str:
    """A tool that has an agent of its own, which makes two calls."""

    async def write() -> str:
        if latch:
            await latch.wait()
        return "written"

    calls = [run.asked("write", f'{{"n": {n}}}', write, nature="inner") for n in range(2)]
    return " ".join([await call() for call in calls])


@pytest.mark.scenario("E24")
async def test_calls_of_an_agent_inside_a_tool_are_in_the_receipt() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        if run.message.text == "go":
            await run.call(lambda: delegating(run, latch))

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        await (await session.send("and?")).outcome()
        await check_log(session)

    doubtful, not_started = Status.MAY_HAVE_EXECUTED, Status.NOT_STARTED
    assert [call.status for call in receipt.calls] == [doubtful, doubtful, not_started]
    assert [call.name for call in receipt.calls][1:] == ["write", "write"]


@pytest.mark.scenario("E24")
async def test_the_session_s_model_is_shown_the_one_call_that_it_asked_for() -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "go":
            delegate = run.asked("delegate", "{}", lambda: delegating(run))
            also = run.asked("also", "{}", lambda: delegating(run))
            await asyncio.gather(delegate(), also())

    async with Runtime(engine) as r:
        session = r.session("s")
        for text in ("go", "and?"):
            assert await (await session.send(text)).outcome() == Outcome.COMPLETED
        shown = await session.history()
        log = await session.log()

    assert [entry.name for entry in log if isinstance(entry, Called)].count("write") == 4
    assert [(one.role, one.name) for one in shown if one.role in ("call", "result")] == [
        ("call", "delegate"),
        ("call", "also"),
        ("result", "delegate"),
        ("result", "also"),
    ]


@pytest.mark.scenario("E24")
async def test_after_a_crash_calls_inside_a_tool_are_among_those_that_may_have_executed() -> None:
    disk, latch = Disk(), Latch()

    async def engine(run: Run) -> None:
        if run.message.text == "go":
            await run.asked("delegate", "{}", lambda: delegating(run, latch))()

    async with runtime(engine, store=disk) as r:
        await r.session("s").send("go")
        await latch.came.wait()
        found = disk.found()  # it dies here
    async with runtime(engine, store=found) as r:
        session = r.session("s")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        results = [entry for entry in await session.log() if isinstance(entry, Result)]
        shown = "\n".join(one.text for one in await session.history())
        await check_log(session)

    assert [entry.status for entry in results] == [Status.MAY_HAVE_EXECUTED] * 3
    assert "delegate" in shown
    assert "write" not in shown


@pytest.mark.scenario("E24")
async def test_a_call_inside_a_tool_is_not_made_after_the_stop() -> None:
    latch, made, refused = Latch(), list[str](), list[Superseded]()

    async def engine(run: Run) -> None:
        async def write() -> None:
            made.append("written")

        async def delegate() -> None:
            await latch.wait_stubbornly()
            try:
                await run.asked("write", "{}", write, nature="inner")()
            except Superseded as error:
                refused.append(error)

        await run.call(delegate)

    async with Runtime(engine, deadline=0.2) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        latch.open.set()
        await receipt.settled()

    assert made == []
    assert len(refused) == 1
