"""How those are killed who fork faster than they die.

Killed one by one, they make room for others of their kind. So all are held first, which uses up
no room, until none is found who is not; and then killed, all of them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Container

from .family import Procfs

_ROUNDS = 50  # and then they are killed all the same
_GONE = (ProcessLookupError, PermissionError)


def end_storm(proc: Procfs, reap: Callable[[], object], spared: Container[int] = ()) -> None:
    """Hold everybody below this process, and kill them; `spared` are children of its own."""
    for _ in range(_ROUNDS):
        if not _signal_below(proc, signal.SIGSTOP, spared):
            break
        reap()
    _signal_below(proc, signal.SIGKILL, spared)


def _signal_below(proc: Procfs, number: int, spared: Container[int]) -> int:
    """How many there were who were not held already."""
    found = 0
    parents = [(proc.me, -1)]
    while parents:
        parent, held = parents.pop()
        for child in proc.children(parent):
            if child in spared:
                continue
            try:
                pidfd = os.pidfd_open(child)
            except OSError:
                continue
            kin = proc.look(child)
            if kin and kin.parent == parent and _sent(held, 0) and _sent(pidfd, number):
                found += kin.state not in "Tt"
                parents.append((child, pidfd))
            else:
                os.close(pidfd)
        if held >= 0:
            os.close(held)
    return found


def _sent(pidfd: int, number: int) -> bool:
    try:
        if pidfd >= 0:  # our own children are known by their number
            signal.pidfd_send_signal(pidfd, number)
    except _GONE:
        return False
    return True
