"""One conversation with a CLI: started with what was said before, heard to its answer, ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ClaudeSDKError

from lastword.engines.claude.home import CliHome
from lastword.engines.claude.process import Cli, Hear
from lastword.engines.claude.transcript import CliTalk
from lastword.engines.kit.history import Item
from lastword.errors import EngineFailed
from lastword.runtime.run import Run

_GOES_ON = {"CLAUDE_CODE_RESUME_INTERRUPTED_TURN": "1"}


async def converse(run: Run, options: ClaudeAgentOptions, said: CliTalk, hear: Hear) -> None:
    """Ask a CLI of the run's own, and pass on what it says."""
    cwd = str(options.cwd or Path.cwd())
    home = CliHome(options.env)
    try:
        resume = None
        if said.earlier:
            said.write(home.path, cwd, options.model or "claude")
            resume = said.session
        env = {**options.env, **(_GOES_ON if said.goes_on else {})}
        options = replace(options, cwd=cwd, env=env, resume=resume, include_partial_messages=True)
        cli = Cli(run, options, home, hear)
        await _talk(ClaudeSDKClient(options, transport=cli), said)
    finally:
        home.remove_if_unused()


async def _talk(client: ClaudeSDKClient, said: CliTalk) -> None:
    try:
        await client.connect()
        if not said.goes_on:
            await client.query(_sent(said.prompt))
        async for _ in client.receive_response():
            pass  # it was heard as it came
    except ClaudeSDKError as error:
        raise EngineFailed(" ".join(str(error).split())) from error
    finally:
        await _leave(client)


async def _leave(client: ClaudeSDKClient) -> None:
    try:
        await client.disconnect()
    except asyncio.CancelledError:  # a stop, while it was leaving: it still lets go of its streams
        await client.disconnect()
        raise


async def _sent(prompt: Sequence[Item]) -> AsyncIterator[dict[str, Any]]:
    message = {"role": "user", "content": list(prompt)}
    yield {"type": "user", "message": message, "parent_tool_use_id": None}
