"""Tools of a module, to be called in processes of their own."""

import ctypes
import mmap
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def parent() -> int:
    return os.getppid()


def stay() -> None:
    time.sleep(3600)


class Acting:
    """Does something as it is read."""

    def __init__(self, does: Callable[..., object], *args: object) -> None:
        self._does = does, args

    def __reduce__(self) -> Any:
        return self._does


def leaving() -> Acting:
    return Acting(sys.exit, 3)


def acting(path: str) -> Acting:
    return Acting(open, path, "w")


def reopen_the_lease() -> list[str]:
    """Try to write on the page by which this process is held; what could be done."""
    done: list[str] = []
    libc = ctypes.CDLL(None, use_errno=True)
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if "lastword lease" in line:
            done.append("it is there")
            at = ctypes.c_void_p(int(line.split("-")[0], 16))
            if libc.mprotect(at, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) == 0:
                done.append("mprotect")
    return done


def powers() -> str:
    """The capabilities of this process, as the kernel spells them."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(line.split()[1] for line in status.splitlines() if line.startswith("CapPrm"))


def seen() -> tuple[int, str, str]:
    """The umask; and what this process is called, and a fork of it."""
    mask = os.umask(0o077)
    os.umask(mask)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, _called().encode())
        os._exit(0)
    os.wait()
    return mask, _called(), os.read(reader, 100).decode()


def _called() -> str:
    return Path("/proc/self/comm").read_text(encoding="utf-8").strip()
