"""How those are killed who fork faster than they die.

Killed one by one, they make room for others of their kind. So all are held first, which uses up
no room, until none is found who is not; and then killed, all of them.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Container

from . import signals
from .family import Procfs

_ROUNDS = 50  # and then they are killed all the same


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
    for kin in proc.below(proc.me, spared):
        if signals.to_kin(proc, kin, number):
            found += kin.state not in "Tt"
    return found
