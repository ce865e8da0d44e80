"""The machine that a verdict was made on: how late it is, and what it may keep apart.

A busy machine is no fault of a target's. While a story runs, the kit measures how late it is
itself; what was seen by somebody who was late is not believed.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import platform
import socket
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lastword.check import background
from lastword.check.times import now

TOO_LATE = 0.25  # seconds
_STARVED = 2.0  # seconds
_EVERY = 0.05
_NEWNET, _NEWUSER = 0x40000000, 0x10000000
_SUBREAPER = 36
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


class Lag:
    """How late the kit itself has been."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._since: list[tuple[float, float]] = []
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Lag:
        self._task = background.begin(self._measure(), "check: lag")
        return self

    async def __aexit__(self, *_: object) -> None:
        await background.end(self._task)

    def since(self, at: float) -> float:
        """The worst after this moment."""
        return max((late for when, late in self._since if when >= at), default=0.0)

    async def _measure(self) -> None:
        while True:
            before = now()
            await asyncio.sleep(_EVERY)
            late = now() - before - _EVERY
            if late > TOO_LATE / 10:
                self._since = [*self._since[-500:], (now(), late)]
            self.worst = max(self.worst, min(late, TOO_LATE))


def weights(pids: Iterable[int]) -> dict[str, int]:
    """What these processes weigh together; what Linux does not tell of one is left out."""
    found = {"threads": 0, "descriptors": 0, "memory_mb": 0}
    for pid in pids:
        own = Path(f"/proc/{pid}")
        with contextlib.suppress(OSError, ValueError, KeyError):
            lines = (own / "status").read_text(encoding="utf-8").splitlines()
            told = dict(line.split(":", 1) for line in lines if ":" in line)
            found["threads"] += int(told["Threads"])
            found["memory_mb"] += int(told["VmRSS"].split()[0]) // 1024
            found["descriptors"] += len(list((own / "fd").iterdir()))
    return found


def waits(pids: Iterable[int]) -> dict[str, float]:
    """For how many seconds each thread of these has waited for a processor, ready to work; nothing
    where Linux does not count it."""
    found: dict[str, float] = {}
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                counted = (thread / "schedstat").read_text(encoding="ascii").split()
                found[str(thread)] = int(counted[1]) / 1e9
    return found


def starved(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """That one of these threads had to wait for too long, in words; nothing if none had."""
    most = max((told - before.get(thread, 0.0) for thread, told in after.items()), default=0.0)
    return f"the target waited {most:.1f} s for a processor" if most > _STARVED else ""


def adopt() -> bool:
    """Be the one to whom those come who lose their parents: nobody gets away from below us.

    Whether that can be had. It takes Linux.
    """
    if platform.system() != "Linux":
        return False
    return ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0


def alone() -> str:
    """Leave this process, and all that it starts, with no network but its own loopback.

    How the network stands now, in words. It takes Linux; an ordinary user gets a namespace of users
    with it, where the kernel lets them. A child tries it first: there is no way back.
    """
    if platform.system() != "Linux" or not _works():
        return "shared: what else was asked is not known"
    _leave()
    return "a namespace of its own: nothing but our model can be asked"


def _works() -> bool:
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            _leave()
            failed = 0
        finally:
            os._exit(failed)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _leave() -> None:
    """Into the namespace. Raises OSError."""
    user, group = os.geteuid(), os.getegid()
    flags = _NEWNET | (_NEWUSER if user else 0)
    if ctypes.CDLL(None, use_errno=True).unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "no namespace")
    if user:
        me = Path("/proc/self")
        (me / "setgroups").write_text("deny", encoding="utf-8")
        (me / "uid_map").write_text(f"{user} {user} 1", encoding="utf-8")
        (me / "gid_map").write_text(f"{group} {group} 1", encoding="utf-8")
    import fcntl  # noqa: PLC0415 - not everywhere

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        request = struct.pack("16sh", b"lo", 0)
        found = fcntl.ioctl(one, _GET_FLAGS, request + b"\0" * 14)
        up = struct.unpack("16sh", found[:18])[1] | _UP
        fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sh", b"lo", up) + b"\0" * 14)


def described(network: str, lag: Lag) -> dict[str, Any]:
    """For a report."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "worst_lag_ms": round(lag.worst * 1000),
        "network": network,
    }
