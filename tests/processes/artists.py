"""The escape artists, and the canary that tells when the last of one is dead.

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

_HERE = Path(__file__).parent
_PROGRAMS = ("artists", "attackers")
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

ATTACKERS: dict[str, int] = {
    "forge_warden": 5,
    "forge_and_kill_warden": 5,
    "misshape_warden": 5,
    "garble_warden": 5,
    "hang_up_for_warden": 5,
    "stop_warden": 5,
    "stop_zygote": 5,
    "stop_both": 5,
    "bully_warden": 5,
    "bully_zygote": 5,
    "kill_warden": 5,
    "kill_zygote": 5,
    "stop_zygote_kill_warden": 5,
    "trace_warden": 5,
    "trace_zygote": 5,
    "trace_and_kill_warden": 5,
    "blind_warden": 5,
    "blind_zygote": 5,
    "no_time_for_warden": 5,
    "no_time_for_zygote": 5,
    "no_memory_for_warden": 5,
    "no_forks_for_zygote": 5,
    "starve": 5,
    "zombie_leader": 1,
    "zombie_leader_detached": 2,
    "sibling": 2,
    "own_namespace": 2,
    "own_namespace_detached": 3,
    "liar": 2,
    "traced": 2,
    "borrowed": 2,
    "own_group": 2,
}


@cache
def built() -> Path:
    """The program, compiled once for all test processes and for every session until it changes."""
    compiler = shutil.which("cc")
    if compiler is None or not Path("/proc/self/mountinfo").exists():
        raise SkipTest("no C compiler, or no Linux, so no escape artists")
    sources = [_HERE / "artists.h", *(_HERE / f"{name}.c" for name in _PROGRAMS)]
    digest = sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    home = Path(tempfile.gettempdir(), f"lastword-artists-{os.getuid()}-{digest}")
    home.mkdir(mode=0o755, exist_ok=True)
    if home.is_symlink() or home.stat().st_uid != os.getuid():
        raise PermissionError(f"{home} is somebody else's, so the artists were not put there")
    for name in _PROGRAMS:
        if not (home / name).exists():
            _compile(compiler, name, home)
    return home / "artists"


def _compile(compiler: str, name: str, home: Path) -> None:
    draft = home / f"draft-{os.getpid()}"  # two test processes may be compiling at once
    strict = ("-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-pthread")
    source = _HERE / f"{name}.c"
    subprocess.run([compiler, *strict, "-o", draft, source, "-lutil", "-lrt"], check=True)
    draft.chmod(0o755)
    draft.replace(home / name)


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

    async def ready_or_dead(self, count: int, *, timeout: float = 20.0) -> None:
        """The same for those whose attack may have cost them their lives already."""
        with suppress(AssertionError):
            await self.ready(count, timeout=timeout)
        if not self._ended and self._heard != count:
            raise AssertionError(f"{self._heard} of {count} were in position, and not all are dead")

    def is_ready(self, count: int) -> bool:
        """Whether so many processes are in position by now."""
        self._look(lambda: True)
        return self._heard >= count

    def is_dead(self) -> bool:
        """Whether by now the last process that held the FIFO is, whatever they wrote."""
        heard = -1
        while heard != self._heard:
            heard = self._heard
            self._look(lambda: True)
        return self._ended

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
