"""Signals to those who may have gone meanwhile."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from .family import Procfs, Relative

_GONE = (ProcessLookupError, PermissionError)


def to(pid: int, number: int) -> None:
    """By its number, which must be nobody else's: a child's that was not reaped, or a group's."""
    with suppress(*_GONE):
        os.kill(pid, number)


def to_kin(proc: Procfs, kin: Relative, number: int) -> bool:
    """To whom it was seen to be, and nobody who has its number by now; whether it was there.

    Whoever has the number when the descriptor is opened has it still when it is looked at, if it
    is the one that had it before.
    """
    try:
        pidfd = os.pidfd_open(kin.pid)
    except OSError:
        return False
    try:
        if not proc.is_still(kin):
            return False
        signal.pidfd_send_signal(pidfd, number)
    except OSError:
        return False
    finally:
        os.close(pidfd)
    return True
