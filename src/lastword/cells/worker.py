"""The host's handle on one worker, which has a warden of its own.

The worker is our program; the interpreter is started by that, and is two generations away from us.
Both are in the warden, which ends them together: when they are not wanted, when one of them ends
without the other, and when this process is killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec

from lastword.cells.inside.frames import HEAD, Message, Unreadable, lengths, packed, unpacked
from lastword.cells.limits import MEMORY_AT_MOST
from lastword.errors import ProcessError, WorkerDied
from lastword.extras import how_to_install
from lastword.processes import Process, Processes, ProcessLimits, Warden, command
from lastword.processes.command import Command

_HERE = os.path.dirname(__file__)  # noqa: PTH120 - a str
_BOOT = (  # found by path: importing lastword there would cost time and memory for nothing
    "import sys; sys.path.append(sys.argv[2]); sys.path.insert(0, sys.argv[1]); "
    "from inside.main import main; sys.path.pop(0); main()"
)
_NEEDED = ("PATH", "MONTY_BIN", "LD_LIBRARY_PATH")  # of our environment; the rest is not theirs
_ROOM = 2 * MEMORY_AT_MOST + (1 << 30)  # bytes of address space, of which little is used
_UNREAD = 1 << 18  # bytes of its answers that are held before they are read
_SECONDS_TO_START = 20.0
_SECONDS_TO_END = 1.0


class Untold(WorkerDied):
    """The worker was gone before it took what it was told, so another can be told the same."""


class Worker:
    """One worker, which is told one thing at a time."""

    def __init__(self, warden: Warden, process: Process) -> None:
        self._warden = warden
        self._process = process
        self._chunks: AsyncIterator[bytes] = aiter(process.stdout)
        self._unread = bytearray()

    @classmethod
    async def start(cls, processes: Processes) -> Worker:
        """Start one, and return when it is ready. Raises ProcessError if there can be none."""
        program = _program()
        warden = await processes.warden()
        warden.alone = True
        try:
            worker = cls(warden, await warden.spawn(program))
            await worker._ready()
        except BaseException:
            warden.stop(0)
            raise
        return worker

    async def _ready(self) -> None:
        try:
            async with asyncio.timeout(_SECONDS_TO_START):
                message, _ = await self._hear()
        except TimeoutError:
            raise ProcessError("a worker for cells did not start in time") from None
        if why := message.get("cannot"):
            raise ProcessError(f"a worker for cells could not start: {why}")

    @property
    def alive(self) -> bool:
        """Whether nothing is known of its end."""
        return self._warden.open and self._process.code is None

    async def ask(
        self, request: Message, dump: bytes, on_output: Callable[[str], None]
    ) -> tuple[Message, bytes]:
        """Have it take a step; what comes of it. What is printed meanwhile is handed on."""
        stdin = self._process.stdin
        if stdin is None:
            raise Untold("this worker reads nothing")
        stdin.feed(packed(request, dump))
        try:
            await self._hear()  # that it has begun
        except WorkerDied as error:
            raise Untold(str(error)) from error
        while True:
            message, blob = await self._hear()
            if "output" not in message:
                return message, blob
            on_output(message["output"])

    async def _hear(self) -> tuple[Message, bytes]:
        try:
            text, blob = lengths(await self._exactly(HEAD.size))
            return unpacked(await self._exactly(text)), await self._exactly(blob)
        except Unreadable as error:
            raise WorkerDied(f"a worker for cells says what makes no sense: {error}") from error

    async def _exactly(self, count: int) -> bytes:
        while len(self._unread) < count:
            try:
                self._unread += await anext(self._chunks)
            except StopAsyncIteration:
                raise WorkerDied(
                    f"the worker of a cell (process {self._process.pid}) ended before the cell "
                    "had; what was kept of the cell is as good as before"
                ) from None
        found = bytes(self._unread[:count])
        del self._unread[:count]
        return found

    async def end(self) -> None:
        """End it, whatever it is doing, and what it has started; wait a little until it is gone."""
        await asyncio.wait([self._warden.stop(0)], timeout=_SECONDS_TO_END)


def _program() -> Command:
    found = find_spec("pydantic_monty")
    if found is None or found.origin is None:
        raise ProcessError(f"a program needs the extra cells. Run: {how_to_install(['cells'])}")
    packages = os.path.dirname(os.path.dirname(found.origin))  # noqa: PTH120 - a str
    return command(
        sys.executable,
        "-I",
        "-c",
        _BOOT,
        _HERE,
        packages,
        cwd="/",
        env={name: os.environ[name] for name in _NEEDED if name in os.environ},
        stdin="pipe",
        limits=ProcessLimits(memory=_ROOM),
        output_limit=_UNREAD,
    )
