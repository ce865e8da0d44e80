"""The host's handle on a warden: what a run starts is started in it, and ends with it.

Nothing here waits for a process. A stop is sent at once; the answer, the warden's end or the
zygote's word that nothing of it is left is the proof. If none of them comes, the hammer falls.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lastword.core.receipt import ProcessReport
from lastword.core.value import value
from lastword.errors import ProcessError, SpawnFailed
from lastword.processes.channel import Channel
from lastword.processes.command import Command, must_be_grace
from lastword.processes.inside.family import Kin, Procfs
from lastword.processes.inside.wire import Message
from lastword.processes.levels import Level
from lastword.processes.plumbing import Plumbing
from lastword.processes.process import Process
from lastword.processes.zygote import Zygote

_TOO_LATE = "what it belongs to is over, so nothing was started"
_SECONDS_TO_START = 10.0
_HAMMER = 0.25  # seconds beyond the grace in which a warden must have answered


def anyone(what: str) -> None:
    """Whoever uses processes without a runtime may always act."""


@value
class Ending:
    """What a stop of a warden found, and how it ended."""

    processes: tuple[ProcessReport, ...] = ()
    proven: bool = True  # somebody could tell that none is left


class Warden:
    """One run's processes."""

    def __init__(self, zygote: Zygote, level: Level, *, most: int, scan: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self.level: Level = level
        self.alone = False  # there is one process in it, and it goes with that one
        self.leave = 0.0  # seconds in which, once it is stopped, what is in it may leave by itself
        self.capped = False  # whether a storm of forks has a limit
        self.processes: dict[int, Process] = {}  # what was started here and has not been let go
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[Ending] = self._loop.create_future()
        self._starting: dict[int, asyncio.Future[int]] = {}
        self._next = 0
        self._pidfd = -1
        self._pid = -1
        self._stopping = False
        self._no_zygote = False  # the zygote has gone
        self._hammer: asyncio.TimerHandle | None = None
        self._names: dict[int, tuple[int, str]] = {}  # of what was running when the end began
        self._ended_ones: list[Process] = []  # whose pipes others may still hold
        self._last_seen: list[Kin] = []
        self._zygote = zygote
        ours, theirs = socket.socketpair()
        with theirs:
            order: Message = {"level": level, "most": most, "scan": scan}
            zygote.fork(order, theirs, self._gone)
        self._channel = Channel(ours, self._hear, self._hung_up)

    def __repr__(self) -> str:
        return f"<Warden {self._pid} {self.level} {len(self.processes)} processes>"

    async def ready(self) -> None:
        """Return once it keeps watch. Raises `ProcessError` if this level cannot be had."""
        try:
            async with asyncio.timeout(_SECONDS_TO_START):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise ProcessError(f"no warden at level {self.level}: no answer in time") from None

    @property
    def over(self) -> bool:
        """Whether nothing of it is left."""
        return self._over.done()

    @property
    def open(self) -> bool:
        """Whether something can be started in it."""
        return not self._stopping and not self.over and self._channel.open

    @property
    def ending(self) -> Ending | None:
        """What its stop found; None while something may be left."""
        return self._over.result() if self.over else None

    def when_over(self, act: Callable[[], object]) -> None:
        """Have something done when nothing of it is left."""
        self._over.add_done_callback(lambda _: act())

    # starting

    async def spawn(
        self,
        command: Command,
        *,
        may_start: Callable[[str], None] = anyone,
        may_act: Callable[[str], None] = anyone,
    ) -> Process:
        """Start a program. Both raise if it is no longer allowed to start, to be read or told.

        `may_start` is asked in the step that sends the order.
        """
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("a process is started on the event loop that its warden belongs to")
        try:
            plumbing = Plumbing(command, may_act)
        except OSError as error:
            raise SpawnFailed(f"{command.name} could not be started: {error}") from error
        self._next += 1
        process = Process(self, self._next, command, plumbing, may_act)
        order = {**command.order, "id": process.id, "terminal": plumbing.terminal}
        try:
            may_start(command.name)
            fds = () if plumbing.terminal else tuple(plumbing.theirs)
            self.processes[process.id] = process
            process.has_started(await self._start(process.id, order, fds))
        except BaseException as error:
            self.processes.pop(process.id, None)
            plumbing.close()
            if isinstance(error, _Failed):
                raise _explained(error, command) from None
            if isinstance(error, asyncio.CancelledError):
                self.end(process.id, 0.0)  # nobody would know of it
            raise
        return process

    async def _start(self, id_: int, order: Message, fds: tuple[int, ...]) -> int:
        if not self.open:
            raise SpawnFailed(_TOO_LATE)
        started: asyncio.Future[int] = self._loop.create_future()
        self._starting[id_] = started
        self._channel.send(order, fds)
        try:
            return await started
        finally:
            self._starting.pop(id_, None)

    def signal(self, id: int, number: int) -> None:
        self._channel.send({"signal": id, "number": number})

    def end(self, id: int, grace: float) -> None:
        if self.alone:
            self.stop(grace)  # with whatever it left behind, too
        else:
            self._channel.send({"end": id, "grace": grace})

    async def escape(self, canary: int) -> None:
        """Start the escape artist of the self-test; the canary lives as long as it does."""
        self._next += 1
        await self._start(self._next, {"start": "artist", "id": self._next}, (canary,))

    # stopping

    def stop(self, grace: float) -> asyncio.Future[Ending]:
        """Let nothing start any more, and end everything; done when none is left."""
        must_be_grace(grace)
        ends = self._loop.time() + self.leave + grace + _HAMMER
        order: Message = {"stop": grace, "leave": self.leave}
        if self._hammer and ends < self._hammer.when() and not self.over:
            self._hammer.cancel()
            self._channel.send(order)
            self._hammer = self._loop.call_at(ends, self._strike)
        elif not self._stopping and not self.over:
            self._stopping = True
            self._names = {id_: (p.pid, p.command) for id_, p in self.processes.items()}
            self._channel.send(order)
            self._hammer = self._loop.call_at(ends, self._strike)
        return self._over

    def stop_from_any_thread(self, grace: float) -> None:
        """Have it stop although the event loop is stalled; `stop` has to follow."""
        self._channel.send_from_any_thread({"stop": grace, "leave": self.leave})

    def _strike(self) -> None:
        """The warden does not answer: it is killed. The kernel, or the zygote, does the rest."""
        self._last_seen = self.living()  # afterwards they are somebody else's children
        if self._pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        self._channel.close()
        self._hung_up()

    def living(self) -> list[Kin]:
        """Who is still there, by the numbers that `ps` shows."""
        if self.over:
            return []
        try:
            return self._look()
        except OSError:  # no /proc, or no descriptor left to look at it with
            return [Kin(p.pid, p.command, "", 0, 0) for p in self.processes.values()]

    def _look(self) -> list[Kin]:
        if self._pid < 0:
            raise OSError
        proc = Procfs()
        try:
            found = list(proc.descendants(self._pid))
            known = {kin.pid for kin in found}
            others = (proc.look(kin.pid) for kin in self._last_seen if kin.pid not in known)
            return found + [kin for kin in others if kin]
        finally:
            proc.close()

    # what is heard

    def _hear(self, message: Message, fds: list[int]) -> None:  # noqa: C901, PLR0912 - one match
        match message:
            case {"ready": _, "capped": capped}:
                self.capped = capped
                self._has_pidfd(fds)
                self._ready.set_result(None)
            case {"failed": 0, "why": why}:
                self._fail(str(why))
            case {"started": id_, "pid": pid}:
                self._answer(id_, pid)
            case {"failed": id_}:
                self._answer(id_, _Failed(message["errno"], message["about"]))
            case {"refused": id_}:
                self._answer(id_, SpawnFailed(_TOO_LATE))
            case {"ended": id_, "code": code}:
                self._ended(id_, code)
            case {"empty": _}:
                if self.alone:
                    self.stop(0)
            case {"stopped": _, "processes": found}:
                self._finish(found)
            case _:
                pass

    def _has_pidfd(self, fds: list[int]) -> None:
        if fds:
            self._pidfd = fds[0]
            with suppress(OSError):  # where there is no /proc, nobody can be looked for
                proc = Procfs()
                try:
                    self._pid = proc.number_of(self._pidfd)
                finally:
                    proc.close()

    def _answer(self, id_: int, answer: int | Exception) -> None:
        started = self._starting.get(id_)
        if started is None or started.done():
            return  # whoever asked has given up
        if isinstance(answer, Exception):
            started.set_exception(answer)
        else:
            started.set_result(answer)

    def _ended(self, id_: int, code: int) -> None:
        if process := self.processes.pop(id_, None):
            process.has_ended(code)
            self._ended_ones = [one for one in self._ended_ones if not one.silent] + [process]

    def _fail(self, why: str) -> None:
        if not self._ready.done():
            self._ready.set_exception(ProcessError(f"no warden at level {self.level}: {why}"))
            self._ready.exception()  # whoever waits is told; if nobody does, it is no news

    def _hung_up(self) -> None:
        """The warden has gone without a word: it was killed. The zygote sees to the rest."""
        self._fail("it ended at once")
        if not self._stopping:
            self._stopping = True
            self._names = {id_: (p.pid, p.command) for id_, p in self.processes.items()}
        for id_ in list(self._starting):
            self._answer(id_, SpawnFailed("the warden of this run was killed"))
        if self._no_zygote and not self.over:
            self._without_zygote()

    def hang_up(self) -> None:
        """Leave it to itself: it sees off what it keeps, and leaves."""
        self._channel.close()

    def _gone(self, seen_off: bool) -> None:
        """The zygote's word: nothing of it is left; or the zygote itself has gone."""
        if seen_off:
            self._channel.hear_all()  # its own last words may be on their way
            self._finish(None, proven=self.level != "group")
            return
        if self._zygote.alive:  # it lives, and something is beyond its reach
            self._channel.hear_all()
            self._finish(None, proven=False)
            return
        self._no_zygote = True
        if not self._channel.open and not self.over:
            self._without_zygote()

    def _without_zygote(self) -> None:
        if self.level == "sealed" and self._pidfd >= 0:  # readable when all of it is gone
            self._loop.add_reader(self._pidfd, lambda: self._finish(None))
        else:
            self._finish(None, proven=False)

    def _finish(self, found: list[list[Any]] | None, *, proven: bool = True) -> None:
        if self.over:
            return
        if self._hammer:
            self._hammer.cancel()
        if found is None:  # the warden gave no account, so this is all that is known
            fate = "killed" if proven else "unconfirmed"
            found = [[pid, id_, "", fate] for id_, (pid, _) in self._names.items() if pid > 0]
        reports = [
            ProcessReport(pid, self._names.get(id_, (0, name))[1], fate)
            for pid, id_, name, fate in found
        ]
        self._over.set_result(Ending(tuple(reports), proven))
        self._channel.close()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        for process in (*self.processes.values(), *self._ended_ones):
            process.let_go()
        self.processes.clear()
        self._ended_ones.clear()


class _Failed(Exception):
    def __init__(self, number: int, about: str) -> None:
        super().__init__(number, about)
        self.number = number
        self.about = about


def _explained(error: _Failed, command: Command) -> SpawnFailed:
    """Why a program could not be started, in words."""
    program = command.argv[0]
    if error.about == "cwd":
        why = f"the working directory {command.cwd!r}: {os.strerror(error.number)}"
    elif error.number == errno.ENOENT and "/" in program:
        why = f"there is no file {program!r}, or the interpreter in its first line is missing"
    elif error.number == errno.ENOENT:
        why = f"command not found: {program!r} (PATH is {command.env.get('PATH', os.defpath)!r})"
    elif error.number == errno.EACCES:
        why = f"{program!r} is not executable"
    elif error.number == errno.ENOEXEC:
        why = f"{program!r} is not a program (a script needs a first line such as #!/bin/sh)"
    elif error.number == errno.E2BIG:
        why = "its arguments and environment are longer than the system allows"
    elif error.number == errno.EAGAIN:
        why = "no more processes are allowed"
    else:
        why = os.strerror(error.number) if error.number else error.about
    return SpawnFailed(f"{command.name:.80} could not be started: {why}", error.number)
