"""Everybody below a warden, held where they are and let go on, as if nothing had happened.

Parents are held before their children, and go on after them, so that no shell sees a job of its
own stopped. Who was stopped already is left alone, and stays so.
"""

from __future__ import annotations

import signal

from . import signals
from .family import Procfs, Relative

_ROUNDS = 50  # in one go; whoever is left is found the next time


class Stillness:
    """Those who are held, in the order in which they were."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, int], Relative] = {}

    def hold(self, proc: Procfs) -> None:
        """Hold everybody, until nobody is found who goes on. Who stands still forks no more."""
        for _ in range(_ROUNDS):
            if not self._hold_below(proc):
                return

    def end(self, proc: Procfs) -> None:
        """Let them go on."""
        for kin in reversed(self._held.values()):
            signals.to_kin(proc, kin, signal.SIGCONT)
        self._held.clear()

    def _hold_below(self, proc: Procfs) -> int:
        """How many there were who went on.

        Whoever was told before, and is in the kernel since (D), goes no further: it has forked as
        `vfork` does, and waits there for a child that is held itself.
        """
        found = 0
        for kin in proc.below(proc.me):
            if kin.state not in "Tt" and signals.to_kin(proc, kin, signal.SIGSTOP):
                found += kin.state != "D" or (kin.pid, kin.start) not in self._held
                self._held[kin.pid, kin.start] = kin
        return found
