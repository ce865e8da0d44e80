"""E24, E27. A framework's tools, held where it reaches them: on the event loop, and in threads."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from lastword import Call, Outcome, Run, Runtime, Status, Superseded
from lastword.core.entries import Called, Result
from lastword.engines.kit import Calls, NotMade, held, held_in_thread, own_calls, wait_for
from tests.promise.stories import Latch, check_log, heard_by
from tests.promise.workshop import until

Tool = Callable[[str, dict[str, Any]], Awaitable[Any]]


async def on_the_loop(name: str, arguments: dict[str, Any], id: str = "") -> str:
    async def body() -> str:
        return f"{name} {arguments}"

    return await held(name, arguments, body, id=id)


async def in_a_thread(name: str, arguments: dict[str, Any], id: str = "") -> str:
    def body() -> str:
        return f"{name} {arguments}"

    return await asyncio.to_thread(held_in_thread, name, arguments, body, id=id)


both = pytest.mark.parametrize("tool", [on_the_loop, in_a_thread])


async def entries(engine: Callable[[Run], Awaitable[None]]) -> list[tuple[str, str, str]]:
    """What the log has of the calls of one run: name, nature and result."""
    async with Runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()
        await check_log(session)
    results = {entry.call: entry for entry in log if isinstance(entry, Result)}
    calls = [entry for entry in log if isinstance(entry, Called)]
    return [(call.name, call.nature, results[call.call].content) for call in calls]


@both
@pytest.mark.scenario("E27")
async def test_a_tool_that_the_model_asked_for_is_its_call_by_id(tool: Any) -> None:
    async def engine(run: Run) -> None:
        calls = Calls(run)
        calls.ask("c1", "look", {"n": 1})
        calls.ask("c2", "look", {"n": 1})
        await tool("look", {"n": 1, "deep": True}, id="c2")
        await tool("look", {"n": 1}, id="c1")

    assert await entries(engine) == [
        ("look", "", "look {'n': 1}"),
        ("look", "", "look {'n': 1, 'deep': True}"),
    ]


@both
@pytest.mark.scenario("E27")
async def test_without_an_id_it_is_known_by_name_and_arguments_and_each_call_is_one(
    tool: Any,
) -> None:
    async def engine(run: Run) -> None:
        calls = Calls(run)
        for number, n in enumerate((1, 2, 2)):
            calls.ask(f"c{number}", "look", f'{{"n":{n}}}')
        calls.ask("c3", "find", {"what": "a cat"})
        await asyncio.gather(*[tool("look", {"n": n}) for n in (2, 1, 2)])
        await tool("find", {"what": "a cat", "where": "anywhere"})  # no other can be meant

    assert await entries(engine) == [
        ("look", "", "look {'n': 1}"),
        ("look", "", "look {'n': 2}"),
        ("look", "", "look {'n': 2}"),
        ("find", "", "find {'what': 'a cat', 'where': 'anywhere'}"),
    ]


@pytest.mark.scenario("E27")
async def test_what_came_of_a_tool_is_told_while_its_run_goes_on() -> None:
    latch = Latch()

    def fail() -> None:
        raise ValueError("no such page")

    async def engine(run: Run) -> None:
        calls = Calls(run)
        calls.ask("c1", "look", {})
        calls.ask("c2", "fail", {})
        await in_a_thread("look", {}, id="c1")
        with suppress(ValueError):
            await asyncio.to_thread(held_in_thread, "fail", {}, fail, id="c2")
        await latch.wait()

    async with Runtime(engine) as r:
        session = r.session("s")
        heard = heard_by(session)
        await session.send("go")
        await latch.came.wait()
        await until(lambda: len([event for event in heard if event.kind == "result"]) == 2)
        latch.open.set()
        await check_log(session)


@both
@pytest.mark.scenario("E24")
async def test_what_nobody_asked_for_or_is_inside_of_a_tool_is_an_inner_call(tool: Any) -> None:
    found: list[Calls | None] = []

    async def outer() -> str:
        found.append(own_calls())
        return await tool("look", {"n": 1})

    async def engine(run: Run) -> None:
        calls = Calls(run)
        calls.ask("c1", "delegate", {})
        calls.ask("c2", "look", {"n": 1})
        found.append(own_calls())
        await held("delegate", {}, outer, id="c1")
        await tool("look", {"n": 2}, id="of nobody's")
        calls.skip("c2", "no need")
        assert own_calls()  # also if there are none

    assert [(name, nature) for name, nature, _ in await entries(engine)] == [
        ("delegate", ""),
        ("look", ""),
        ("look", "inner"),
        ("look", "inner"),
    ]
    assert found[1] is None
    assert found[0] is not None


@both
@pytest.mark.scenario("E27")
async def test_a_tool_that_was_not_allowed_is_not_called_and_one_that_raises_is_told(
    tool: Any,
) -> None:
    refused: list[NotMade] = []

    def allow(call: Call[object]) -> None:
        if call.name == "wipe":
            raise PermissionError("not here")

    async def engine(run: Run) -> None:
        calls = Calls(run)
        calls.ask("c1", "wipe", {})
        calls.ask("c2", "fail", {})
        try:
            await tool("wipe", {}, id="c1")
        except NotMade as why:
            refused.append(why)

        async def body() -> None:
            raise ValueError("no such page")

        with pytest.raises(ValueError, match="no such page"):
            await held("fail", {}, body, id="c2")

    async with Runtime(engine, before_tool=allow) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        results = [entry for entry in await session.log() if isinstance(entry, Result)]
        await check_log(session)

    assert [str(why) for why in refused] == ["not here"]
    assert [(one.status, one.error) for one in results] == [
        (Status.NOT_STARTED, True),
        (Status.COMPLETED, True),
    ]
    assert results[1].content == "ValueError: no such page"


@pytest.mark.scenario("E27")
async def test_a_thread_waits_for_the_event_loop_no_longer_than_its_run_has_its_session() -> None:
    ended, made = threading.Event(), list[str]()
    came: list[BaseException] = []
    latch = Latch()

    async def ask(_: Call[object]) -> None:
        await latch.wait()

    def work() -> None:
        try:
            held_in_thread("look", {}, lambda: made.append("look"), id="c1")
        except Superseded as error:
            came.append(error)
        finally:
            ended.set()

    async def engine(run: Run) -> None:
        Calls(run).ask("c1", "look", {})
        await asyncio.to_thread(work)

    async with Runtime(engine, before_tool=ask) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        receipt = await session.stop()
        await until(ended.is_set)
        await receipt.settled()
        await check_log(session)

    assert len(came) == 1
    assert made == []
    assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]


@pytest.mark.scenario("E27")
async def test_what_ends_in_a_thread_after_the_stop_is_named_and_changes_nothing() -> None:
    entered, release = threading.Event(), threading.Event()
    loop_says: list[str] = []

    def look() -> str:
        entered.set()
        release.wait(60)
        return "too late"

    async def say(run: Run) -> None:
        await run.emit("more")
        loop_says.append("more")

    async def engine(run: Run) -> None:
        Calls(run).ask("c1", "look", {})

        def work() -> None:
            held_in_thread("look", {}, look, id="c1")
            wait_for(say(run))

        await asyncio.to_thread(work)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(entered.is_set)
        receipt = await session.stop()
        assert [str(left) for left in receipt.unconfirmed] == ["tool look"]
        release.set()
        assert (await receipt.settled()).quiet
        assert "too late" not in str(await session.log())
        await check_log(session)

    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
    assert loop_says == []


@both
@pytest.mark.scenario("E24")
async def test_outside_of_runs_a_tool_does_what_it_did(tool: Any) -> None:
    assert own_calls() is None
    assert await tool("look", {"n": 1}) == "look {'n': 1}"


@pytest.mark.scenario("E24")
async def test_on_the_event_loop_a_tool_that_is_not_async_is_checked_and_cannot_wait() -> None:
    made: list[str] = []

    async def engine(run: Run) -> None:
        Calls(run)
        held_in_thread("look", {}, lambda: made.append("first"))
        try:
            await asyncio.Event().wait()
        finally:
            held_in_thread("look", {}, lambda: made.append("second"))

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(lambda: made)
        await session.stop()

    assert made == ["first"]
