"""E36. Tools of a graph, wherever they are called: each in the ledger once, none begun late."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from lastword import Call, Outcome, Run, Runtime
from lastword.engines.langgraph import LangGraph
from lastword.testing.provider import Call as Asks
from lastword.testing.provider import Provider
from tests.engines.graphs import asks, calls_of, chat_model, looping
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("E36")
DONE = "completed"


@tool
async def awaited(n: int) -> str:
    """Async."""
    return f"awaited {n}"


@tool
def threaded(n: int) -> str:
    """In a thread."""
    return f"threaded {n} in {threading.current_thread() is threading.main_thread()}"


def by_call(state: Any) -> Any:
    """Not async: it calls tools in its thread, by the calls that the model asked for."""
    known: dict[str, BaseTool] = {"threaded": threaded}
    return {"messages": [known[c["name"]].invoke(c) for c in state["messages"][-1].tool_calls]}


def by_arguments(state: Any) -> Any:
    """The same, and it says to no tool which call it is."""
    calls = state["messages"][-1].tool_calls
    results = [threaded.invoke(call["args"]) for call in calls]
    told = zip(results, calls, strict=True)
    return {"messages": [ToolMessage(text, tool_call_id=call["id"]) for text, call in told]}


def on_a_loop_of_its_own(state: Any) -> Any:
    async def all_of_them() -> Any:
        calls = state["messages"][-1].tool_calls
        return await asyncio.gather(*(awaited.ainvoke(call) for call in calls))

    return {"messages": asyncio.run(all_of_them())}


NODES = {
    "threaded": [by_call, by_arguments, ToolNode([threaded])],
    "awaited": [on_a_loop_of_its_own, ToolNode([awaited])],
}


@pytest.mark.parametrize(
    ("name", "node"), [(name, node) for name, nodes in NODES.items() for node in nodes]
)
async def test_each_call_is_in_the_ledger_once_however_a_node_makes_it(
    name: str, node: Any
) -> None:
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks(name, {"n": 1}), Asks(name, {"n": 2}))
        provider.say("done")
        graph = looping(asks(model, awaited, threaded), node).compile()
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(session)
            made = calls_of(await session.log())
    where = "" if name == "awaited" else " in False"
    assert made == [(name, "", DONE, f"{name} {n}{where}") for n in (1, 2)]
    assert provider.refused == []


@pytest.mark.parametrize("format", ["chat", "anthropic"])
async def test_what_is_asked_for_in_one_answer_is_written_down_before_the_first_begins(
    format: str,
) -> None:
    latch = Latch()

    @tool
    async def first() -> str:
        """Wait."""
        await latch.wait()
        return ""

    async def one_by_one(state: Any) -> Any:
        known: dict[str, BaseTool] = {"first": first, "awaited": awaited}
        calls = state["messages"][-1].tool_calls
        return {"messages": [await known[call["name"]].ainvoke(call) for call in calls]}

    async with Provider() as provider, chat_model(provider, format) as model:
        provider.answer(Asks("first", {}), Asks("awaited", {"n": 1}))
        graph = looping(asks(model, first, awaited), one_by_one).compile()
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()
            provider.say("ok")
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(session)
    statuses = {call.name: str(call.status) for call in receipt.calls}
    assert statuses == {"first": "may have executed", "awaited": "not started"}
    assert provider.refused == []


class Around(AgentMiddleware):
    """What a team puts around tools: it waits between the model's answer and the call."""

    def __init__(self, latch: Latch) -> None:
        super().__init__()
        self._latch = latch

    async def awrap_tool_call(self, request: Any, handler: Callable[..., Any]) -> Any:
        await self._latch.wait_stubbornly()
        return await handler(request)


class Before(AsyncCallbackHandler):
    """What is told of a tool: it waits between the call and the tool's first line."""

    run_inline = True  # so that no cancel gets past it

    def __init__(self, latch: Latch) -> None:
        self._latch = latch

    async def on_tool_start(self, *_: Any, **__: Any) -> None:
        await self._latch.wait_stubbornly()


class BeforeInThread(BaseCallbackHandler):
    """The same, of a tool that has a thread."""

    def __init__(self, latch: Latch) -> None:
        self._latch = latch
        self._loop = asyncio.get_running_loop()

    def on_tool_start(self, *_: Any, **__: Any) -> None:
        asyncio.run_coroutine_threadsafe(self._latch.wait_stubbornly(), self._loop).result()


