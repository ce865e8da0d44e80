"""Programs that the kit starts: each with a home of its own, found by its mark, and seen off.

Nothing of the environment is handed on but where programs are and which language is spoken: no key
and no setting of the person's gets into a check.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from lastword.check.contract import CannotStart, Premises
from lastword.check.times import until

MARK = "LASTWORD_CHECK"  # in the environment of whatever a target starts
_HANDED_ON = ("PATH", "LANG", "LC_ALL", "TZ")
_PATIENCE = 3.0  # seconds for each way of asking a program to leave


class _Pipes(asyncio.SubprocessProtocol):
    """What a program writes, in lines; and its end, also while others hold its output open."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.exited = asyncio.Event()
        self._rest = b""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self.lines.put_nowait(line)

    def process_exited(self) -> None:
        self.exited.set()
        self.lines.put_nowait(None)


class Started:
    """One program, from its start to its end."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: _Pipes, errors: Path) -> None:
        self.errors = errors
        self._transport, self._pipes = transport, pipes

    @classmethod
    async def start(
        cls, argv: Sequence[str], premises: Premises, settings: Mapping[str, str]
    ) -> Started:
        """Start it in its own folder; its errors are kept."""
        for place in (premises.home, premises.work, premises.scratch):
            place.mkdir(parents=True, exist_ok=True)
        errors = premises.folder / "stderr.log"
        handed_on = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
        own = {"HOME": str(premises.home), MARK: premises.mark}
        own |= dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(premises.scratch))
        try:
            with errors.open("ab") as file:
                transport, pipes = await asyncio.get_running_loop().subprocess_exec(
                    _Pipes,
                    *(_placed(word) for word in argv),
                    env={**handed_on, **own, **settings},
                    cwd=premises.work,
                    stderr=file,
                    start_new_session=True,
                )
        except OSError as error:
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
        while (line := await self._pipes.lines.get()) is not None:
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

    def last_errors(self) -> str:
        """The end of what it wrote to its standard error, in one line."""
        text = self.errors.read_text(encoding="utf-8", errors="replace")
        return " / ".join(text.strip().splitlines()[-4:])[-500:]


def _placed(word: str) -> str:
    """A file as the person meant it, from where they stand; a program is started elsewhere."""
    return str(Path(word).absolute()) if Path(word).is_file() else word


def marked(mark: str) -> list[int]:
    """The processes that have this mark in their environment, without those that are dead."""
    return [pid for pid in _processes() if _has(pid, mark)]


def sweep(mark: str) -> int:
    """Kill whatever is left of a target; how many there were."""
    left = marked(mark)
    for pid in left:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return len(left)


def _processes() -> Iterator[int]:
    folder = Path("/proc")
    if folder.is_dir():
        yield from (int(one.name) for one in folder.iterdir() if one.name.isdigit())


def _has(pid: int, mark: str) -> bool:
    if pid == os.getpid():
        return False
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={mark}\0".encode() in environment + b"\0"
