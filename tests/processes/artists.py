"""The escape artists of artists.c, and the canary that tells when the last of one is dead.

A canary is exact: every process of an artist holds the write end of its FIFO, so the kernel itself
says when none is left. No list of processes is read, and a pid that was reused fools nobody.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Self
from unittest import SkipTest

_SOURCE = Path(__file__).with_name("artists.c")
_numbers = count(1)

ARTISTS: dict[str, int] = {  # how many bytes each writes when it is all in place
    "plain": 2,
    "termignore": 2,
    "setsid": 2,
    "daemon": 2,
    "daemon_gone": 1,
    "nohup": 2,
    "nohup_gone": 1,
    "comet": 5,
    "comet_sid": 5,
    "hydra": 31,
    "stopped": 2,
    "stopped_sid": 2,
    "envclear": 2,
    "envclear_gone": 1,
    "stdouthold": 1,
    "pty": 5,
    "zombie": 1,
    "subreaper": 3,
    "houdini": 5,
    "cgescape": 2,
}


@cache
def built() -> Path:
    """The program, compiled once for all test processes and for every session until it changes."""
    compiler = shutil.which("cc")
    if compiler is None or not Path("/proc/self/mountinfo").exists():
        raise SkipTest("no C compiler, or no Linux, so no escape artists")
    digest = sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    home = Path(tempfile.gettempdir(), f"lastword-artists-{os.getuid()}-{digest}")
    home.mkdir(mode=0o755, exist_ok=True)
    if home.is_symlink() or home.stat().st_uid != os.getuid():
        raise PermissionError(f"{home} is somebody else's, so the artists were not put there")
    program = home / "artists"
    if not program.exists():
        draft = home / f"draft-{os.getpid()}"  # two test processes may be compiling at once
        command = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-o", draft, _SOURCE]
        subprocess.run([*command, "-lutil", "-lrt"], check=True)
        draft.chmod(0o755)
        draft.replace(program)
    return program


class Canary:
    """A FIFO in a directory: `ready` counts the bytes that came, `dead` waits for the end."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / f"canary-{os.getpid()}-{next(_numbers)}"
        os.mkfifo(self.path)
        self.path.chmod(0o666)  # the artist may be another user
        self._pipe = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._heard = 0
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)
        self.path.unlink()

    async def ready(self, count: int, *, timeout: float = 20.0) -> None:
        """Wait until so many processes are in position."""
        with suppress(TimeoutError):
            await self._until(lambda: self._heard >= count or self._ended, timeout)
        if self._heard != count or self._ended:
            state = "and all are dead" if self._ended else "and not all are dead"
            raise AssertionError(f"{self._heard} of {count} were in position, {state}")

    async def dead(self, timeout: float) -> bool:
        """Whether, in so many seconds from now, the last process that held the FIFO is dead."""
        with suppress(TimeoutError):
            await self._until(lambda: self._ended, timeout)
        return self._ended

    async def _until(self, reached: Callable[[], bool], timeout: float) -> None:
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        async with asyncio.timeout(timeout):
            while not self._look(reached):
                readable.clear()
                loop.add_reader(self._pipe, readable.set)
                try:
                    await readable.wait()
                finally:
                    loop.remove_reader(self._pipe)

    def _look(self, reached: Callable[[], bool]) -> bool:
        with suppress(BlockingIOError):
            heard = os.read(self._pipe, 4096)
            self._heard += len(heard)
            # before the first writer came there is an end, too, but nobody's
            self._ended = not heard and self._heard > 0
        return reached()
