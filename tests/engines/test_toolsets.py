"""E11. The check is at the first line of a toolset's call, however the toolset comes by it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.output import Choice, Choices
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, WrapperToolset

from lastword import Outcome, Runtime, Status
from lastword.engines.pydantic_ai import PydanticAI
from tests.engines.places import tools
from tests.engines.scripted import Says, calls_once, scripted
from tests.engines.test_innermost import comes, turns
from tests.promise.stories import Latch

pytestmark = pytest.mark.scenario("E11", part="agent")
Toolset = Callable[[list[str]], AbstractToolset[Any]]


def acts(acted: list[str]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> str:
        acted.append("acted")
        return "acted"

    return call


def of_a_mixin(acted: list[str]) -> AbstractToolset[Any]:
    class Mixin:
        async def call_tool(self, *args: Any, **kwargs: Any) -> str:
            acted.append("acted")
            return "acted"

    class Mixed(Mixin, FunctionToolset[Any]):
        pass

    mixed = Mixed()
    mixed.tools.update(tools(acted).tools)
    return mixed


def put_on_the_object(acted: list[str]) -> AbstractToolset[Any]:
    toolset: Any = tools(acted)
    toolset.call_tool = acts(acted)
    return toolset


def a_static_method(acted: list[str]) -> AbstractToolset[Any]:
    class Static(WrapperToolset[Any]):
        call_tool = staticmethod(acts(acted))

    return Static(tools(acted))


def made_up_as_it_is_read(acted: list[str]) -> AbstractToolset[Any]:
    class MadeUp(WrapperToolset[Any]):
        def __getattribute__(self, name: str) -> Any:
            return acts(acted) if name == "call_tool" else super().__getattribute__(name)

    return MadeUp(tools(acted))


def a_function_of_the_tool_s(acted: list[str]) -> AbstractToolset[Any]:
    class Replaced(FunctionToolset[Any]):
        async def get_tools(self, ctx: RunContext[Any]) -> Any:
            made: dict[str, Any] = await super().get_tools(ctx)
            return {
                name: dataclasses.replace(tool, call_func=acts(acted))
                for name, tool in made.items()
            }

    replaced = Replaced()
    replaced.tools.update(tools(acted).tools)
    return replaced


class Late(WrapperToolset[Any]):
    """Is given its method by the hook, when it is about to be called."""


def put_on_the_class_late(acted: list[str]) -> AbstractToolset[Any]:
    return Late(tools(acted))


def of_nobody_s_kind(acted: list[str]) -> AbstractToolset[Any]:
    class Foreign:
        def __init__(self) -> None:
            self.own = tools(acted)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.own, name)

        async def for_run(self, ctx: Any) -> Any:
            return self

        async def for_run_step(self, ctx: Any) -> Any:
            return self

        async def __aenter__(self) -> Any:
            return self

        async def __aexit__(self, *why: object) -> None:
            return None

        async def call_tool(self, *args: Any, **kwargs: Any) -> str:
            return await acts(acted)()

    foreign: Any = Foreign()
    return WrapperToolset(foreign)


KINDS: list[Toolset] = [
    of_a_mixin,
    put_on_the_object,
    a_static_method,
    made_up_as_it_is_read,
    a_function_of_the_tool_s,
    put_on_the_class_late,
    of_nobody_s_kind,
]


def behind_a_hook(kind: Toolset, latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    class Waits(AbstractCapability[Any]):
        async def wrap_tool_execute(self, ctx: Any, **given: Any) -> Any:
            Late.call_tool = acts(acted)
            await latch.wait_stubbornly()
            return await given["handler"](given["args"])

    return Agent(calls_once("act"), toolsets=[kind(acted)], capabilities=[Waits()])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_its_tool_does_not_begin_after_the_stop_and_is_told_as_not_started(
    kind: Toolset,
) -> None:
    latch, acted = Latch(), list[str]()
    engine = PydanticAI(behind_a_hook(kind, latch, acted))
    async with Runtime(engine, grace=0.1, deadline=0.2) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        receipt = await session.stop()
        latch.open.set()
        await receipt.settled()
        await turns()

    assert acted == []
    assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_its_tool_begins_and_ends_if_nobody_stops_it(kind: Toolset) -> None:
    latch, acted = Latch(), list[str]()
    async with Runtime(PydanticAI(behind_a_hook(kind, latch, acted))) as r:
        ticket = await r.session("s").send("go")
        latch.open.set()
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert acted == ["acted"]


async def test_what_a_toolset_inherits_does_not_begin_after_the_stop() -> None:
    latch, acted = Latch(), list[str]()

    class Acts(WrapperToolset[Any]):
        async def call_tool(self, *args: Any, **kwargs: Any) -> str:
            return await acts(acted)()

    class Waits(Acts):
        async def call_tool(self, *args: Any, **kwargs: Any) -> str:
            await latch.wait_stubbornly()
            return await super().call_tool(*args, **kwargs)

    agent: Agent[Any, Any] = Agent(calls_once("act"), toolsets=[Waits(tools(acted))])
    await not_after_the_stop(agent, latch)
    assert acted == []


async def test_a_processor_of_mcp_calls_does_not_begin_after_the_stop() -> None:
    latch, acted = Latch(), list[str]()

    async def process(ctx: Any, call: Any, name: str, args: Any) -> Any:
        acted.append("acted")
        return "acted"

    server: Any = MCPServer("here")
    server.tool(name="act")(lambda: "acted")

    def processed(_: list[str]) -> AbstractToolset[Any]:
        return MCPToolset(server, process_tool_call=process)

    await not_after_the_stop(behind_a_hook(processed, latch, acted), latch)
    assert acted == []


async def test_a_function_that_a_model_chose_does_not_begin_after_the_stop() -> None:
    latch, acted = Latch(), list[str]()

    class Waits(AbstractCapability[Any]):
        async def wrap_output_process(self, ctx: Any, **given: Any) -> Any:
            await latch.wait_stubbornly()
            return await given["handler"](given["output"])

    def answer(_: object) -> Says:
        return [("final_result", {"response": "act"})]

    choice: Any = Choices({"act": Choice("it acts", value=acts(acted))})
    agent: Agent[Any, Any] = Agent(scripted(answer), output_type=choice, capabilities=[Waits()])
    await not_after_the_stop(agent, latch)
    assert acted == []


async def not_after_the_stop(agent: Agent[Any, Any], latch: Latch) -> None:
    """Return when all that it could do after a stop that found it waiting would be done."""
    async with Runtime(PydanticAI(agent), grace=0.1, deadline=0.2) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        receipt = await session.stop()
        latch.open.set()
        await receipt.settled()
        await turns()
