"""E36. Agents and graphs inside of tools, and of plain engines: held, and named, like any other."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool

from lastword import Outcome, Run, Runtime, Superseded
from lastword.engines.langgraph import LangGraph
from lastword.testing.provider import Call as Asks
from lastword.testing.provider import Provider
from tests.engines.graphs import calls_of, chat_model
from tests.promise.stories import Latch

pytestmark = pytest.mark.scenario("E36")
DONE = "completed"


@tool
def threaded(n: int) -> str:
    """In a thread."""
    return f"threaded {n}"


def nested(how: str, inner: Any) -> BaseTool:
    """A tool that runs an agent."""
    given = {"messages": [HumanMessage("look")]}
    if how == "awaits":

        async def outer() -> str:
            return (await inner.ainvoke(given))["messages"][-1].text

        return tool(description="Ask another.")(outer)

    def outer_() -> str:
        return inner.invoke(given)["messages"][-1].text

    return tool("outer", description="Ask another.")(outer_)


@pytest.mark.parametrize("how", ["awaits", "in its thread"])
async def test_what_an_agent_in_a_tool_calls_is_held_and_named_and_not_the_model_s(
    how: str,
) -> None:
    heard = list[str]()
    async with Provider() as provider, chat_model(provider, "chat") as model:
        outer = nested(how, create_agent(model, [threaded]))
        provider.answer("Hm. ", Asks("outer", {}))
        provider.answer("inner words", Asks("threaded", {"n": 1}))
        provider.say("found it")
        provider.say("Done.")
        engine = LangGraph(create_agent(model, [outer]))
        async with Runtime(engine, sink=lambda event: heard.append(str(event))) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            made = calls_of(await session.log())
            shown = [item.name for item in await session.history() if item.role == "call"]
    assert [(name, nature) for name, nature, _, _ in made] == [("outer", ""), ("threaded", "inner")]
    assert made[0][3] == "found it"
    assert shown == ["outer"]
    assert "".join(heard) == "Hm. Done."


@pytest.mark.parametrize("how", ["awaits", "in its thread"])
async def test_a_stop_reaches_an_agent_in_a_tool(how: str) -> None:
    latch, after = Latch(), list[str]()

    @tool
    async def waits() -> str:
        """Wait."""
        await latch.wait()
        return ""

    @tool
    def blocks() -> str:
        """Wait, in a thread."""
        asyncio.run_coroutine_threadsafe(latch.wait(), loop).result()
        return ""

    loop = asyncio.get_running_loop()
    own = waits if how == "awaits" else blocks
    async with Provider() as provider, chat_model(provider, "chat") as model:
        inner = create_agent(model, [own, threaded])
        provider.answer(Asks("outer", {}))
        provider.answer(Asks(own.name, {}))
        provider.always(lambda _: after.append("asked") or "late")
        async with Runtime(LangGraph(create_agent(model, [nested(how, inner)])), grace=0.01) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            stopping = session.stop()
            latch.open.set()
            receipt = await stopping
            settled = await receipt.settled()
    assert {call.name for call in receipt.calls} == {"outer", own.name}
    assert settled.quiet
    assert after == []


async def test_a_tool_that_a_plain_engine_calls_is_held_to_its_run() -> None:
    latch, begun = Latch(), list[str]()

    @tool
    async def act() -> str:
        """Act."""
        begun.append("act")
        return ""

    async def engine(run: Run) -> None:
        await act.ainvoke({})
        await latch.wait_stubbornly()
        with pytest.raises(Superseded):
            await act.ainvoke({})
        with pytest.raises(Superseded):
            await asyncio.to_thread(act.invoke, {})

    async with Runtime(engine, grace=0.01) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        stopping = session.stop()
        latch.open.set()
        await (await stopping).settled()
        made = calls_of(await session.log())
    assert begun == ["act"]
    assert made[0] == ("act", "inner", DONE, "[completed]")


async def test_outside_of_runs_tools_and_models_are_as_they_were() -> None:
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("threaded", {"n": 1}))
        provider.say("done")
        graph = create_agent(model, [threaded])
        given: Any = {"messages": [HumanMessage("go")]}
        answer = await graph.ainvoke(given)
    assert answer["messages"][-1].text == "done"
    assert threaded.invoke({"n": 1}).startswith("threaded 1")
