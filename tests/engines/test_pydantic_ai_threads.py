"""E46. A thread that a tool of a pydantic-ai agent waits for, when no engine of ours runs it."""

import asyncio
import threading

import pytest
from pydantic_ai import Agent

from lastword import Run, Runtime
from lastword.engines.pydantic_ai import Fenced
from tests.engines.scripted import calls_once
from tests.promise.workshop import until


@pytest.mark.scenario("E46")
async def test_a_thread_of_an_agent_in_a_plain_engine_is_named_until_it_ends() -> None:
    began, end = threading.Event(), threading.Event()
    agent = Agent(calls_once("look"), capabilities=[Fenced()])

    def work() -> str:
        began.set()
        end.wait(30)
        return "too late"

    @agent.tool_plain
    async def look() -> str:
        return await asyncio.to_thread(work)

    async def engine(run: Run) -> None:
        await agent.run("go")

    async with Runtime(engine, deadline=0.5, grace=0.1) as r:
        session = r.session("s")
        await session.send("go")
        await until(began.is_set)
        receipt = await session.stop()
        end.set()
        assert [str(left) for left in receipt.unconfirmed] == ["tool work"]
        assert (await receipt.settled()).quiet
