"""The CLI as a process of the run, and its words in the order in which it says them.

It and all that it starts (shells, MCP servers) are in the run's warden, which ends them with the
run. What it says is passed on before the SDK hears of it: so when a hook is asked for a call, what
was said before that was said here, too. Once the run has lost its session nothing is heard of it,
and it is told nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKError, Transport

from lastword.engines.claude.environment import for_cli
from lastword.engines.claude.home import CliHome
from lastword.engines.claude.pieces import together
from lastword.engines.claude.seams import CLI, found
from lastword.errors import EngineFailed, ProcessError, Superseded
from lastword.processes import Process
from lastword.runtime.run import Run

_LEAVES = 1.0  # seconds in which it ends by itself, once nobody speaks to it
_ASKED = 0.5  # and when it is asked to
_MUCH = 4 << 20  # bytes that may wait to be read

Hear = Callable[[Mapping[str, Any]], Awaitable[None]]


class Cli(Transport):
    """One of them, for one conversation with it."""

    def __init__(self, run: Run, options: ClaudeAgentOptions, home: CliHome, hear: Hear) -> None:
        self._run = run
        self._options = options
        self._home = home
        self._hear = hear
        self._cwd = str(options.cwd or Path.cwd())
        self._process: Process | None = None

    async def connect(self) -> None:
        env = for_cli(os.environ, self._options, str(self._home.path), self._cwd)
        try:
            self._process = await self._run.spawn(
                *_command(self._options),
                name="claude",
                cwd=self._cwd,
                env=env,
                stdin="pipe",
                output_limit=_MUCH,
                told=False,
            )
        except ProcessError as error:
            raise EngineFailed(f"the Claude CLI could not be started: {error}") from error
        self._home.remove_after(self._process.when_ended)
        if self._options.stderr is not None and (errors := self._process.stderr):
            told = _told_in_lines(errors, self._options.stderr)
            self._run.task(told, name="errors of the Claude CLI")

    async def write(self, data: str) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise EngineFailed("the Claude CLI has not been started")
        if not self._run.current:
            raise asyncio.CancelledError  # whoever writes is of the run, and ends with it
        with suppress(BrokenPipeError):  # it has ended, which is heard where it is read
            try:
                await process.stdin.write(data.encode())
            except Superseded:
                raise asyncio.CancelledError from None

    async def end_input(self) -> None:
        if self._process and self._process.stdin and self._run.current:
            self._process.stdin.finish()

    async def close(self) -> None:
        """Have it leave. Once the run has lost its session, that is the stop's."""
        process = self._process
        if process is None or process.code is not None:
            return
        with suppress(Superseded):
            await self.end_input()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEAVES):
                    await process.wait()
            await process.end(_ASKED)

    def is_ready(self) -> bool:
        return self._process is not None and self._process.code is None

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._read()

    async def _read(self) -> AsyncIterator[dict[str, Any]]:
        process = cast("Process", self._process)
        with suppress(Superseded):
            async for lines in _lines(process.stdout):
                messages = [message for line in lines if (message := _message(line))]
                for heard, several in together(messages):
                    await self._hear(heard)
                    for message in several:
                        self._run.must_hold("reading of what it wrote")
                        yield message
            if code := await process.wait():
                why = process.stderr.text.strip() if process.stderr else ""
                last = why.splitlines()[-1] if why else f"exit code {code}"
                raise EngineFailed(f"the Claude CLI ended before it had answered: {last}")


def _command(options: ClaudeAgentOptions) -> list[str]:
    """As the SDK would start it."""

    async def nothing() -> AsyncIterator[dict[str, Any]]:
        return
        yield {}

    if options.can_use_tool:  # the SDK says so too, of what is not given to it
        options = replace(options, permission_prompt_tool_name="stdio")
    transport: Any = found(CLI, "SubprocessCLITransport")(prompt=nothing(), options=options)
    try:
        transport._cli_path = transport._cli_path or transport._find_cli()  # noqa: SLF001 - see seams
        return transport._build_command()  # noqa: SLF001
    except ClaudeSDKError as error:
        raise EngineFailed(" ".join(str(error).split())) from error


def _message(line: bytes) -> dict[str, Any] | None:
    """What it says; some of what it writes is for whoever looks for a mistake in it."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return json.loads(line)
    except ValueError as error:
        raise EngineFailed(f"the Claude CLI said what is not JSON: {line[:100]!r}") from error


async def _lines(pieces: AsyncIterator[bytes] | Any) -> AsyncIterator[list[bytes]]:  # noqa: ANN401
    """The lines that are whole, as many as came at once."""
    begun: list[bytes] = []
    async for piece in pieces:
        first, *others = piece.split(b"\n")
        begun.append(first)
        if others:
            yield [b"".join(begun), *others[:-1]]
            begun = [others[-1]]
    yield [b"".join(begun)]


async def _told_in_lines(
    errors: Any,  # noqa: ANN401 - a stream of the process
    tell: Callable[[str], None],
) -> None:
    with suppress(Superseded):
        async for lines in _lines(errors):
            for line in lines:
                if said := line.decode(errors="replace").rstrip():
                    with suppress(Exception):  # a team's own: the answer goes on
                        tell(said)