@pytest.mark.parametrize("kind", [Around, Before, BeforeInThread])
async def test_a_tool_does_not_begin_after_a_stop_whatever_is_around_it(kind: Any) -> None:
    latch, begun = Latch(), list[str]()

    async def act() -> str:
        """Act."""
        begun.append("act")
        return ""

    def act_in_thread() -> str:
        """Act."""
        begun.append("act")
        return ""

    waits = kind(latch)
    own = tool("act")(act_in_thread if kind is BeforeInThread else act)
    own.callbacks = None if kind is Around else [waits]
    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("act", {}))
        graph = create_agent(model, [own], middleware=[waits] if kind is Around else [])
        async with Runtime(LangGraph(graph), grace=0.01) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            stopping = session.stop()
            latch.open.set()
            receipt = await stopping
            await receipt.settled()
    assert begun == []
    assert [str(call.status) for call in receipt.calls] == ["not started"]


async def test_a_call_that_was_not_allowed_is_answered_as_the_framework_answers() -> None:
    def ask(call: Call[object]) -> None:
        if call.arguments == '{"n": 1}':
            raise PermissionError("not that one")

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("threaded", {"n": 1}), Asks("awaited", {"n": 1}))
        provider.answer(Asks("awaited", {"n": 2}))
        provider.say("done")
        graph = create_agent(model, [threaded, awaited])
        async with Runtime(LangGraph(graph), before_tool=ask) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            made = calls_of(await session.log())
        told = [m["content"] for m in provider.requests[-1].messages if m["role"] == "tool"]
    assert [status for _, _, status, _ in made] == ["not started", "not started", DONE]
    assert told[0] == told[1] == "This call was not allowed, and not made: not that one"


async def test_each_attempt_of_a_retried_tool_is_told_as_it_was() -> None:
    tries = list[int]()

    @tool
    async def flaky() -> str:
        """Fail once."""
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("busy")
        return "at last"

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("flaky", {}))
        provider.say("done")
        provider.say("again")
        again = ToolRetryMiddleware(max_retries=1, initial_delay=0)
        async with Runtime(LangGraph(create_agent(model, [flaky], middleware=[again]))) as r:
            session = r.session("s")
            for text in ("go", "and?"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            made = calls_of(await session.log())
            await check_log(session)
    assert made == [("flaky", "", DONE, "ValueError: busy"), ("flaky", "", DONE, "at last")]
    assert provider.refused == []


async def test_a_call_that_reaches_no_tool_is_told_as_its_node_answered_it() -> None:
    async def answers(state: Any) -> Any:
        calls = state["messages"][-1].tool_calls
        return {"messages": [ToolMessage("did it", tool_call_id=c["id"]) for c in calls]}

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("awaited", {"n": 1}))
        provider.say("done")
        graph = looping(asks(model, awaited), answers).compile()
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            await (await session.send("go")).outcome()
            made = calls_of(await session.log())
            provider.answer(Asks("nothing", {}), Asks("awaited", {"n": "x"}))
            provider.say("sorry")
        async with Runtime(LangGraph(create_agent(model, [awaited]))) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            wrong = calls_of(await session.log())
    assert made == [("awaited", "", DONE, "did it")]
    assert [(name, status) for name, _, status, _ in wrong] == [
        ("nothing", "not started"),
        ("awaited", "not started"),
    ]


async def test_a_tool_that_changes_the_state_is_told_by_what_it_says() -> None:
    @tool
    async def move(n: int) -> Any:
        """Change the state."""
        return Command(update={"messages": [ToolMessage(f"moved {n}", tool_call_id="c")]})

    call = {"name": "move", "args": {"n": 3}, "id": "c", "type": "tool_call"}

    async def engine(run: Run) -> None:
        await run.emit(type(await move.ainvoke(call)).__name__)

    async with Runtime(engine) as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        assert calls_of(await session.log()) == [("move", "inner", DONE, "moved 3")]


async def test_a_tool_that_is_not_awaited_on_the_event_loop_is_an_error_that_says_so() -> None:
    async def blocks(state: Any) -> Any:
        return by_call(state)

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.answer(Asks("threaded", {"n": 1}))
        graph = looping(asks(model, threaded), blocks).compile()
        async with Runtime(LangGraph(graph)) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == Outcome.FAILED
            made = calls_of(await session.log())
    assert "`await threaded.ainvoke(...)`" in ticket.error
    assert made == [("threaded", "", "not started", "")]


async def test_two_runs_of_one_graph_at_once_do_not_disturb_each_other() -> None:
    latch = Latch()

    @tool
    async def waits() -> str:
        """Wait."""
        await latch.wait()
        return "waited"

    async with Provider() as provider, chat_model(provider, "chat") as model:
        provider.always(lambda asked: "done" if asked.results else "go on")
        async with Runtime(LangGraph(create_agent(model, [waits]))) as r:
            provider.answer(Asks("waits", {}))
            provider.answer(Asks("waits", {}))
            one, other = r.session("one"), r.session("other")
            await one.send("go")
            ticket = await other.send("go")
            await until(lambda: len(provider.requests) == 2)
            await latch.came.wait()
            assert (await one.stop()).quiet
            latch.open.set()
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(one)
            await check_log(other)
