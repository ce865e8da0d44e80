"""Processes of this machine: whether one has ended, as far as anybody here can tell.

A number of a process means something only where it was given out, and only together with when the
process started; numbers are used again.
"""

from __future__ import annotations

import os
from pathlib import Path


def place() -> str:
    """Within what a pid means one process; empty if there is no telling."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def started(pid: int) -> int | None:
    """When a process started, as the kernel counts; 0: it ended and is not buried yet; None: there
    is no telling, for some systems hide what is other people's."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    state, *rest = stat.rpartition(")")[2].split()
    return 0 if state in "ZXx" else int(rest[18])


def is_gone(pid: int, then: int) -> bool:
    """Whether the process that had this number then has ended. False if nobody can tell."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # somebody else's
    now = started(pid)
    return now is not None and then not in (0, now)
