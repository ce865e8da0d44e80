"""A turn of the Claude Agent SDK in lastword beside the SDK alone: 200 tokens and four calls.

What the host does is measured. The CLI is a program of its own, which does the same in both; so is
the model, here.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ToolAnnotations,
    create_sdk_mcp_server,
    tool,
)

from bench.turns import heading, row
from lastword.core.model import Outcome
from lastword.engines.claude import ClaudeAgent
from lastword.runtime.runtime import Runtime
from lastword.testing.provider import Answer, Call, Provider, Request, Say

WORDS = [f"word{number} " for number in range(100)]
CALLS = 4
TURNS = 10


def script(request: Request) -> Answer:
    """A hundred tokens, four calls, a hundred more."""
    if request.results:
        return Answer(Say(*WORDS))
    return Answer(Say(*WORDS), *(Call("mcp__b__look", {"n": n}) for n in range(CALLS)))


@tool("look", "Look.", {"n": int}, ToolAnnotations(readOnlyHint=True))
async def look(given: dict[str, Any]) -> dict[str, Any]:
    """A tool that does nothing."""
    return {"content": [{"type": "text", "text": f"seen {given['n']}"}]}


def options(url: str, folder: str) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(
        model="claude-opus-4-8",
        tools=[],
        allowed_tools=["mcp__b__look"],
        mcp_servers={"b": create_sdk_mcp_server("b", tools=[look])},
        system_prompt="Be quick.",
        setting_sources=[],
        include_partial_messages=True,
        cwd=folder,
        env={
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )


async def turns_bare(given: ClaudeAgentOptions, times: int) -> None:
    """The SDK alone; a client for each turn, as lastword has."""
    for _ in range(times):
        async with ClaudeSDKClient(given) as client:
            await client.query("go")
            async for _ in client.receive_response():
                pass


async def turns_held(given: ClaudeAgentOptions, times: int, store: str) -> None:
    """The same in lastword, each turn in a session of its own."""
    async with Runtime(ClaudeAgent(given), store=store) as runtime:
        for number in range(times):
            ticket = await runtime.session(f"s{number}").send("go")
            if await ticket.outcome() != Outcome.COMPLETED:
                raise RuntimeError(ticket.error)


@asynccontextmanager
async def elsewhere() -> AsyncGenerator[str]:
    """The model, in a process of its own; its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.engines_claude", stdout=asyncio.subprocess.PIPE
    )
    if process.stdout:
        yield (await process.stdout.readline()).decode().strip()
    process.kill()
    await process.wait()


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with elsewhere() as url:
            given = options(url, folder)
            stores = {"memory": "memory:", "SQLite": f"sqlite:{Path(folder) / 'log.db'}"}
            await turns_bare(given, 1)
            cpu, wall = await _took(turns_bare(given, TURNS))
            heading(f"a turn of 200 tokens and {CALLS} calls, of the host's processor; n={TURNS}")
            row("the SDK alone", cpu)
            waited = {"the SDK alone": wall}
            for name, store in stores.items():
                held, waited[f"lastword, {name}"] = await _took(turns_held(given, TURNS, store))
                row(f"lastword, {name}", held, ("the SDK alone", cpu))
            heading("the same, by the clock: most of it is the CLI's start")
            for name, took in waited.items():
                row(name, took, ("the SDK alone", wall))


async def _took(work: Any) -> tuple[float, float]:  # noqa: ANN401 - turns
    cpu, wall = time.process_time(), time.perf_counter()
    await work
    return (time.process_time() - cpu) / TURNS, (time.perf_counter() - wall) / TURNS


async def serve() -> None:
    async with Provider() as provider:
        provider.always(script)
        print(provider.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
