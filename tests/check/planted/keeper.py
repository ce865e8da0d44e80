"""Runs one command for the planted agent, and sees off all that came of it when its input closes.

    python keeper.py COMMAND

It is the subreaper of what it starts, so daemons come to it, too. That the command itself is over
it says on its standard error.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

_SUBREAPER = 36


def children_of(pid: int) -> list[int]:
    """Its processes, and theirs."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text().rpartition(") ")[2].split()
                parents[int(entry.name)] = int(stat[1]) if stat[0] != "Z" else 0
    found: list[int] = []
    left = [pid]
    while left:
        one = left.pop()
        mine = [child for child, parent in parents.items() if parent == one]
        found += mine
        left += mine
    return found


def main() -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    command = subprocess.Popen(["/bin/sh", "-c", sys.argv[1]], stdin=subprocess.DEVNULL)

    def tell() -> None:
        command.wait()
        os.write(2, b"over\n")

    threading.Thread(target=tell, daemon=True).start()
    os.read(0, 1)
    while left := children_of(os.getpid()):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)
    os._exit(0)


if __name__ == "__main__":
    main()
