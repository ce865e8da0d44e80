"""E24, E27. A model's calls as the kit makes them, and those of an agent inside a tool."""

import asyncio
import threading

import pytest

from lastword import Call, Outcome, Run, Runtime, Status, Superseded
from lastword.core.entries import Called, Result
from lastword.engines.kit.calls import Calls, NotMade, inner
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until


@pytest.mark.scenario("E27")
async def test_what_a_model_asked_for_at_once_is_one_batch_and_the_rest_is_not_started() -> None:
    latch = Latch()

    async def engine(run: Run) -> None:
        if run.message.text != "go":
            return
        calls = Calls(run)
        for number in range(3):
            calls.ask(f"c{number}", "fetch", {"n": number})
        await calls.make("c0", lambda: "in a thread")
        await calls.make("c1", latch.wait)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        shown = [one.role for one in await session.history()]
        await check_log(session)

    assert [call.status for call in receipt.calls] == [
        Status.COMPLETED,
        Status.MAY_HAVE_EXECUTED,
        Status.NOT_STARTED,
    ]
    assert shown[1:7] == ["call"] * 3 + ["result"] * 3


@pytest.mark.scenario("E27")
@pytest.mark.parametrize("own", [False, True], ids=["before", "own"])
async def test_a_call_that_was_not_allowed_is_told_from_one_that_the_tool_refused(
    own: bool,
) -> None:
    caught: list[PermissionError] = []

    def allow(_: Call[object]) -> None:
        if not own:
            raise PermissionError("not here")

    async def engine(run: Run) -> None:
        async def tool() -> None:
            raise PermissionError("no such right")

        calls = Calls(run)
        calls.ask("c", "write", "{}")
        try:
            await calls.make("c", tool)
        except PermissionError as error:
            caught.append(error)

    async with Runtime(engine, before_tool=allow) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]

    assert isinstance(caught[0], NotMade) is not own
    assert str(caught[0]) == ("no such right" if own else "not here")
    assert result.status == (Status.COMPLETED if own else Status.NOT_STARTED)


async def nested() -> str:
    async def write() -> str:
        return "written"

    return await inner("write", {"n": 1}, write)


@pytest.mark.scenario("E24")
@pytest.mark.parametrize("thread", [False, True], ids=["on the loop", "on a loop in a thread"])
async def test_an_agent_inside_a_tool_is_in_the_ledger_wherever_it_runs(thread: bool) -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "go":
            await run.call(lambda: asyncio.run(nested()) if thread else nested())

    async with Runtime(engine) as r:
        session = r.session("s")
        for text in ("go", "and?"):
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()
        shown = [one.name for one in await session.history() if one.role == "call"]
        await check_log(session)

    calls = [entry for entry in log if isinstance(entry, Called)]
    results = {entry.call: entry for entry in log if isinstance(entry, Result)}
    assert [call.nature for call in calls] == ["", "inner"]
    assert results[calls[1].call].content == "written"
    assert shown == [calls[0].name]


@pytest.mark.scenario("E24")
async def test_an_agent_in_a_thread_calls_nothing_after_the_stop_and_what_it_called_is_named() -> (
    None
):
    entered, release, ended = threading.Event(), threading.Event(), threading.Event()
    made, refused = list[str](), list[Superseded]()

    async def agent() -> None:
        async def write() -> str:
            made.append("first")
            entered.set()
            release.wait(60)
            return "written"

        async def again() -> None:
            made.append("second")

        try:
            await inner("write", {}, write)
            await inner("again", {}, again)
        except Superseded as error:
            refused.append(error)
        finally:
            ended.set()

    async def engine(run: Run) -> None:
        await run.call(lambda: asyncio.run(agent()))

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(entered.is_set)
        receipt = await session.stop()
        assert "tool write" in map(str, receipt.unconfirmed)
        release.set()
        await until(ended.is_set)
        assert (await receipt.settled()).quiet

    assert made == ["first"]
    assert len(refused) == 1
    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED] * 2


@pytest.mark.scenario("E24")
async def test_a_call_inside_a_tool_is_asked_for_like_any_other() -> None:
    def forbid(call: Call[object]) -> None:
        if call.nature == "inner":
            raise PermissionError("not from in there")

    async def engine(run: Run) -> None:
        with pytest.raises(NotMade, match="not from in there"):
            await run.call(nested)

    async with Runtime(engine, before_tool=forbid) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


async def test_an_agent_outside_of_runs_is_left_alone() -> None:
    assert await nested() == "written"
