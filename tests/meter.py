"""What this process and all that descend from it want of the machine.

The kernel counts how long each process ran, and for each thread how long it was ready to run and
stood in line for a processor. The two together are what was wanted; a busy machine moves time from
one to the other, and changes nothing of their sum. Of threads and processes that come and go
between two looks, only what they ran is known, not how long they stood in line; so while anybody
does, on the whole machine, time passes slowly here.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_NANO, _MICRO = 1e-9, 1e-6
_JIFFY = 1 / os.sysconf("SC_CLK_TCK")
_LOOKING = threading.Lock()  # held while files are open for a look
_STARVED = 0.1  # of the time in which somebody stands in line, so much passes


class Spent(NamedTuple):
    """Since it was last asked, in seconds."""

    passed: float
    wanted: float  # to run, by all together; told late while they stand in line
    ran: float


class Used(NamedTuple):
    """By a process, by a thread that lives, or by those that a process has reaped."""

    ran: float
    waited: float = 0.0


class Meter:
    """Reads what was spent since it was last read. The thread that asks is left out."""

    def __init__(self) -> None:
        self._seen: dict[str, Used] = {}
        self._at_disk = False
        self._look()
        self._pressure = _pressure()
        self._read_at = time.monotonic()

    def read(self) -> Spent:
        before, pressure, passed = self._seen, self._pressure, time.monotonic() - self._read_at
        self._look()
        self._pressure = _pressure()
        self._read_at = time.monotonic()
        starved = min(passed, self._pressure - pressure)
        ran = wanted = 0.0
        for key, now in self._seen.items():
            then = before.get(key, Used(0.0))
            wanted += max(0.0, now.ran - then.ran) + max(0.0, now.waited - then.waited)
            if not key.startswith("reaped"):  # those were counted while they lived
                ran += max(0.0, now.ran - then.ran)
        passed -= (1 - _STARVED) * starved
        return Spent(0.0 if self._at_disk else passed, wanted, ran)

    def _look(self) -> None:
        self._seen, self._at_disk = {}, False
        with _LOOKING:
            self._look_at(os.getpid())
        ran, _ = self._seen.get(str(os.getpid()), Used(time.process_time()))
        self._seen[str(os.getpid())] = Used(ran - time.thread_time())

    def _look_at(self, pid: int) -> None:
        """It, and its descendants. One that ends meanwhile is not there, that is all."""
        with suppress(OSError):
            times = [int(text) * _JIFFY for text in _fields(_PROC / str(pid) / "stat")[11:15]]
            self._seen[str(pid)] = Used(times[0] + times[1])
            self._seen[f"reaped by {pid}"] = Used(times[2] + times[3])
            for thread in list((_PROC / str(pid) / "task").iterdir()):
                for child in self._look_at_thread(thread):
                    self._look_at(child)

    def _look_at_thread(self, thread: Path) -> Iterator[int]:
        with suppress(OSError):
            self._at_disk |= _fields(thread / "stat")[0] == "D"
            yield from map(int, (thread / "children").read_text().split())
            _, waited, _ = (thread / "schedstat").read_text().split()
            self._seen[f"thread {thread.name}"] = Used(0.0, int(waited) * _NANO)


def _fields(stat: Path) -> list[str]:
    """What stands behind the name, which may hold spaces and brackets: the state first."""
    return stat.read_text(errors="replace").rpartition(")")[2].split()


def _pressure() -> float:
    """For how long, since the machine began, somebody has stood in line for a processor."""
    with _LOOKING, suppress(OSError, ValueError):
        some, *_ = (_PROC / "pressure" / "cpu").read_text().splitlines()
        return int(some.rpartition("total=")[2]) * _MICRO
    return 0.0


def open_files(pid: int | None = None) -> dict[str, str]:
    """The descriptors of a process, this one if none is named, and what each is of; no meter's."""
    folder = _PROC / ("self" if pid is None else str(pid)) / "fd"
    with _LOOKING:
        links = [folder / name for name in os.listdir(folder)]  # noqa: PTH208 - closed by then
        return {link.name: str(link.readlink()) for link in links if link.is_symlink()}
