"""A CLI that a tool starts by the SDK itself: a process of the run, too, and ended with it.

The SDK starts it in one place. Inside of a run that is the run's own way to start a program;
outside it does what it did. The environment is the SDK's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import anyio

from lastword.engines.claude.seams import CLI
from lastword.errors import Superseded
from lastword.processes import Process
from lastword.runtime.framework import run_inside
from lastword.runtime.run import Run

_KILLED = 0.0


@cache
def hold_nested() -> None:
    """From now on, whoever starts a CLI inside of a run."""
    module: Any = import_module(CLI)
    module.anyio = SimpleNamespace(**{**vars(anyio), "open_process": _open})


async def _open(command: Any, **how: Any) -> Any:  # noqa: ANN401 - as anyio has it
    run = cast("Run | None", run_inside())
    if run is None:
        return await anyio.open_process(command, **how)
    if how.get("user") is not None:
        raise RuntimeError("a CLI of another user could not be ended with the run")
    if asyncio.get_running_loop() is not run.loop:
        raise RuntimeError("inside of a run, a CLI is started on the run's own event loop")
    process = await run.spawn(
        *command, cwd=how["cwd"], env=how["env"], stdin="pipe", name="claude", told=False
    )
    return _Nested(process)


class _Nested:
    """A process of the run's, as anyio has one."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.stdin = _Stdin(process)
        self.stdout = _Reading(process.stdout)
        self.stderr = _Reading(process.stderr) if process.stderr else None

    @property
    def returncode(self) -> int | None:
        return self._process.code

    async def wait(self) -> int:
        return await self._process.wait()

    def terminate(self) -> None:
        self._process.drop(1.0)

    def kill(self) -> None:
        self._process.drop(_KILLED)


class _Stdin:
    def __init__(self, process: Process) -> None:
        self._process = process

    async def send(self, data: bytes) -> None:
        try:
            if self._process.stdin:
                await self._process.stdin.write(data)
        except (BrokenPipeError, Superseded):
            raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        if self._process.stdin:
            self._process.stdin.end()


class _Reading:
    def __init__(self, output: Any) -> None:  # noqa: ANN401 - a stream of the process
        self._pieces: AsyncIterator[bytes] = aiter(output)

    async def receive(self, max_bytes: int = 65_536) -> bytes:  # noqa: ARG002 - as much as came
        try:
            return await anext(self._pieces)
        except (StopAsyncIteration, Superseded):
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """It ends with the process."""
