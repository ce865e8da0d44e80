"""A warden that reaches process groups, where nothing better holds."""

from __future__ import annotations

import os
import signal
import socket

from . import signals
from .family import Procfs, Relative
from .page import PageReader
from .warden import Branch, WardenProcess


class GroupWarden(WardenProcess):
    """Reaches the process groups of what it started, and says no more than that.

    A leader that has ended is not reaped: as long as it is there, its number, which is also its
    group's, is nobody else's.
    """

    def __init__(
        self,
        channel: socket.socket,
        host: int,
        outside: Procfs | None,
        page: PageReader | None = None,
    ) -> None:
        super().__init__(channel, host, outside, page)
        self._groups: set[int] = set()

    def ask_everybody(self) -> None:
        self._signal_groups(signal.SIGTERM)
        self._signal_groups(signal.SIGCONT)

    def kill_everybody(self) -> None:
        self._signal_groups(signal.SIGKILL)

    def hold_everybody(self) -> None:
        self._signal_groups(signal.SIGSTOP)

    def let_everybody_go_on(self) -> None:
        self._signal_groups(signal.SIGCONT)

    def signal_branch(self, branch: Branch, number: int) -> None:
        if branch.pid in self._groups:
            signals.to(-branch.pid, number)

    def alive_in(self, branch: Branch) -> set[int]:
        return {kin.pid for kin in self._living() if kin.group == branch.pid}

    def _signal_groups(self, number: int) -> None:
        for group in self._groups:
            signals.to(-group, number)

    def _living(self) -> list[Relative]:
        everyone = self._outside.everyone() if self._outside else ()
        return [kin for kin in everyone if kin.group in self._groups]

    def _reap(self) -> bool:
        self._groups.update(self._started)
        for pid in list(self._started):
            if info := os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                code = info.si_status if info.si_code == os.CLD_EXITED else -info.si_status
                self.ended(pid, code)
        if self._outside is None:  # nobody can tell who else is in a group, so all are killed
            return not self._started and (self._killing or not self._groups)
        living = {kin.group for kin in self._living()} | set(self._started)
        for group in self._groups - living:
            os.waitpid(group, 0)  # nobody is left in it, so its number may be another's
            self._groups.discard(group)
        return not living
