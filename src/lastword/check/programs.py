"""Programs that the kit starts: each with a home of its own and a mark, and with an end.

Nothing of the environment is handed on but where programs are and which language is spoken: no key
and no setting of the person's gets into a check.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from lastword.check.contract import CannotStart, Premises
from lastword.check.keeper import MARK
from lastword.check.times import until

_HANDED_ON = ("PATH", "LANG", "LC_ALL", "TZ")
_PATIENCE = 3.0  # seconds for each way of asking a program to leave
_LONGEST = 1 << 24  # bytes of one line: what is longer is no message, and is dropped
_WAITING = 5000  # lines that nobody has read yet: then it is not read on
_ERRORS, _LAST = 1 << 20, 4096  # bytes of what it writes to its errors: in the file, in the end


class _Pipes(asyncio.SubprocessProtocol):
    """What a program writes, in lines; and its end, also while others hold its output open."""

    def __init__(self, errors: BinaryIO) -> None:
        self.exited = asyncio.Event()
        self.last_errors = b""
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._rest = bytearray()
        self._errors, self._room = errors, _ERRORS
        self._output: asyncio.ReadTransport | None = None
        self._held = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        program = cast("asyncio.SubprocessTransport", transport)
        self._output = cast("asyncio.ReadTransport", program.get_pipe_transport(1))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors.write(data[: self._room])
            self._room -= len(data[: self._room])
            self.last_errors = (self.last_errors + data)[-_LAST:]
            return
        self._rest += data
        if b"\n" in data:
            *lines, rest = bytes(self._rest).split(b"\n")
            self._rest = bytearray(rest)
            for line in lines:
                self._lines.put_nowait(line)
        if len(self._rest) > _LONGEST:
            self._rest.clear()
        self._hold(self._lines.qsize() > _WAITING)

    def process_exited(self) -> None:
        self.exited.set()
        self._lines.put_nowait(None)

    async def line(self) -> bytes | None:
        """The next; none behind the last. Others have their turn between two."""
        line = await self._lines.get()
        self._hold(self._lines.qsize() > _WAITING)
        await asyncio.sleep(0)
        return line

    def _hold(self, enough: bool) -> None:
        if self._output and enough != self._held and not self._output.is_closing():
            self._held = enough
            self._output.pause_reading() if enough else self._output.resume_reading()


class Started:
    """One program, from its start to its end."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, pipes: _Pipes, errors: BinaryIO
    ) -> None:
        self._transport, self._pipes, self._errors = transport, pipes, errors

    @classmethod
    async def start(
        cls, argv: Sequence[str], premises: Premises, settings: Mapping[str, str]
    ) -> Started:
        """Start it in its own folder; its errors are kept."""
        for place in (premises.home, premises.work, premises.scratch):
            place.mkdir(parents=True, exist_ok=True)
        errors = (premises.folder / "stderr.log").open("ab", buffering=0)
        handed_on = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
        own = {"HOME": str(premises.home), MARK: premises.mark}
        own |= dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(premises.scratch))
        try:
            transport, pipes = await asyncio.get_running_loop().subprocess_exec(
                lambda: _Pipes(errors),
                *(_placed(word) for word in argv),
                env={**handed_on, **own, **settings},
                cwd=premises.work,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            errors.close()
            raise CannotStart(f"{argv[0]} could not be started: {error}") from error
        return cls(transport, pipes, errors)

    @property
    def ended(self) -> bool:
        return self._pipes.exited.is_set()

    def write(self, data: bytes) -> None:
        """To its input, if that is still open."""
        pipe = cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))
        if pipe and not pipe.is_closing():
            pipe.write(data)

    async def lines(self) -> AsyncIterator[bytes]:
        """What it writes, until it has ended."""
        while (line := await self._pipes.line()) is not None:
            yield line

    async def kill(self) -> None:
        """As by kill -9; until it is dead."""
        with contextlib.suppress(ProcessLookupError):
            self._transport.kill()
        await self._pipes.exited.wait()

    async def end(self, *, reads: bool = True) -> None:
        """Ask it to leave by closing its input, if it reads that, with a signal, then kill it."""
        if pipe := self._transport.get_pipe_transport(0):
            pipe.close()
        for ask in (*([None] if reads else []), signal.SIGTERM, signal.SIGKILL):
            if ask:
                with contextlib.suppress(ProcessLookupError):
                    self._transport.send_signal(ask)
            if await until(self._pipes.exited.is_set, _PATIENCE):
                break
        self._transport.close()
        self._errors.close()

    def last_errors(self) -> str:
        """The end of what it wrote to its standard error, in one line."""
        text = self._pipes.last_errors.decode(errors="replace")
        return " / ".join(text.strip().splitlines()[-4:])[-500:]


def _placed(word: str) -> str:
    """A file as the person meant it, from where they stand; a program is started elsewhere."""
    try:
        return str(Path(word).absolute()) if Path(word).is_file() else word
    except OSError:  # it is no path, but a program, or what one is told
        return word
