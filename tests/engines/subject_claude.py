"""An agent of the Claude Agent SDK, for the stories that all engines share."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import claude_agent_sdk
import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    SdkMcpTool,
    ToolAnnotations,
    create_sdk_mcp_server,
)

from lastword.engines.claude import ClaudeAgent
from lastword.engines.kit.tools import FunctionTool
from lastword.testing.provider import Provider
from tests.engines.told import Scripted, Served, Tool


class ClaudeCli(Scripted):
    """The Claude Agent SDK, whose CLI is a process of its own: about half a second a turn."""

    def __init__(self, provider: Provider, options: ClaudeAgentOptions) -> None:
        super().__init__(provider, ClaudeAgent(options), self._offer)
        self.options = options
        self._tools: list[SdkMcpTool[Any]] = []

    @property
    def steered(self) -> list[str]:
        return claude_told(self.provider)

    def _offer(self, given: Tool) -> None:
        made = FunctionTool(given)

        async def call(arguments: dict[str, Any]) -> dict[str, Any]:
            work = made.bound(json.dumps(arguments))
            is_async = inspect.iscoroutinefunction(given)
            result = await (work() if is_async else asyncio.to_thread(work))
            return {"content": [{"type": "text", "text": str(result)}]}

        alone = ToolAnnotations(readOnlyHint=True)  # such are called side by side
        own = SdkMcpTool(made.name, made.description, made.schema, call, alone)
        self._tools.append(own)
        self.options.mcp_servers = {"t": create_sdk_mcp_server("t", tools=self._tools)}
        self.options.allowed_tools.append(f"mcp__t__{made.name}")


@asynccontextmanager
async def claude(*, served: Served = None, retries: int = 0) -> AsyncGenerator[ClaudeCli]:
    """An agent of the Claude Agent SDK. Its tools go by their own names, as all others do."""
    if not cli_is_here():
        pytest.skip("the claude-agent-sdk of this platform brings no CLI")
    async with served or Provider() as provider:
        env = {
            "ANTHROPIC_BASE_URL": provider.url,
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_AGENT_SDK_MCP_NO_PREFIX": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(retries),
        }
        with TemporaryDirectory() as cwd:
            options = ClaudeAgentOptions(
                model="claude-opus-4-8",
                tools=[],
                system_prompt="Be a test.",
                setting_sources=[],
                cwd=cwd,
                env=env,
            )
            yield ClaudeCli(provider, options)
        assert provider.refused == []


def claude_told(provider: Provider) -> list[str]:
    """What steered it: the CLI passes it on among the instructions."""
    told = str(provider.requests[-1].messages)
    return [said for said in ("to the left",) if told.count(said) == 1]


def cli_is_here() -> bool:
    """Whether the wheel has one for this platform."""
    bundled = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    return bundled.is_file()
