"""E31. Between the framework's order and a tool's first line: what waits there begins no more.

Hooks, guardrails, policies and servers of the team's stand there, deaf to cancellation; the check
is behind them. What an MCP server was asked to do it does to the end, and is told so.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    RunHooks,
    ToolExecutionConfig,
    ToolGuardrailFunctionOutput,
    function_tool,
    tool_input_guardrail,
)
from agents.mcp import MCPServer, MCPServerStdio
from agents.tool_context import ToolContext
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as McpTool

from lastword import Outcome, Runtime, Status
from lastword.core.entries import Result
from lastword.engines.openai_agents import OpenAIAgents
from lastword.testing.provider import Call as Asks
from lastword.testing.provider import Provider
from tests.engines.subject_agents import agents_model
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.scenario("E31")
Made = Callable[[Latch, list[str]], dict[str, Any]]


def acting(acted: list[str], **settings: Any) -> FunctionTool:
    async def act() -> str:
        acted.append("acted")
        return "acted"

    return function_tool(act, **settings)


class Waits(RunHooks[Any]):
    def __init__(self, latch: Latch) -> None:
        self._latch = latch

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        await self._latch.wait_stubbornly()


def behind_a_hook(latch: Latch, acted: list[str]) -> dict[str, Any]:
    return {"tools": [acting(acted)], "run_hooks": Waits(latch)}


def behind_a_hook_and_a_timeout(latch: Latch, acted: list[str]) -> dict[str, Any]:
    return {"tools": [acting(acted, timeout=60)], "run_hooks": Waits(latch)}


def behind_a_guardrail(latch: Latch, acted: list[str]) -> dict[str, Any]:
    @tool_input_guardrail
    async def wait(data: Any) -> ToolGuardrailFunctionOutput:
        await latch.wait_stubbornly()
        return ToolGuardrailFunctionOutput.allow()

    return {"tools": [acting(acted, tool_input_guardrails=[wait])]}


def behind_a_policy(latch: Latch, acted: list[str]) -> dict[str, Any]:
    async def wait(ctx: Any, arguments: Any, call: str) -> bool:
        await latch.wait_stubbornly()
        return False

    return {"tools": [acting(acted, needs_approval=wait)]}


def in_a_tool_without_a_function(latch: Latch, acted: list[str]) -> dict[str, Any]:
    async def act(ctx: ToolContext[Any], arguments: str) -> str:
        acted.append("acted")
        return "acted"

    schema: Any = {"type": "object", "properties": {}, "additionalProperties": False}
    return {"tools": [FunctionTool("act", "acts", schema, act)], "run_hooks": Waits(latch)}


def in_a_thread_behind_a_hook(latch: Latch, acted: list[str]) -> dict[str, Any]:
    def act() -> str:
        acted.append("acted")
        return "acted"

    return {"tools": [function_tool(act)], "run_hooks": Waits(latch)}


class Own(MCPServer):
    """A server of the team's own, without the usual client."""

    def __init__(self, latch: Latch, acted: list[str]) -> None:
        super().__init__(tool_meta_resolver=self._wait)
        self._latch = latch
        self._acted = acted

    async def _wait(self, context: Any) -> None:
        await self._latch.wait_stubbornly()

    @property
    def name(self) -> str:
        return "own"

    async def connect(self) -> None: ...
    async def cleanup(self) -> None: ...

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[McpTool]:
        return [McpTool(name="act", input_schema={"type": "object", "properties": {}})]

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> CallToolResult:
        self._acted.append("acted")
        return CallToolResult(content=[TextContent(type="text", text="acted")])

    async def list_prompts(self) -> Any: ...
    async def get_prompt(self, name: str, arguments: Any = None) -> Any: ...


