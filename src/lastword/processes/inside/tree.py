"""Wardens to whom every orphan comes: by the kernel's word, or in a namespace of their own."""

from __future__ import annotations

import os
import signal
import socket
import time

from . import signals
from .family import Procfs
from .page import Page
from .stillness import Stillness
from .storm import end_storm
from .warden import Warden

_STILL = "TtZX"  # states of who is stopped, or has ended
_A_STORM = 0.05  # seconds after which whoever is left forks faster than it is killed


class TreeWarden(Warden):
    """Every orphan comes to it, so whoever is killed next is always a child of its own."""

    def __init__(
        self, channel: socket.socket, host: int, outside: Procfs, page: Page | None = None
    ) -> None:
        super().__init__(channel, host, outside, page)
        self._proc = outside
        self._stillness = Stillness()

    def hold_everybody(self) -> None:
        self._stillness.hold(self._proc)

    def let_everybody_go_on(self) -> None:
        self._stillness.end()

    def ask_everybody(self) -> None:
        mine = self._proc.children(self._proc.me)
        below = [pidfd for pid in mine for pidfd in self.branch(pid)]
        for number in (signal.SIGTERM, signal.SIGCONT):
            for pid in mine:
                signals.to(pid, number)
            for pidfd in below:
                signals.through(pidfd, number)
        signals.close(below)

    def kill_everybody(self) -> None:
        if self._kill_at is not None and time.monotonic() > self._kill_at + _A_STORM:
            end_storm(self._proc, self._reap)
        for pid in self._proc.children(self._proc.me):
            signals.to(pid, signal.SIGKILL)

    def stands_still(self, pid: int) -> bool:
        family = (self._proc.look(pid), *self._proc.descendants(pid))
        return all(kin.state in _STILL for kin in family if kin)

    def branch(self, pid: int) -> list[int]:
        found: list[int] = []
        parents = [(pid, -1)]
        while parents:
            parent, held = parents.pop()
            for child in self._proc.children(parent):
                pidfd = signals.pidfd(child)
                if pidfd < 0:
                    continue
                kin = self._proc.look(child)
                # a number alone may be somebody else's by now; one whose descriptor still lives,
                # and whose parent is one of ours and still lives, cannot be
                if (
                    kin
                    and kin.parent == parent
                    and signals.through(pidfd, 0)
                    and (held < 0 or signals.through(held, 0))
                ):
                    found.append(pidfd)
                    parents.append((child, pidfd))
                else:
                    os.close(pidfd)
        return found


class SealedWarden(TreeWarden):
    """The first process of a namespace: it reaches everybody in it at once, and nobody else."""

    def __init__(
        self,
        channel: socket.socket,
        host: int,
        outside: Procfs,
        inside: Procfs,
        page: Page | None = None,
    ) -> None:
        super().__init__(channel, host, outside, page)
        self._proc = inside

    def ask_everybody(self) -> None:
        signals.to(-1, signal.SIGTERM)
        signals.to(-1, signal.SIGCONT)

    def kill_everybody(self) -> None:
        signals.to(-1, signal.SIGKILL)
