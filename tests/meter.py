"""What this process and all that descend from it want of the machine.

The kernel counts for each thread how long it ran, and how long it was ready to run and stood in
line for a processor. The two together are what it wanted; a busy machine moves time from one to
the other, and changes nothing of their sum. Where a kernel does not tell, only what this process
used is known, and a starved test looks idle.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_NANO = 1e-9
_JIFFY = 1 / os.sysconf("SC_CLK_TCK")


class Spent(NamedTuple):
    """Since it was last asked, in seconds."""

    passed: float
    wanted: float  # to run, by all threads together; told late while they stand in line
    ran: float


class Used(NamedTuple):
    """By one thread, or by those that a process has reaped, since it began."""

    ran: float
    waited: float = 0.0


class Meter:
    """Reads what was spent since it was last read. The thread that asks is left out."""

    def __init__(self, without: int) -> None:
        self._without = without
        self._seen: dict[str, Used] = {}
        self._at_disk = False
        self._look()
        self._read_at = time.monotonic()

    def read(self) -> Spent:
        before, passed = self._seen, time.monotonic() - self._read_at
        self._look()
        self._read_at = time.monotonic()
        ran = wanted = 0.0
        for key, now in self._seen.items():
            then = before.get(key, Used(0.0))
            wanted += max(0.0, now.ran - then.ran) + max(0.0, now.waited - then.waited)
            if not key.startswith("reaped"):  # those were counted while they lived
                ran += max(0.0, now.ran - then.ran)
        return Spent(0.0 if self._at_disk else passed, wanted, ran)

    def _look(self) -> None:
        self._seen, self._at_disk = {}, False
        if (_PROC / "self" / "schedstat").exists():
            self._look_at(os.getpid())
        else:
            self._seen["this process"] = Used(time.process_time())

    def _look_at(self, pid: int) -> None:
        """It, and its descendants. One that ends meanwhile is not there, that is all."""
        with suppress(OSError):
            stat = _fields(_PROC / str(pid) / "stat")
            self._seen[f"reaped by {pid}"] = Used((int(stat[13]) + int(stat[14])) * _JIFFY)
            for thread in list((_PROC / str(pid) / "task").iterdir()):
                for child in self._look_at_thread(thread):
                    self._look_at(child)

    def _look_at_thread(self, thread: Path) -> Iterator[int]:
        if thread.name == str(self._without):
            return
        with suppress(OSError):
            ran, waited, _ = (thread / "schedstat").read_text().split()
            self._seen[thread.name] = Used(int(ran) * _NANO, int(waited) * _NANO)
            self._at_disk |= _fields(thread / "stat")[0] == "D"
            yield from map(int, (thread / "children").read_text().split())


def _fields(stat: Path) -> list[str]:
    """What stands behind the name, which may hold spaces and brackets: the state first."""
    return stat.read_text(errors="replace").rpartition(")")[2].split()
