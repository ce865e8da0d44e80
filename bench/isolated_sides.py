"""How long something took, as who takes part in it worked: what they stood in line for a processor,
as the kernel counts it, is taken off, so that a busy machine changes a ratio little."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lastword.processes.inside.family import Procfs


def family() -> list[int]:
    """This process, and all that descend from it."""
    proc = Procfs()
    try:
        return [os.getpid(), *(kin.pid for kin in proc.descendants(proc.me))]
    finally:
        proc.close()


class Line:
    """How long all that take part have stood in line, in seconds. This thread is asked at the last
    moment before, and the first after; the rest sleeps but for what is timed."""

    def __init__(self, *, apart: bool) -> None:
        self._apart = apart
        self._me = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        self._fd = os.open(self._me, os.O_RDONLY)

    def others(self) -> dict[str, float]:
        """The other threads of this program, and its processes if they take part."""
        pids = map(str, family()[1:]) if self._apart else ()
        files = [str(one / "schedstat") for one in Path("/proc/self/task").iterdir()]
        found: dict[str, float] = {}
        for file in (*files, *(f"/proc/{pid}/schedstat" for pid in pids)):
            with suppress(OSError):
                found[file] = _lined(Path(file).read_bytes())
        found.pop(self._me, None)
        return found

    def mine(self) -> float:
        """This thread."""
        return _lined(os.pread(self._fd, 100, 0))

    def close(self) -> None:
        os.close(self._fd)


def _lined(told: bytes) -> float:
    return int(told.split()[1]) * 1e-9


class Took(NamedTuple):
    """One thing that was done."""

    passed: float  # seconds
    worked: float  # the same, less what was stood in line, as if they had taken turns
    ran: float  # of this program's processor


async def timed(work: Callable[[], Awaitable[object]], *, apart: bool) -> Took:
    """Do it, and tell how long that took."""
    line = Line(apart=apart)
    before = line.others()
    mine, ran, began = line.mine(), time.process_time(), time.perf_counter()
    await work()
    passed = time.perf_counter() - began
    ran, lined = time.process_time() - ran, line.mine() - mine
    lined += sum(waited - before.get(who, 0.0) for who, waited in line.others().items())
    line.close()
    return Took(passed, max(passed - lined, 0.0), ran)
