"""What a team writes first: the framework's stream to `run.emit`, its own memory, and no engine."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, cast

import langchain.agents
from agents import Agent as OpenAIAgent
from agents import OpenAIResponsesModel, RunConfig, Runner, SQLiteSession, function_tool
from anthropic import AsyncAnthropic
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    SdkMcpTool,
    SystemMessage,
    ToolAnnotations,
    create_sdk_mcp_server,
)
from langchain_core.messages import AIMessageChunk
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from pydantic import SecretStr
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bench import engines_by_hand
from bench.engines_by_hand import SCHEMA
from bench.engines_trials import Ends, Opens, trials
from lastword import Run
from lastword.testing.provider import Provider
from tests.engines.told import Scripted, Tool, Written
from tests.engines.watched_saver import WatchedSaver

create: Any = cast("Any", langchain.agents).create_agent  # whose types say less than it does


@asynccontextmanager
async def openai_agents() -> AsyncGenerator[Scripted]:
    tools: list[Any] = []
    memory = SQLiteSession("s")

    async def engine(run: Run) -> None:
        agent = OpenAIAgent("t", model=OpenAIResponsesModel("gpt-5", client), tools=[*tools])
        untraced = RunConfig(tracing_disabled=True)
        result = Runner.run_streamed(agent, run.message.text, session=memory, run_config=untraced)
        async for event in result.stream_events():
            data: Any = getattr(event, "data", None)
            if getattr(data, "type", "") == "response.output_text.delta":
                await run.emit(data.delta)

    def add(one: Tool) -> None:
        tools.append(function_tool(one))

    async with Provider() as provider, _client(provider) as client:
        yield Scripted(provider, engine, add)


@asynccontextmanager
async def langgraph() -> AsyncGenerator[Scripted]:
    tools: list[Any] = []
    writes: list[Written] = []
    memory = WatchedSaver(writes)

    async def engine(run: Run) -> None:
        key = SecretStr("k")
        asked = ChatOpenAI(model="gpt-5", base_url=f"{provider.url}/v1", api_key=key, max_retries=0)
        graph = create(asked, [*tools], checkpointer=memory)
        said = {"messages": [("user", run.message.text)]}
        thread = {"configurable": {"thread_id": "s"}}
        async for chunk, _ in graph.astream(said, thread, stream_mode="messages"):
            if isinstance(chunk, AIMessageChunk) and chunk.text:
                await run.emit(str(chunk.text))

    def add(one: Tool) -> None:
        tools.append(langchain_tool(one))

    async with Provider() as provider:
        scripted = Scripted(provider, engine, add)
        scripted.writes = writes
        yield scripted


@asynccontextmanager
async def pydantic_ai() -> AsyncGenerator[Scripted]:
    memory: list[ModelMessage] = []

    async def engine(run: Run) -> None:
        async with agent.run_stream(run.message.text, message_history=[*memory]) as result:
            async for text in result.stream_text(delta=True):
                await run.emit(text)
            memory[:] = result.all_messages()

    async with Provider() as provider, _client(provider) as client:
        own = OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client))
        agent = Agent(own)
        yield Scripted(provider, engine, agent.tool_plain)


@asynccontextmanager
async def loop(format: str) -> AsyncGenerator[Scripted]:
    """One written by hand, whose messages are its memory."""
    tools = dict[str, Tool]()
    memory: list[Any] = []

    async def engine(run: Run) -> None:
        memory.append({"role": "user", "content": run.message.text})
        if format == "anthropic":
            await engines_by_hand.anthropic(other, memory, tools, run.emit)
        elif format == "chat":
            await engines_by_hand.chat(client, memory, tools, run.emit)
        else:
            await engines_by_hand.responses(client, memory, tools, run.emit)

    def add(one: Tool) -> None:
        tools[one.__name__] = one

    async with (
        Provider() as provider,
        _client(provider) as client,
        AsyncAnthropic(base_url=provider.url, api_key="k", max_retries=0) as other,
    ):
        yield Scripted(provider, engine, add)


@asynccontextmanager
async def claude() -> AsyncGenerator[Scripted]:
    """A client for each message, which resumes what the CLI has kept."""
    tools = list[SdkMcpTool[Any]]()
    known = dict[str, str]()

    def add(one: Tool) -> None:
        async def call(given: dict[str, Any]) -> dict[str, Any]:
            is_async = inspect.iscoroutinefunction(one)
            said = await (one(**given) if is_async else asyncio.to_thread(one, **given))
            return {"content": [{"type": "text", "text": said}]}

        alone = ToolAnnotations(readOnlyHint=True)
        tools.append(SdkMcpTool(one.__name__, one.__name__, SCHEMA, call, alone))

    async def engine(run: Run) -> None:
        server = create_sdk_mcp_server("t", tools=tools)
        given = replace(
            options,
            resume=known.get("session"),
            mcp_servers={"t": server},
            allowed_tools=[f"mcp__t__{one.name}" for one in tools],
        )
        async with ClaudeSDKClient(given) as sdk:
            await sdk.query(run.message.text)
            async for message in sdk.receive_response():
                if isinstance(message, SystemMessage) and message.subtype == "init":
                    known["session"] = message.data["session_id"]
                delta: Any = getattr(message, "event", {}).get("delta", {})
                if delta.get("type") == "text_delta":
                    await run.emit(delta["text"])

    async with Provider() as provider:
        with TemporaryDirectory() as cwd:
            env = {
                "ANTHROPIC_BASE_URL": provider.url,
                "ANTHROPIC_API_KEY": "k",
                "CLAUDE_AGENT_SDK_MCP_NO_PREFIX": "1",
                "CLAUDE_CODE_MAX_RETRIES": "0",
                "CLAUDE_CONFIG_DIR": cwd,
            }
            options = ClaudeAgentOptions(
                model="claude-opus-4-8",
                tools=[],
                system_prompt="Be a test.",
                setting_sources=[],
                include_partial_messages=True,
                cwd=cwd,
                env=env,
            )
            yield Scripted(provider, engine, add)


@asynccontextmanager
async def _client(provider: Provider) -> AsyncGenerator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="k", max_retries=0) as client:
        yield client


def _by_itself(opens: Opens) -> Opens:
    """Its tools start programs by themselves."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Scripted]:
        async with opens() as one:
            one.held = False
            yield one

    return opened


ALONE: Mapping[str, Opens] = {
    "pydantic-ai": pydantic_ai,
    "sdk chat": partial(loop, "chat"),
    "sdk responses": partial(loop, "responses"),
    "sdk anthropic": partial(loop, "anthropic"),
    "openai-agents": openai_agents,
    "langgraph": langgraph,
    "claude": claude,
}


async def main(name: str, ends: Ends) -> None:
    await trials(f"without: {name}", _by_itself(ALONE[name]), ends, log=False)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Ends(*map(int, sys.argv[2:]))))
