"""The zygote: started by `exec`, small and warm, it forks a warden for every run.

It adopts orphans too. If a warden is killed, whatever it kept comes here, and whoever comes here
and is not a warden is killed; only then is the warden reported gone. Of who may not be killed, such
as another user's, whoever is below is killed, or named as well: those are not children of ours, so
they are looked for until two looks agree. The host itself adopts
nobody: it has children of its own. Should the host be killed and something be stopped, the kernel
wakes the zygote, and the zygote wakes its wardens, and then kills them.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from . import kernel, nursery, room, signals, wire
from .family import Procfs, Relative
from .page import PageReader
from .post import take_up
from .storm import end_storm
from .strays import Strays
from .wake import Wakeups

_NOBODY = 0  # no warden has this id
_AGAIN, _LATER = 0.002, 1.0  # seconds between two kills of somebody: at first, and at last
_SLOWER = 20  # a kill is repeated after this part of the time that they have withstood it
_A_STORM = 0.05  # seconds after which whoever still comes forks faster than it is killed
_WAKING = 0.05  # seconds between two calls to wardens whose host has gone
_DESERTED = 2.0  # seconds after which a warden that has not left by itself is killed


class ZygoteProcess:
    """Lives as long as the host, and as any warden."""

    def __init__(
        self, channel: socket.socket, host: int, proc: Procfs | None, page: PageReader
    ) -> None:
        self._page = page  # every warden's: whoever is forked has it too
        self._channel = channel
        self._inbox = wire.WireInbox(channel)
        self._host = host
        self._wake = Wakeups(channel, host)
        self._proc = proc  # None: it adopts nobody, so there is nobody to look for
        self._wardens: dict[int, int] = {}  # by process number: their ids
        self._struck: set[int] = set()  # ids of those that the host has killed, or lost
        self._gone: list[int] = []
        self._deserted: float | None = None  # since when there is no host
        self._strays = Strays()
        self._beyond: set[int] = set()  # strays that may not be signalled
        self._since = 0.0  # when the last of them came
        self._calm = 0.0  # when last nobody came
        self._moved_since = 0.0  # since when they come and go while they are looked at
        self._moving = False  # who lives on below strays was not the same at two looks
        self._standing = room.standing()

    def serve(self) -> None:
        """Until the host has gone and no warden is left, nor anybody who can be ended."""
        while self._deserted is None or self._wardens or len(self._strays) > len(self._beyond):
            message, host_gone = self._wake.wait(self._patience())
            if message:
                self._read()
            if host_gone:
                self._is_deserted()
            self._reap()
            self._see_off()
            self._call_wardens()

    def _patience(self) -> float | None:
        waits: list[float] = []
        if len(self._strays) > len(self._beyond):
            withstood = time.monotonic() - self._since
            waits.append(min(max(withstood / _SLOWER, _AGAIN), _LATER))
        if self._moving:
            waits.append(_AGAIN)
        if self._deserted is not None:
            waits.append(_WAKING)
        return min(waits, default=None)

    def _read(self) -> None:
        try:
            for order, fds in self._inbox.receive():
                self._carry_out(order, fds)
        except EOFError:
            self._wake.hung_up()
            self._channel.close()
            self._is_deserted()

    def _carry_out(self, order: wire.Message, fds: list[int]) -> None:
        match order:
            case {"struck": id_}:
                self._struck.add(id_)
            case {"warden": id_} if wire.LOST in order or room.standing() != self._standing:
                self._tell({"unfit": id_})  # its forks would be no better
                for fd in fds:
                    os.close(fd)
            case {"warden": _}:
                self._fork(order, fds)
            case _:
                pass

    def _fork(self, order: wire.Message, fds: list[int]) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            self._tell({"failed": order["warden"], "why": f"fork: {error.strerror}"})
        else:
            if pid == 0:
                try:
                    self._channel.close()
                    os.setsid()
                    take_up(socket.socket(fileno=fds[0]), self._host, order, self._page, *fds[1:])
                finally:
                    os._exit(1)
            self._wardens[pid] = order["warden"]
            self._tell({"forked": order["warden"]})
        finally:
            for fd in fds:
                os.close(fd)

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
            self._strays.reaped(pid)

    # whoever was left behind

    def _see_off(self) -> None:
        """End those whose warden has gone; and tell of a warden once nobody of it is left."""
        if self._proc is None:
            self._report([(id_, []) for id_ in self._gone], {})
            self._gone.clear()
            return
        dead = self._dead()  # first: whom they left is among those who are here
        # only we reap them, so nobody can leave this list while it is read: it misses none
        present = self._adopted(self._proc)
        now = time.monotonic()
        if self._strays.look(present, self._gone, dead):
            self._since = now
        else:
            self._calm = now
        self._gone.clear()
        if now > self._calm + _A_STORM:
            with suppress(OSError):
                end_storm(self._proc, self._reap, self._wardens)
        patient = now < self._since + _LATER  # some are born for ever
        beyond = {pid for pid in present if not _kill(pid)}  # another user's, such as sudo's
        self._beyond = {pid for pid in beyond if not (self._kill_below(pid) and patient)}
        families = self._families(self._beyond)
        moved = bool(beyond) and self._moved(families, present, patient=patient)
        self._moved_since = (self._moved_since or now) if moved else 0.0
        self._moving = moved and now < self._moved_since + _LATER  # others' wardens wait no longer
        if not self._moving:
            self._report(self._strays.settled(self._beyond), families)

    def _adopted(self, proc: Procfs) -> set[int]:
        return {pid for pid in proc.my_children() if pid not in self._wardens}

    def _kill_below(self, stray: int) -> bool:
        """Whoever can be killed below one that cannot; whether there was somebody."""
        killed = False
        if self._proc is None:
            return killed
        with suppress(OSError):
            for kin in self._proc.below(stray):
                killed |= signals.to_kin(self._proc, kin, signal.SIGKILL)
        return killed

    def _families(self, strays: set[int]) -> dict[int, list[Relative]]:
        """Each that lives, and everybody below it."""
        return {pid: list(self._family(pid)) for pid in strays}

    def _family(self, stray: int) -> Iterator[Relative]:
        try:
            if self._proc and (kin := self._proc.look(stray)):
                yield kin
                yield from self._proc.below(stray)
        except OSError:  # blind: by its number, at least
            yield Relative(stray, "", "", 0, 0)

    def _moved(
        self, families: dict[int, list[Relative]], present: set[int], *, patient: bool
    ) -> bool:
        """Whether somebody may have been missed, who lost a parent while they were looked for."""
        again = self._families(self._beyond)
        if self._proc is None or not self._adopted(self._proc).issubset(present):
            return True
        return patient and any(_who(again[pid]) != _who(known) for pid, known in families.items())

    def _dead(self) -> list[int]:
        """Wardens that the host has lost, and that cannot be reaped since somebody traces them."""
        found = [pid for pid, id_ in self._wardens.items() if id_ in self._struck]
        self._struck &= {self._wardens[pid] for pid in found}
        with suppress(OSError):
            dead = [pid for pid in found if self._is_dead(pid)]
            self._reap()  # who has died only now can be, as any other
            return [self._told_dead(pid) for pid in dead if pid in self._wardens]
        return []

    def _is_dead(self, pid: int) -> bool:
        return self._proc is not None and self._proc.look(pid) is None

    def _told_dead(self, pid: int) -> int:
        """It is not to be told again when it is reaped."""
        id_, self._wardens[pid] = self._wardens[pid], _NOBODY
        self._struck.discard(id_)
        return id_

    def _report(
        self, settled: list[tuple[int, list[int]]], families: dict[int, list[Relative]]
    ) -> None:
        for id_, left in settled:
            if id_ != _NOBODY:
                found = [kin for pid in left for kin in families[pid]]
                self._tell({"gone": id_, "left": [self._named(kin) for kin in found]})

    def _named(self, kin: Relative) -> list[Any]:
        owner = -1
        with suppress(OSError):
            owner = self._proc.owner(kin.pid) if self._proc else -1
        return [kin.pid, kin.name, owner, kin.start, kin.parent]

    # without a host

    def _is_deserted(self) -> None:
        if self._deserted is None:
            self._deserted = time.monotonic()

    def _call_wardens(self) -> None:
        """With the host gone they leave by themselves, unless somebody has stopped them."""
        if self._deserted is not None:
            late = time.monotonic() > self._deserted + _DESERTED
            for pid in self._wardens:
                _send(pid, signal.SIGCONT)
                if late:
                    _send(pid, signal.SIGKILL)

    def _tell(self, message: wire.Message) -> None:
        with suppress(OSError):  # the host may have gone
            wire.send(self._channel, message)


def _who(family: list[Relative]) -> set[tuple[int, int]]:
    return {(kin.pid, kin.start) for kin in family}


def _kill(pid: int) -> bool:
    return _send(pid, signal.SIGKILL)


def _send(pid: int, number: int) -> bool:
    """Whether it could be: the number of a child that is not reaped is nobody else's."""
    try:
        os.kill(pid, number)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass
    return True


def main() -> None:
    """The channel is standard input; what the host says of itself is the argument."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the host's comes along, and is not ours
    kernel.be_out_of_reach()
    kernel.go_on_without_parent()
    room.have_all()
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
        host, page = _watch(asked["host"]), PageReader(asked["page"])
    except OSError as error:
        wire.send(channel, {"failed": 0, "why": error.strerror or str(error)})
        return
    nursery.then(_serve)
    _serve(channel, host, proc, page)


def _serve(channel: socket.socket, host: int, proc: Procfs | None, page: PageReader) -> None:
    zygote = ZygoteProcess(channel, host, proc, page)
    wire.send(channel, {"ready": os.getpid()})
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
