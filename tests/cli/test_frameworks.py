"""`--engine` over each framework, at every door: a call, a stop in a tool, and what comes after."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from lastword.testing.provider import Answer, Call, Provider, Request, Say
from tests.acp.client import editor
from tests.engines.subject_claude import cli_is_here
from tests.promise.workshop import until
from tests.scenarios import ROOT
from tests.server.client import upto
from tests.server.process import Server

TOOLS = """
import asyncio
import os
import pathlib

URL = os.environ["LASTWORD_TEST_MODEL"]


async def look(at: str) -> str:
    "Look there."
    return f"a cat at {at}"


async def wait(file: str) -> str:
    "Wait for ever."
    pathlib.Path(file).touch()
    await asyncio.Event().wait()
"""
OPENAI = "client = AsyncOpenAI(base_url=f'{URL}/v1', api_key='k', max_retries=0)"
SOURCES = {
    "pydantic-ai": f"""
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from lastword.engines.pydantic_ai import PydanticAI

{OPENAI}
model = OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client))
engine = PydanticAI(Agent(model, tools=[look, wait]))
""",
    "openai-agents": f"""
from agents import Agent, OpenAIResponsesModel, function_tool
from openai import AsyncOpenAI

from lastword.engines.openai_agents import OpenAIAgents

{OPENAI}
tools = [function_tool(look), function_tool(wait)]
engine = OpenAIAgents(Agent("helper", model=OpenAIResponsesModel("gpt-5", client), tools=tools))
""",
    "langgraph": """
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from lastword.engines.langgraph import LangGraph

model = ChatOpenAI(model="gpt-5", base_url=f"{URL}/v1", api_key="k", max_retries=0)
engine = LangGraph(create_agent(model, [look, wait]))
""",
    "claude": """
from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, tool

from lastword.engines.claude import ClaudeAgent


def offered(function, *names):
    async def call(given):
        return {"content": [{"type": "text", "text": await function(**given)}]}

    return tool(function.__name__, function.__doc__, dict.fromkeys(names, str))(call)


server = create_sdk_mcp_server("t", tools=[offered(look, "at"), offered(wait, "file")])
env = {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": "k", "CLAUDE_AGENT_SDK_MCP_NO_PREFIX": "1"}
allowed = ["mcp__t__look", "mcp__t__wait"]
options = ClaudeAgentOptions(
    tools=[],
    mcp_servers={"t": server},
    allowed_tools=allowed,
    setting_sources=[],
    env=env,
)
engine = ClaudeAgent(options)
""",
}


@pytest.fixture(params=SOURCES)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "claude" and not cli_is_here():
        pytest.skip("the claude-agent-sdk of this platform brings no CLI")
    (tmp_path / "mine.py").write_text(TOOLS + SOURCES[request.param], encoding="utf-8")
    return tmp_path


async def test_an_agent_is_talked_to_and_stopped_at_every_door(folder: Path) -> None:
    waiting = {door: folder / f"{door} waits" for door in ("chat", "acp", "serve")}

    def script(request: Request) -> Answer:
        said = str(request.messages)
        if "and now?" in said:
            return Answer(Say("I stopped."))
        for door, file in waiting.items():
            if f"wait at {door}" in said:
                return Answer(Call("wait", {"file": str(file)}))
        seen = "a cat at noon" in said
        return Answer(Say("It is a cat.")) if seen else Answer(Call("look", {"at": "noon"}))

    async with Provider() as provider:
        provider.always(script)
        env = {"LASTWORD_TEST_MODEL": provider.url, "PYTHONPATH": str(ROOT)}
        await talked_to_in_a_terminal(folder, env, waiting["chat"])
        await talked_to_in_an_editor(folder, env, waiting["acp"])
        await talked_to_over_http(folder, env, waiting["serve"])
        assert provider.refused == []


async def chat(folder: Path, env: dict[str, str], words: str) -> asyncio.subprocess.Process:
    environment = {**os.environ, **env, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lastword", "chat", "--engine", "mine:engine"),
        *("--session", "s", "-p", words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=folder,
    )


async def talked_to_in_a_terminal(folder: Path, env: dict[str, str], waits: Path) -> None:
    process = await chat(folder, env, "look")
    told, errors = await process.communicate()
    assert (process.returncode, b"It is a cat." in told) == (0, True), errors

    process = await chat(folder, env, "wait at chat")
    await until(lambda: waits.exists() or process.returncode is not None)
    assert process.returncode is None, await process.communicate()
    process.send_signal(signal.SIGINT)
    _, receipt = await process.communicate()
    assert b"quiet" in receipt
    assert b"wait" in receipt

    process = await chat(folder, env, "and now?")
    told, errors = await process.communicate()
    assert (process.returncode, b"I stopped." in told) == (0, True), errors


async def talked_to_in_an_editor(folder: Path, env: dict[str, str], waits: Path) -> None:
    async with editor(folder, "--engine", "mine:engine", env=env) as client:
        session = await client.new()
        answer = await client.say(session, "look")
        assert answer["result"] == {"stopReason": "end_turn"}
        assert "It is a cat." in client.text()
        prompt = client.prompt(session, "wait at acp")
        client.write(prompt)
        await until(waits.exists)
        client.write(client.cancel(session))
        answer = await client.answered(prompt)
        assert answer["result"]["stopReason"] == "cancelled"
        await client.say(session, "and now?")
        assert client.text().endswith("I stopped.")


async def talked_to_over_http(folder: Path, env: dict[str, str], waits: Path) -> None:
    server = Server(folder, engine="mine:engine")
    server.environment |= {**env, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    server.start()
    try:
        client = server.client
        async with client.events("s") as events:
            await client.send("s", "look")
            told = await upto(events, "ended")
            assert said(told) == "It is a cat."
            await client.send("s", "wait at serve")
            await until(waits.exists)
            receipt = await client.stop("s")
            assert receipt["quiet"]
            assert [call["status"] for call in receipt["calls"]] == ["may have executed"]
            await client.send("s", "and now?")
            await upto(events, "ended")
            told = await upto(events, "ended")
            assert said(told) == "I stopped."
    finally:
        server.kill()


def said(events: list[Any]) -> str:
    """What the person was told by the model."""
    return "".join(event["text"] for event in events if event["kind"] == "text")
