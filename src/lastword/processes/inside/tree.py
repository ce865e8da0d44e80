"""Wardens to whom every orphan comes: by the kernel's word, or in a namespace of their own."""

from __future__ import annotations

import signal
import socket
import time
from contextlib import suppress

from . import signals
from .family import Procfs, Relative
from .page import PageReader
from .stillness import Stillness
from .storm import end_storm
from .warden import Branch, WardenProcess

_STILL = "TtZX"  # states of who is stopped, or has ended
_A_STORM = 0.05  # seconds after which whoever is left forks faster than it is killed


class TreeWarden(WardenProcess):
    """Every orphan comes to it, so whoever is killed next is always a child of its own."""

    def __init__(
        self, channel: socket.socket, host: int, outside: Procfs, page: PageReader | None = None
    ) -> None:
        super().__init__(channel, host, outside, page)
        self._proc = outside
        self._stillness = Stillness()

    def hold_everybody(self) -> None:
        try:
            self._stillness.hold(self._proc)
        except OSError:  # blind: at least our own children
            for pid in self._proc.my_children():
                signals.to(pid, signal.SIGSTOP)

    def let_everybody_go_on(self) -> None:
        self._stillness.end(self._proc)

    def ask_everybody(self) -> None:
        with suppress(OSError):  # blind: then they are killed, which takes no look further down
            everybody = list(self._proc.below(self._proc.me))
            for number in (signal.SIGTERM, signal.SIGCONT):
                for kin in everybody:
                    signals.to_kin(self._proc, kin, number)

    def kill_everybody(self) -> None:
        if self._kill_at is not None and time.monotonic() > self._kill_at + _A_STORM:
            with suppress(OSError):
                end_storm(self._proc, self._reap)
        for pid in self._proc.my_children():
            signals.to(pid, signal.SIGKILL)

    def stands_still(self, pid: int) -> bool:
        try:
            family = (self._proc.look(pid), *self._proc.below(pid))
        except OSError:
            return False
        return all(kin.state in _STILL for kin in family if kin)

    def branch(self, pid: int) -> list[Relative]:
        found: list[Relative] = []
        with suppress(OSError):  # what cannot be seen now comes to us, and is found at the end
            for kin in self._proc.below(pid):
                found.append(kin)  # noqa: PERF402 - those who were found before count
        return found

    def send(self, kin: Relative, number: int) -> None:
        signals.to_kin(self._proc, kin, number)

    def alive_in(self, branch: Branch) -> set[int]:
        with suppress(OSError):
            living = [kin for kin in branch.below if self._proc.is_still(kin)]
            return {self.host_number(kin.pid) for kin in living}
        return set()


class SealedWarden(TreeWarden):
    """The first process of a namespace: it reaches everybody in it at once, and nobody else."""

    def __init__(
        self,
        channel: socket.socket,
        host: int,
        outside: Procfs,
        inside: Procfs,
        page: PageReader | None = None,
    ) -> None:
        super().__init__(channel, host, outside, page)
        self._proc = inside

    def ask_everybody(self) -> None:
        signals.to(-1, signal.SIGTERM)
        signals.to(-1, signal.SIGCONT)

    def kill_everybody(self) -> None:
        signals.to(-1, signal.SIGKILL)
