"""Where the code of others waits between the order to call a tool and the tool's first line.

Each place makes an agent whose tool `act` is behind a latch that is deaf to cancellation, as nobody
can rely on it not being.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mcp.server.mcpserver import MCPServer
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability, Hooks, UseThreadExecutor
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import (
    AbstractToolset,
    FilteredToolset,
    FunctionToolset,
    PrefixedToolset,
    PreparedToolset,
    WrapperToolset,
)
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from tests.engines.scripted import calls_once
from tests.promise.stories import Latch

Made = Callable[[Latch, list[str]], Agent[Any, Any]]


def with_act(agent: Agent[Any, Any], acted: list[str]) -> Agent[Any, Any]:
    act: Callable[[], Awaitable[str]] = acting(acted)
    agent.tool_plain(act)
    return agent


def tools(acted: list[str]) -> FunctionToolset[Any]:
    return FunctionToolset([acting(acted)])


def acting(acted: list[str]) -> Callable[[], Awaitable[str]]:
    async def act() -> str:
        acted.append("acted")
        return "acted"

    return act


def behind_a_hook_before_the_tool(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    hooks: Hooks[Any] = Hooks()

    @hooks.on.before_tool_execute
    async def wait(ctx: RunContext[Any], **given: Any) -> Any:
        await latch.wait_stubbornly()
        return given["args"]

    return with_act(Agent(calls_once("act"), capabilities=[hooks]), acted)


def behind_a_hook_around_the_tool(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    class Waits(AbstractCapability[Any]):
        async def wrap_tool_execute(self, ctx: Any, **given: Any) -> Any:
            await latch.wait_stubbornly()
            return await given["handler"](given["args"])

    return with_act(Agent(calls_once("act"), capabilities=[Waits()]), acted)


def behind_a_wrapper_of_the_team_s(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    class Waits(WrapperToolset[Any]):
        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            await latch.wait_stubbornly()
            return await super().call_tool(name, tool_args, ctx, tool)

    return Agent(calls_once("act"), toolsets=[Waits(tools(acted))])


def behind_a_wrapper_in_a_capability(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    class Waits(WrapperToolset[Any]):
        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            await latch.wait_stubbornly()
            return await super().call_tool(name, tool_args, ctx, tool)

    class Around(AbstractCapability[Any]):
        def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
            return Waits(toolset)

    return with_act(Agent(calls_once("act"), capabilities=[Around()]), acted)


def behind_prepared_filtered_and_renamed_toolsets(
    latch: Latch, acted: list[str]
) -> Agent[Any, Any]:
    class Waits(WrapperToolset[Any]):
        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            await latch.wait_stubbornly()
            return await super().call_tool(name, tool_args, ctx, tool)

    async def all_of_them(ctx: Any, defs: list[ToolDefinition]) -> list[ToolDefinition]:
        return defs

    def every(*_: object) -> bool:
        return True

    inner = PreparedToolset(FilteredToolset(tools(acted), every), all_of_them)
    renamed = PrefixedToolset(inner, "my").renamed({"deed": "my_act"})
    return Agent(calls_once("deed"), toolsets=[Waits(renamed)])


def behind_a_toolset_that_is_made_anew(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    agent = Agent(calls_once("act"))

    @agent.toolset(per_run_step=True)
    def made(ctx: RunContext[Any]) -> AbstractToolset[Any]:
        class Waits(WrapperToolset[Any]):
            async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
                await latch.wait_stubbornly()
                return await super().call_tool(name, tool_args, ctx, tool)

        return Waits(tools(acted))

    return agent


def in_a_toolset_of_the_team_s_behind_a_hook(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    class Own(AbstractToolset[Any]):
        @property
        def id(self) -> str:
            return "own"

        async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
            act = ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(name="act"),
                max_retries=1,
                args_validator=SchemaValidator(core_schema.dict_schema()),
            )
            return {"act": act}

        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> str:
            acted.append("acted")
            return "acted"

    hooks: Hooks[Any] = Hooks()

    @hooks.on.before_tool_execute
    async def wait(ctx: RunContext[Any], **given: Any) -> Any:
        await latch.wait_stubbornly()
        return given["args"]

    return Agent(calls_once("act"), toolsets=[Own()], capabilities=[hooks])


def in_a_thread_of_a_nested_agent_s_own(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    loop = asyncio.get_running_loop()

    class Late(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            def wait() -> Any:
                loop.call_soon_threadsafe(latch.came.set)
                asyncio.run_coroutine_threadsafe(latch.open.wait(), loop).result()
                return fn(*args, **kwargs)

            return super().submit(wait)

    inner = Agent(calls_once("act"), capabilities=[UseThreadExecutor(Late(1))])
    outer = Agent(calls_once("delegate"))

    @inner.tool_plain
    def act() -> str:
        acted.append("acted")
        return "acted"

    @outer.tool_plain
    async def delegate() -> str:
        return (await inner.run("act")).output

    return outer


def in_an_mcp_server_behind_a_processor(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    server: Any = MCPServer("here")

    @server.tool()
    def act() -> str:
        acted.append("acted")
        return "acted"

    async def process(ctx: Any, call: Any, name: str, args: dict[str, Any]) -> Any:
        await latch.wait_stubbornly()
        return await call(name, args)

    toolset: Any = MCPToolset(server, process_tool_call=process)
    return Agent(calls_once("act"), toolsets=[toolset])


def in_an_agent_in_a_plain_task(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    hooks: Hooks[Any] = Hooks()

    @hooks.on.before_tool_execute
    async def wait(ctx: RunContext[Any], **given: Any) -> Any:
        await latch.wait_stubbornly()
        return given["args"]

    inner = with_act(Agent(calls_once("act"), capabilities=[hooks]), acted)
    outer = Agent(calls_once("delegate"))
    tasks: set[asyncio.Task[Any]] = set()

    @outer.tool_plain
    async def delegate() -> str:
        tasks.add(asyncio.create_task(inner.run("act")))
        await asyncio.Event().wait()
        return "never"

    return outer


def in_an_agent_in_a_thread_with_its_own_loop(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    loop = asyncio.get_running_loop()
    hooks: Hooks[Any] = Hooks()

    @hooks.on.before_tool_execute
    async def wait(ctx: RunContext[Any], **given: Any) -> Any:
        loop.call_soon_threadsafe(latch.came.set)
        asyncio.run_coroutine_threadsafe(latch.open.wait(), loop).result()
        return given["args"]

    inner = with_act(Agent(calls_once("act"), capabilities=[hooks]), acted)
    outer = Agent(calls_once("delegate"))

    @outer.tool_plain
    def delegate() -> str:
        return asyncio.run(inner.run("act")).output

    return outer


def in_an_output_function_behind_a_hook(latch: Latch, acted: list[str]) -> Agent[Any, Any]:
    class Waits(AbstractCapability[Any]):
        async def wrap_output_process(self, ctx: Any, **given: Any) -> Any:
            await latch.wait_stubbornly()
            return await given["handler"](given["output"])

    async def act() -> str:
        acted.append("acted")
        return "acted"

    return Agent(calls_once("final_result"), output_type=act, capabilities=[Waits()])


PLACES: list[Made] = [
    behind_a_hook_before_the_tool,
    behind_a_hook_around_the_tool,
    behind_a_wrapper_of_the_team_s,
    behind_a_wrapper_in_a_capability,
    behind_prepared_filtered_and_renamed_toolsets,
    behind_a_toolset_that_is_made_anew,
    in_a_toolset_of_the_team_s_behind_a_hook,
    in_a_thread_of_a_nested_agent_s_own,
    in_an_mcp_server_behind_a_processor,
    in_an_agent_in_a_plain_task,
    in_an_agent_in_a_thread_with_its_own_loop,
    in_an_output_function_behind_a_hook,
]
