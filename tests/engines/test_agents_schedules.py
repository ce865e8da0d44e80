"""E31. Whatever the order of steps, nothing of an openai-agents agent begins after the stop."""

import asyncio
from itertools import count
from typing import Any

import pytest
from agents import Agent, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from lastword import Outcome, Status
from lastword.core.entries import Called, Result
from lastword.engines.openai_agents import OpenAIAgents
from lastword.testing.seeded import explore
from tests.promise.stories import a_while, check_log, runtime


# the framework leaves a turn of its own unawaited if its task is cancelled before the first step
@pytest.mark.filterwarnings("ignore:.*run_single_turn")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.scenario("E31")
def test_in_every_order_nothing_begins_after_the_stop_and_the_log_says_so(schedules: int) -> None:
    late, cut = list[str](), list[Status]()
    turns = count()

    async def story() -> None:
        deeds: list[tuple[str, str]] = []
        fenced = False

        async def work(name: str) -> str:
            late.extend([name] if fenced else [])
            deeds.append((name, "begun"))
            await asyncio.sleep(0.01)
            deeds.append((name, "ended"))
            return f"done {name}"

        tool: Any = function_tool(work)
        inner = Agent("inner", model=ScriptedModel([[call("c"), call("d")], said]), tools=[tool])
        delegate = function_call("delegate", {"input": "go"}, call_id="delegate")
        outer = Agent(
            "outer",
            model=ScriptedModel([[call("a"), call("b"), delegate], said, said]),
            tools=[tool, inner.as_tool("delegate", "delegates")],
        )
        async with runtime(OpenAIAgents(outer)) as r:
            session = r.session("s")
            await session.send("go")
            turn = next(turns)
            await asyncio.sleep(turn % 4 * 0.004)
            for _ in range(turn % 70):
                await asyncio.sleep(0)
            stopping = session.stop()
            fenced = True
            receipt = await stopping
            await a_while()
            assert (await receipt.settled()).quiet
            log = await session.log()
            results = {one.call: one for one in log if isinstance(one, Result)}
            for one in (entry for entry in log if isinstance(entry, Called)):
                name = one.arguments[-3:-2]
                status = results[one.call].status
                cut.append(status)
                if one.name == "work":
                    assert status is not Status.COMPLETED or (name, "ended") in deeds
                    assert status is not Status.NOT_STARTED or (name, "begun") not in deeds
            fenced = False
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(session)

    explore(story, schedules)
    assert late == []
    assert Status.MAY_HAVE_EXECUTED in cut  # some stops came between


def call(name: str) -> Any:
    return function_call("work", {"name": name}, call_id=name)


said = [assistant_message("done")]
