"""Everybody below a warden, held where they are and let go on, as if nothing had happened.

Parents are held before their children, and go on after them, so that no shell sees a job of its
own stopped. Who was stopped already is left alone, and stays so.
"""

from __future__ import annotations

import os
import signal

from . import signals
from .family import Procfs

_ROUNDS = 50  # in one go; whoever is left is found the next time


class Stillness:
    """Those who are held, in the order in which they were."""

    def __init__(self) -> None:
        self._held: dict[int, int] = {}  # by number: descriptors

    def hold(self, proc: Procfs) -> None:
        """Hold everybody, until nobody is found who goes on. Who stands still forks no more."""
        for _ in range(_ROUNDS):
            if not self._hold_below(proc):
                return

    def end(self) -> None:
        """Let them go on."""
        for pidfd in reversed(self._held.values()):
            signals.through(pidfd, signal.SIGCONT)
        signals.close(list(self._held.values()))
        self._held.clear()

    def _hold_below(self, proc: Procfs) -> int:
        """How many there were who went on."""
        found, others = 0, list[int]()  # who was stopped before, and is only looked below
        parents = [(proc.me, -1)]
        while parents:
            parent, above = parents.pop()
            for child in proc.children(parent):
                pidfd = self._descriptor(child)
                kin = proc.look(child)
                # a number alone may be a stranger's by now; one whose descriptor still lives, and
                # whose parent is one of ours and still lives, cannot be
                lives = signals.through(pidfd, 0) and (above < 0 or signals.through(above, 0))
                if kin and kin.parent == parent and lives:
                    parents.append((child, pidfd))
                    if kin.state not in "Tt" and signals.through(pidfd, signal.SIGSTOP):
                        self._held[child] = pidfd
                        found += 1
                if self._held.get(child) != pidfd:
                    others.append(pidfd)
        signals.close([pidfd for pidfd in others if pidfd >= 0])
        return found

    def _descriptor(self, pid: int) -> int:
        held = self._held.get(pid, -1)
        if held >= 0 and not signals.through(held, 0):  # it ended, and its number is another's
            os.close(self._held.pop(pid))
            held = -1
        return held if held >= 0 else signals.pidfd(pid)
