"""R2. The check is in the step of a tool's first line, whatever the framework has in between."""

import asyncio
import threading
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import Hooks

from lastword import Outcome, Runtime, Status, Ticket
from lastword.core.entries import Result
from lastword.engines.pydantic_ai import PydanticAI
from lastword.errors import Superseded
from lastword.runtime.call import Call
from tests.engines.places import (
    PLACES,
    Made,
    behind_a_hook_around_the_tool,
    behind_a_hook_before_the_tool,
    in_a_toolset_of_the_team_s_behind_a_hook,
    in_an_agent_in_a_plain_task,
    in_an_mcp_server_behind_a_processor,
    with_act,
)
from tests.engines.scripted import calls_once
from tests.promise.stories import Latch
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("R2", part="agent")


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
async def test_a_tool_does_not_begin_after_the_stop(place: Made) -> None:
    latch, acted = Latch(), list[str]()
    async with Runtime(PydanticAI(place(latch, acted)), grace=0.1, deadline=0.2) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        receipt = await session.stop()
        statuses = {call.status for call in receipt.calls}
        latch.open.set()
        await receipt.settled()
        await turns()

    assert acted == []
    assert Status.COMPLETED not in statuses


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
async def test_the_same_tool_begins_and_ends_if_nobody_stops_it(place: Made) -> None:
    latch, acted = Latch(), list[str]()
    async with Runtime(PydanticAI(place(latch, acted))) as r:
        session = r.session("s")
        ticket = await session.send("go")
        latch.open.set()
        if place is in_an_agent_in_a_plain_task:
            await until(lambda: acted)
            await session.stop()
        else:
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert acted == ["acted"]


@pytest.mark.parametrize(
    "place",
    [
        behind_a_hook_before_the_tool,
        behind_a_hook_around_the_tool,
        in_a_toolset_of_the_team_s_behind_a_hook,
        in_an_mcp_server_behind_a_processor,
    ],
    ids=lambda place: place.__name__,
)
async def test_a_tool_that_a_hook_kept_waiting_is_told_as_not_started(place: Made) -> None:
    latch, acted = Latch(), list[str]()
    async with Runtime(PydanticAI(place(latch, acted)), grace=0.1, deadline=0.2) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        receipt = await session.stop()
        latch.open.set()

    assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]


async def test_a_stop_waits_for_a_tool_of_an_agent_in_a_plain_task_and_names_it() -> None:
    latch, left = Latch(), list[asyncio.Task[Any]]()
    inner: Agent[Any, str] = Agent(calls_once("dig"))
    outer: Agent[Any, str] = Agent(calls_once("delegate"))

    @inner.tool_plain
    async def dig() -> str:
        await latch.wait_stubbornly()
        return "dug"

    @outer.tool_plain
    async def delegate() -> str:
        left.append(asyncio.create_task(inner.run("dig")))
        await latch.came.wait()
        return "it digs"

    async with Runtime(PydanticAI(outer), grace=0.1, deadline=0.2) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        receipt = await session.stop()
        assert not receipt.quiet
        assert [one.name for one in receipt.unconfirmed if one.kind == "tool"] == ["dig"]

        latch.open.set()
        assert (await receipt.settled()).quiet
        await asyncio.wait(left)
        assert isinstance(left[0].exception(), Superseded)


async def test_a_stubborn_tool_is_named_once_thread_or_not() -> None:
    latch, free, came = Latch(), threading.Event(), threading.Event()
    agent: Agent[Any, str] = Agent(calls_once("soft", "hard"))

    @agent.tool_plain
    async def soft() -> str:
        await latch.wait_stubbornly()
        return "soft"

    @agent.tool_plain
    def hard() -> str:
        came.set()
        free.wait()
        return "hard"

    async with Runtime(PydanticAI(agent), grace=0.1, deadline=0.2) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        await until(came.is_set)
        receipt = await session.stop()
        tools = sorted(one.name for one in receipt.unconfirmed if one.kind == "tool")
        latch.open.set()
        free.set()
        assert (await receipt.settled()).quiet

    assert tools == ["hard", "soft"]
    assert {call.status for call in receipt.calls} == {Status.MAY_HAVE_EXECUTED}


async def test_what_a_hook_answers_in_a_tool_s_place_is_the_call_s_result() -> None:
    acted: list[str] = []
    hooks: Hooks[Any] = Hooks()

    @hooks.on.tool_execute
    async def remember(ctx: RunContext[Any], **given: Any) -> str:
        return "as before"

    agent = with_act(Agent(calls_once("act"), capabilities=[hooks]), acted)
    async with Runtime(PydanticAI(agent)) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [call] = [one for one in await session.log() if isinstance(one, Result)]

    assert (call.status, call.content) == (Status.COMPLETED, "as before")
    assert acted == []


async def test_what_is_asked_before_a_tool_is_asked_before_its_hooks_run() -> None:
    heard: list[str] = []
    hooks: Hooks[Any] = Hooks()

    @hooks.on.before_tool_execute
    async def look(ctx: RunContext[Any], **given: Any) -> Any:
        heard.append("hook")
        return given["args"]

    async def asked(call: Call[Any]) -> None:
        heard.append("asked")

    agent = with_act(Agent(calls_once("act"), capabilities=[hooks]), heard)
    async with Runtime(PydanticAI(agent), before_tool=asked) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert heard == ["asked", "hook", "acted"]


async def comes(latch: Latch, ticket: Ticket) -> None:
    """Return when the run has come to the latch; an error if it ended before."""
    came = asyncio.create_task(latch.came.wait())
    ended = asyncio.create_task(ticket.outcome())
    await asyncio.wait([came, ended], return_when=asyncio.FIRST_COMPLETED)
    assert came.done(), ticket.error
    ended.cancel()


async def turns() -> None:
    """As many turns of the loop as anything that was let go takes to come to its tool."""
    for _ in range(200):
        await asyncio.sleep(0)
