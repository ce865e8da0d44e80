"""The zygote: started by `exec`, small and warm, it forks a warden for every run.

It adopts orphans too. If a warden is killed, whatever it kept comes here, and whoever comes here
and is not a warden is killed; only then is the warden reported gone. The host itself adopts
nobody: it has children of its own.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress

from . import kernel, wire
from .family import Procfs
from .page import Page
from .post import take_up
from .storm import end_storm
from .wake import Wake

_AGAIN = 0.002
_A_STORM = 0.05  # seconds after which whoever is left forks faster than it is killed


class Zygote:
    """Lives as long as the host, and as any warden."""

    def __init__(self, channel: socket.socket, host: int, proc: Procfs | None, page: Page) -> None:
        self._page = page  # every warden's: whoever is forked has it too
        self._channel = channel
        self._inbox = wire.Inbox(channel)
        self._host = host
        self._wake = Wake(channel, host)
        self._proc = proc  # None: it adopts nobody, so there is nobody to look for
        self._wardens: dict[int, int] = {}  # by process number: their ids
        self._gone: list[int] = []
        self._serving = True
        self._strays_since = 0.0
        self._beyond: set[int] = set()  # strays that may not be signalled
        self._left: set[int] = set()  # of those, what the warden left that has just gone

    def serve(self) -> None:
        """Until the host has gone and no warden is left."""
        strays = False
        while self._serving or self._wardens or strays:
            message, host_gone = self._wake.wait(_AGAIN if strays else None)
            if message:
                self._read()
            if host_gone:
                self._serving = False
            self._reap()
            if not strays:
                self._strays_since = time.monotonic()
            strays = self._kill_strays()
            if not strays:
                self._report()

    def _read(self) -> None:
        try:
            for order, fds in self._inbox.receive():
                self._fork(order, fds[0])
        except EOFError:
            self._channel.close()
            self._serving = False

    def _fork(self, order: wire.Message, fd: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            os.close(fd)
            self._tell({"failed": order["warden"], "why": f"fork: {error.strerror}"})
            return
        if pid == 0:
            try:
                self._channel.close()
                os.setsid()
                take_up(socket.socket(fileno=fd), self._host, order, self._page)
            finally:
                os._exit(1)
        os.close(fd)
        self._wardens[pid] = order["warden"]

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._wardens:
                self._gone.append(self._wardens.pop(pid))

    def _kill_strays(self) -> bool:
        """Whether somebody was left behind by a warden that was killed."""
        if self._proc is None:
            return False
        # only we reap them, so nobody can leave this list while it is read: it misses none
        strays = [pid for pid in self._proc.children(self._proc.me) if pid not in self._wardens]
        if strays and time.monotonic() > self._strays_since + _A_STORM:
            end_storm(self._proc, self._reap, self._wardens)
        beyond = {pid for pid in strays if not _kill(pid)}  # another user's, such as sudo's
        self._left |= beyond - self._beyond
        self._beyond = beyond
        return len(strays) > len(beyond)

    def _report(self) -> None:
        for id_ in self._gone:
            self._tell({"gone": id_, "left": sorted(self._left)})
        self._gone.clear()
        self._left.clear()

    def _tell(self, message: wire.Message) -> None:
        with suppress(OSError):  # the host may have gone
            wire.send(self._channel, message)


def _kill(pid: int) -> bool:
    """Whether it could be: a child that is not reaped is nobody else's."""
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass
    return True


def main() -> None:
    """The channel is standard input; what the host says of itself is the argument."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the host's comes along, and is not ours
    asked = json.loads(sys.argv[1])
    channel = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    for place in (0, 1, 2):
        os.dup2(null, place)
    try:
        proc = None
        if asked["adopt"]:
            kernel.adopt_orphans()
            proc = Procfs(scan=asked["scan"])
        zygote = Zygote(channel, _watch(asked["host"]), proc, Page(asked["page"]))
        wire.send(channel, {"ready": os.getpid()})
    except OSError as error:
        wire.send(channel, {"failed": 0, "why": error.strerror or str(error)})
        return
    gc.collect()
    gc.freeze()  # what is here now is shared by every fork, untouched
    zygote.serve()


def _watch(host: int) -> int:
    """A descriptor that tells of the host's end; -1 where there are none."""
    if not hasattr(os, "pidfd_open") or not sys.platform.startswith("linux"):
        return -1
    try:
        pidfd = os.pidfd_open(host)
    except OSError:
        return -1
    if os.getppid() != host:  # it ended before we looked, and this is a stranger
        os._exit(0)
    return pidfd
