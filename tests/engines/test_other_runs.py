"""E14, E15. An agent is held to the run that runs it: to that one, in whatever engine's run."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from lastword import Receipt, Run, Runtime, Superseded
from lastword.engines.pydantic_ai import PydanticAI
from tests.engines.places import with_act
from tests.engines.scripted import calls_once
from tests.promise.stories import Latch
from tests.promise.workshop import until

Start = Callable[[Run, Runtime, Runtime], Awaitable[object]]


async def a_kept_child(run: Run, here: Runtime, there: Runtime) -> object:
    return await run.child("work", keep=True)


async def a_run_of_another_session(run: Run, here: Runtime, there: Runtime) -> object:
    return await here.session("other").send("work")


async def a_run_of_another_runtime(run: Run, here: Runtime, there: Runtime) -> object:
    return await there.session("other").send("work")


@pytest.mark.scenario("E14", part="agent")
@pytest.mark.parametrize(
    "start",
    [a_kept_child, a_run_of_another_session, a_run_of_another_runtime],
    ids=lambda start: start.__name__,
)
@pytest.mark.parametrize("sync", [False, True], ids=["async tool", "sync tool"])
async def test_a_run_that_was_started_in_a_call_is_not_held_to_the_run_of_that_call(
    start: Start, sync: bool
) -> None:
    latch, acted, ended = Latch(), list[str](), asyncio.Event()
    outer: Agent[Run, str] = Agent(calls_once("delegate"), deps_type=Run)
    inner: Agent[Any, str] = Agent(calls_once("act"))
    errors: list[Superseded] = []

    def act() -> str:
        acted.append("acted")
        return "acted"

    if sync:
        inner.tool_plain(act)
    else:
        with_act(inner, acted)

    @outer.tool
    async def delegate(ctx: RunContext[Run]) -> str:
        await start(ctx.deps, here, there)
        await asyncio.Event().wait()
        return "never"

    delegating = PydanticAI(outer, deps=lambda run: run)

    async def engine(run: Run) -> None:
        if run.message.text != "work":
            await delegating(run)
            return
        await latch.wait()
        try:
            await inner.run("act")
        except Superseded as error:
            errors.append(error)
        ended.set()

    async with Runtime(engine) as here, Runtime(engine) as there:
        session = here.session("s")
        await session.send("go")
        await latch.came.wait()
        await session.stop()
        latch.open.set()
        await ended.wait()

    assert errors == []
    assert acted == ["acted"]


@pytest.mark.scenario("E14", part="agent")
async def test_an_agent_in_a_plain_engine_s_run_asks_and_calls_nothing_after_the_stop() -> None:
    did, came, free = list[str](), threading.Event(), threading.Event()
    ended = threading.Event()

    async def model(*_: object) -> ModelResponse:
        did.append("asked")
        if len(did) > 1:
            return ModelResponse([TextPart("done")])
        came.set()
        while not free.is_set():
            await asyncio.sleep(0.001)
        return ModelResponse([ToolCallPart("act", {})])

    agent = with_act(Agent(FunctionModel(model)), did)

    def tool() -> str:
        try:
            return asyncio.run(agent.run("act")).output
        finally:
            ended.set()

    async def engine(run: Run) -> None:
        await run.call(tool)

    async with Runtime(engine) as r:
        session = r.session("s")
        await session.send("go")
        await until(came.is_set)
        await session.stop()
        free.set()
        await until(ended.is_set)

    assert did == ["asked"]


@pytest.mark.scenario("E14", part="agent")
async def test_what_a_run_left_behind_that_ended_by_itself_goes_on() -> None:
    latch, acted, left = Latch(), list[str](), list[asyncio.Task[Any]]()
    agent = with_act(Agent(calls_once("act")), acted)

    async def engine(run: Run) -> None:
        async def poll() -> None:
            await latch.wait()
            await agent.run("act")

        left.append(asyncio.create_task(poll()))

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        await ticket.outcome()
        await latch.came.wait()
        latch.open.set()
        await asyncio.gather(*left)

    assert acted == ["acted"]


@pytest.mark.scenario("E15", part="agent")
async def test_a_framework_s_thread_is_not_over_with_the_tool_that_it_had_called() -> None:
    came, free = threading.Event(), threading.Event()
    agent: Agent[Any, str] = Agent(calls_once("act"))
    inner = with_act(Agent(calls_once("act")), [])
    tried: list[Receipt] = []

    @agent.instructions
    def instructions() -> str:
        asyncio.run(inner.run("act"))
        came.set()
        free.wait()
        tried.append(other.stop_soon().result())
        return "be nice"

    delegating = PydanticAI(agent)

    async def engine(run: Run) -> None:
        if run.session == "other":
            await asyncio.Event().wait()
        await delegating(run)

    async with Runtime(engine) as r:
        other = r.session("other")
        await other.send("work")
        session = r.session("s")
        await session.send("go")
        await until(came.is_set)
        receipt = await session.stop()
        assert not receipt.quiet
        assert [one.kind for one in receipt.unconfirmed] == ["tool"]

        free.set()
        assert (await receipt.settled()).quiet
        await until(lambda: tried)
        assert not tried[0].runs
        assert other.active
