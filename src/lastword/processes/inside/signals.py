"""Signals to those who may have gone meanwhile."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

_GONE = (ProcessLookupError, PermissionError)


def to(pid: int, number: int) -> None:
    """By its number, which must be nobody else's: a child's that was not reaped, or a group's."""
    with suppress(*_GONE):
        os.kill(pid, number)


def pidfd(pid: int) -> int:
    """A descriptor of whoever has this number now; -1 if there is none to be had."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def close(pidfds: list[int]) -> None:
    """They are not needed any more."""
    for each in pidfds:
        os.close(each)


def through(pidfd: int, number: int) -> bool:
    """To nobody but whom the descriptor is of; whether it was still there."""
    if pidfd < 0:
        return False
    try:
        signal.pidfd_send_signal(pidfd, number)
    except _GONE:
        return False
    return True
