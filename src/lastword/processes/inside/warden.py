"""A warden: the one process that a run's processes descend from, and that sees them all off.

It has one thread, and only it reaps, so a child it has not reaped keeps its number. It signals
its own children by number and anybody further down through a descriptor that was checked, or, in
a namespace, everybody at once: never a stranger. It reaps inside every loop, or a storm of forks
would use up the machine's process numbers. It leaves when none is left, and that is the kernel's
word: a parent without children, to whom every orphan would have come.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import signals, start, wire
from .family import Procfs, Relative
from .nursery import tend
from .page import PageReader
from .wake import Wakeups
from .worker import call_of_python, module_of_ours

_GRACE_WITHOUT_HOST = 0.2
_SOON, _AGAIN, _LATER = 1.0, 0.002, 0.05  # how often a kill is repeated in its first second, then
_A_MOMENT = 0.25  # seconds in which those who are to be ended alone have stopped
_STILL_AGAIN = 0.05  # seconds between looks whether those who are held may go on


@dataclass
class Branch:
    """A child that is to be ended alone, with those below it as they were when it was asked."""

    pid: int
    until: float
    below: list[Relative]  # known by when they began, also once the child that led there has gone


class WardenProcess:
    """One run's. The levels differ in how everybody is reached."""

    def __init__(
        self,
        channel: socket.socket,
        host: int,
        outside: Procfs | None,
        page: PageReader | None = None,
    ) -> None:
        self._page = page or PageReader()
        self._still = False  # everybody is held where they are
        self._postponed: list[tuple[wire.Message, list[int]]] = []  # orders that came meanwhile
        self._channel = channel
        self._inbox = wire.WireInbox(channel)
        self._wake = Wakeups(channel, host)
        self._outside = outside  # the host's numbers, for reports; None where there is no /proc
        self._started: dict[int, int] = {}  # children started on order and not reaped: their ids
        self._numbers: dict[int, int] = {}  # of those, by id: what the host's /proc calls them
        self._ending: dict[int, Branch] = {}  # what is to be ended by itself, by its id
        self._kill_at: float | None = None  # set by a stop: nothing starts any more
        self._ask_at: float | None = None  # until then they may leave by themselves
        self._killing = False
        self._busy = False  # somebody may be left
        self._unsent = bytearray()  # what the host has not taken yet
        self._seen: dict[int, Relative] = {}  # what a stop found, by the host's numbers
        self._killed: set[int] = set()  # by the host's numbers: who was alive when killed

    # how everybody is reached

    def ask_everybody(self) -> None: ...
    def kill_everybody(self) -> None: ...
    def hold_everybody(self) -> None: ...
    def let_everybody_go_on(self) -> None: ...

    def branch(self, pid: int) -> list[Relative]:  # noqa: ARG002 - of the process that is asked about
        """Everybody known to be below a child of ours."""
        return []

    def send(self, kin: Relative, number: int) -> None: ...

    def alive_in(self, branch: Branch) -> set[int]:  # noqa: ARG002 - of what is asked about
        """Whoever lives below a child of ours, by the host's numbers."""
        return set()

    def stands_still(self, pid: int) -> bool:  # noqa: ARG002 - of the process that is asked about
        """Whether a child of ours, and everybody below it, has stopped, as far as can be seen."""
        return True

    # the loop

    def keep(self) -> None:
        """Until the run is over and nobody is left."""
        while True:
            message, host_gone = self._wake.wait(self._patience(), to_send=bool(self._unsent))
            if message:
                self._read()
            self._flush()
            self._heed_the_page()
            if host_gone:
                self._stop(_GRACE_WITHOUT_HOST)
            empty = self._reap()
            if empty and self._busy:
                self._busy = False
                self._tell({"empty": True})
            now = time.monotonic()
            self._end_branches(now)
            if self._kill_at is None:
                continue
            if empty:
                self._give_account()
                return
            self._press(now, self._kill_at)

    def _press(self, now: float, kill_at: float) -> None:
        if now >= kill_at or self._lapsed:
            self._kill()
        elif self._ask_at is not None and now >= self._ask_at:
            self._ask_at = None
            self.ask_everybody()

    def _give_account(self) -> None:
        self._tell({"stopped": True, "processes": self._report()})
        host_gone = False
        while self._unsent and not host_gone:
            _, host_gone = self._wake.wait(None, to_send=True)
            self._flush()

    def _patience(self) -> float | None:
        now = time.monotonic()
        if self._killing and self._kill_at is not None:
            return _AGAIN if now < self._kill_at + _SOON else _LATER
        until = [branch.until for branch in self._ending.values()]
        until += [at for at in (self._ask_at, self._kill_at) if at is not None]
        if (left := self._page.left) is not None:
            until.append(now + (_STILL_AGAIN if self._still else left))
        return max(min(until) - now, 0.0) if until else None

    def _read(self) -> None:
        try:
            for order, fds in self._inbox.receive():
                if self._lapsed and "stop" not in order and "end" not in order:
                    self._postponed.append((order, fds))
                else:
                    self._take(order, fds)
        except EOFError:
            self._wake.hung_up()
            self._channel.close()
            self._stop(_GRACE_WITHOUT_HOST)

    def _take(self, order: wire.Message, fds: list[int]) -> None:
        try:
            self._carry_out(order, fds)
        finally:
            for fd in fds:
                os.close(fd)

    def _take_postponed(self) -> None:
        postponed, self._postponed = self._postponed, []
        for order, fds in postponed:
            self._take(order, fds)

    # the host's lease

    @property
    def _lapsed(self) -> bool:
        """Whether the host may not act until it has asked its store, and so nobody here may."""
        left = self._page.left
        return left is not None and left <= 0

    def _heed_the_page(self) -> None:
        """Hold everybody while the host's time is up; whether to end them is for it to say."""
        if self._kill_at is not None:
            return
        if self._lapsed:
            self._still = True
            self.hold_everybody()  # again each time: somebody may have been born meanwhile
        elif self._still:
            # what another took was stopped before the page was written: that is heard first
            while wire.something_in(self._channel):
                self._read()
            if self._kill_at is None:
                self._still = False
                self.let_everybody_go_on()
                self._take_postponed()

    def _tell(self, message: wire.Message) -> None:
        self._unsent += wire.pack(message)
        self._flush()

    def _flush(self) -> None:
        """Say what can be said at once: a host that does not listen holds up nothing here."""
        try:
            while self._unsent:
                del self._unsent[: self._channel.send(self._unsent, socket.MSG_DONTWAIT)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:  # the host has gone
            self._unsent.clear()

    # what the host orders

    def _carry_out(self, order: wire.Message, fds: list[int]) -> None:
        match order:
            case {"id": id_, wire.LOST: _}:
                self._tell({"failed": id_, "errno": errno.EMFILE, "about": "descriptors"})
            case {"stop": grace, "leave": leave}:
                self._stop(grace, leave)
            case {"signal": id_, "number": number, "group": group}:
                self._signal(id_, number, group=group)
            case {"end": id_, "grace": grace}:
                self._end(id_, grace)
            case {"start": kind, "id": id_}:
                self._start(kind, id_, order, fds)
            case _:
                self._tell({"unknown": order})

    def _start(self, kind: str, id_: int, order: wire.Message, fds: list[int]) -> None:
        if self._kill_at is not None:  # the gate: what races a stop never runs
            self._tell({"refused": id_})
            return
        try:
            if kind == "program":
                pid = start.program(order, fds)
            elif kind == "python":
                pid = start.forked(partial(call_of_python, order), fds)
            elif kind == "module":
                pid = start.forked(partial(module_of_ours, order), fds)
            elif kind == "nursery":
                pid = start.forked(partial(tend, order), fds)
            else:
                pid = start.forked(start.escape_artist, fds)
        except start.StartError as error:
            self._tell({"failed": id_, "errno": error.args[0], "about": error.args[1]})
            return
        except Exception as error:  # noqa: BLE001 - one bad order must not cost the run its warden
            number = getattr(error, "errno", None) or 0
            self._tell({"failed": id_, "errno": number, "about": repr(error)})
            return
        self._busy = True
        self._started[pid] = id_
        self._numbers[id_] = self.host_number(pid)
        self._tell({"started": id_, "pid": self._numbers[id_]})

    def host_number(self, pid: int) -> int:
        if self._outside is None or self._outside.me == os.getpid():
            return pid
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:  # no descriptor is left to look with; it runs, and is ours, all the same
            return -1
        try:
            return self._outside.number_of(pidfd)
        except OSError:
            return -1
        finally:
            os.close(pidfd)

    def _signal(self, id_: int, number: int, *, group: bool) -> None:
        for pid in [pid for pid, known in self._started.items() if known == id_]:
            signals.to(-pid if group else pid, number)  # who leads a session leaves no group

    # one branch

    def _end(self, id_: int, grace: float) -> None:
        for pid, known in self._started.items():
            if known == id_ and id_ in self._ending:
                branch = self._ending[id_]
                branch.until = min(branch.until, time.monotonic() + grace)
            elif known == id_:
                grace = 0.0 if self._still or self._lapsed else grace
                branch = Branch(pid, time.monotonic() + grace, self.branch(pid))
                if grace:
                    self.signal_branch(branch, signal.SIGTERM)
                    self.signal_branch(branch, signal.SIGCONT)
                self._ending[id_] = branch

    def _end_branches(self, now: float) -> None:
        for id_, branch in list(self._ending.items()):
            if now >= branch.until:
                self._add_newborn(branch)
                if self._kill_at is not None:  # a report will name them
                    self._killed |= self.alive_in(branch)
                self.signal_branch(branch, signal.SIGKILL)
                del self._ending[id_]

    def _add_newborn(self, branch: Branch) -> None:
        """Who was born meanwhile. Whoever stands still, not in a fork, forks no more."""
        asked, known = branch.below, 0
        until = time.monotonic() + _A_MOMENT
        while branch.pid in self._started and time.monotonic() < until:
            self.signal_branch(branch, signal.SIGSTOP)
            found = self.branch(branch.pid)
            branch.below = [*asked, *found]
            if len(found) == known and self.stands_still(branch.pid):
                return
            known = len(found)

    def signal_branch(self, branch: Branch, number: int) -> None:
        if branch.pid in self._started:
            signals.to(branch.pid, number)
        for kin in branch.below:
            self.send(kin, number)

    # everybody

    def _stop(self, grace: float, leave: float = 0.0) -> None:
        if self._still or self._lapsed:  # to ask them they would have to go on
            grace = leave = 0.0
        asked = time.monotonic() + leave
        if self._kill_at is not None:
            self._kill_at = min(self._kill_at, asked + grace)
            return
        self._kill_at = asked + grace
        self._take_postponed()  # which is refused
        if self._reap():
            return
        self._seen = {kin.pid: kin for kin in self._living()}
        self._tell({"found": self._report()})  # should it not come to an account
        if grace > 0:
            self._ask_at = asked

    def _kill(self) -> None:
        if not self._killing:
            self._killing = True
            found = {kin.pid: kin for kin in self._living()}
            self._killed |= found.keys()
            self._seen |= found
        self.kill_everybody()

    def _living(self) -> list[Relative]:
        try:
            return list(self._outside.descendants(self._outside.me)) if self._outside else []
        except OSError:  # blind: what was started here is known
            numbers = [self._numbers[id_] for id_ in self._started.values()]
            return [Relative(pid, "", "", 0, 0) for pid in numbers if pid > 0]

    def _reap(self) -> bool:
        """True when the kernel says that there is no child left at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            self.ended(pid, os.waitstatus_to_exitcode(status))

    def ended(self, pid: int, code: int) -> None:
        """Tell of the end of something that was ordered."""
        id_ = self._started.pop(pid, None)
        if id_ is not None:
            if self._kill_at is None:  # else the report will name it
                del self._numbers[id_]
            elif code == -signal.SIGKILL:
                self._killed.add(self._numbers[id_])
            self._tell({"ended": id_, "code": code})

    def _report(self) -> list[list[Any]]:
        ids = {number: id_ for id_, number in self._numbers.items()}
        fates = {pid: "killed" if pid in self._killed else "ended" for pid in self._seen}
        return [
            [kin.pid, ids.get(kin.pid, 0), kin.name, fates[pid], kin.start]
            for pid, kin in self._seen.items()
        ]