PLACES: list[Made] = [
    behind_a_hook,
    behind_a_hook_and_a_timeout,
    behind_a_guardrail,
    behind_a_policy,
    in_a_tool_without_a_function,
    in_a_thread_behind_a_hook,
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("nested", [False, True], ids=["own", "nested"])
async def test_nothing_begins_behind_it_once_the_run_is_stopped(place: Made, nested: bool) -> None:
    latch, acted = Latch(), list[str]()
    async with Provider() as provider, agents_model(provider, "responses") as model:
        made = place(latch, acted)
        hooks = made.pop("run_hooks", None)
        agent = Agent("actor", model=model, **made)
        if nested:
            provider.answer(Asks("delegate", {"input": "act"}))
            agent = Agent("outer", model=model, tools=[agent.as_tool("delegate", "d", hooks=hooks)])
            hooks = None
        provider.answer(Asks("act", {}))
        async with Runtime(OpenAIAgents(agent, hooks=hooks)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()
            latch.open.set()
            await receipt.settled()
            for _ in range(100):  # whatever would begin now gets round to it
                await asyncio.sleep(0)
            status = {call.name: call.status for call in receipt.calls}
            assert status.get("act", Status.NOT_STARTED) is Status.NOT_STARTED
            await check_log(session)
    assert acted == []


async def test_the_same_place_is_passed_where_nobody_stops() -> None:
    for place in PLACES:
        latch, acted = Latch(), list[str]()
        latch.open.set()
        async with Provider() as provider, agents_model(provider, "responses") as model:
            made = place(latch, acted)
            hooks = made.pop("run_hooks", None)
            provider.answer(Asks("act", {}))
            provider.say("Done.")
            agent = Agent("actor", model=model, **made)
            async with Runtime(OpenAIAgents(agent, hooks=hooks)) as r:
                session = r.session("s")
                ticket = await session.send("go")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
                [result] = [one for one in await session.log() if isinstance(one, Result)]
        assert (acted, result.status, result.content) == (["acted"], Status.COMPLETED, "acted")


SERVER = """
import sys, time
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")


@server.tool()
def note(n: int) -> str:
    with open(sys.argv[1], "a") as log:
        log.write(f"begin {n}\\n")
    time.sleep(3 if n == 2 else 0)
    return f"noted {n}"


server.run()
"""


async def test_a_tool_of_an_mcp_server_is_in_the_log_and_may_have_executed_at_a_stop(
    tmp_path: Path,
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    log = tmp_path / "log"
    started: Any = {"command": sys.executable, "args": [str(tmp_path / "server.py"), str(log)]}
    async with (
        Provider() as provider,
        agents_model(provider, "responses") as model,
        MCPServerStdio(started, client_session_timeout_seconds=60) as server,
    ):
        provider.answer(Asks("note", {"n": 1}))
        provider.say("Noted.")
        provider.answer(Asks("note", {"n": 2}))
        provider.say("Maybe.")
        async with Runtime(OpenAIAgents(Agent("m", model=model, mcp_servers=[server]))) as r:
            session = r.session("s")
            ticket = await session.send("note")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await session.send("again")
            await until(lambda: "begin 2" in log.read_text())
            receipt = await session.stop()
            assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
            ticket = await session.send("and?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            entries = await session.log()
            await check_log(session)
        assert provider.refused == []
    assert [one.content for one in entries if isinstance(one, Result)] == ["noted 1", ""]


@pytest.mark.parametrize("stopped", [False, True])
async def test_a_server_of_the_team_s_own_is_asked_only_while_the_run_may_act(
    stopped: bool,
) -> None:
    latch, acted = Latch(), list[str]()
    async with Provider() as provider, agents_model(provider, "responses") as model:
        provider.answer(Asks("act", {}))
        provider.say("Done.")
        agent = Agent("m", model=model, mcp_servers=[Own(latch, acted)])
        async with Runtime(OpenAIAgents(agent)) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await latch.came.wait()
            receipt = await session.stop() if stopped else None
            latch.open.set()
            if receipt:
                await receipt.settled()
            await ticket.outcome()
            [result] = [one for one in await session.log() if isinstance(one, Result)]
    assert acted == ([] if stopped else ["acted"])
    assert result.status is not Status.NOT_STARTED or stopped


async def test_what_one_answer_asks_for_is_written_down_before_the_first_of_it_is_made() -> None:
    latch = Latch()

    @function_tool
    async def act(n: int) -> str:
        await latch.wait()
        return f"acted {n}"

    one_at_a_time = RunConfig(tool_execution=ToolExecutionConfig(max_function_tool_concurrency=1))
    async with Provider() as provider, agents_model(provider, "responses") as model:
        provider.answer(Asks("act", {"n": 1}), Asks("act", {"n": 2}))
        agent = Agent("actor", model=model, tools=[act])
        async with Runtime(OpenAIAgents(agent, run_config=one_at_a_time)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()
    assert [call.status for call in receipt.calls] == [
        Status.MAY_HAVE_EXECUTED,
        Status.NOT_STARTED,
    ]
