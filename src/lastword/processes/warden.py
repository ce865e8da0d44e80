"""The host's handle on a warden: what a run starts is started in it, and ends with it.

Nothing here waits for a process. A stop is sent at once; it is over when there is proof, which is
the kernel's word. If that does not come in time, the hammer falls. Who does not answer may have
been stopped by somebody, so it is woken, again and again.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from lastword.errors import ProcessError, SpawnFailed
from lastword.processes.cgroups import Group
from lastword.processes.channel import Channel
from lastword.processes.command import Command, must_be_grace
from lastword.processes.failing import NotStarted, explained
from lastword.processes.inside.family import Relative
from lastword.processes.inside.wire import Message
from lastword.processes.levels import Level
from lastword.processes.numbers import number_of
from lastword.processes.plumbing import Plumbing
from lastword.processes.process import Process, Watched
from lastword.processes.proof import Proof, WardenEnd
from lastword.processes.seen import Identity, alive, below, heard
from lastword.processes.zygote import Zygote

_TOO_LATE = "what it belongs to is over, so nothing was started"
_SECONDS_TO_START = 10.0
_LOOK = 0.25  # seconds: as much of a pause counts as time that passed
_HAMMER = 0.25  # seconds beyond the grace in which a warden must have answered
_AWAKE = 0.25  # seconds after which whoever has not answered is woken
_SOON, _LATER = 0.001, 0.5  # seconds until one looks again whether the group is empty
_T = TypeVar("_T")


def anyone(what: str) -> None:
    """Whoever uses processes without a runtime may always act."""


class Warden:
    """One run's processes."""

    def __init__(
        self, zygote: Zygote, level: Level, *, most: int, scan: bool, group: Group | None = None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.level: Level = level
        self.alone = False  # there is one process in it, and it goes with that one
        self.leave = 0.0  # seconds in which, once it is stopped, what is in it may leave by itself
        self.capped = False  # whether a storm of forks has a limit
        self._kept: dict[int, Watched] = {}  # what was started here and has not been let go
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[WardenEnd] = self._loop.create_future()
        self._starting: dict[int, asyncio.Future[int]] = {}
        self._next = 0
        self._pidfd = -1
        self._pid = -1
        self._stopping = False
        self._group = group
        self._proof = Proof(level, empty=group is None)
        if group:
            group.keeper = lambda: self._pid
        self._waking: asyncio.TimerHandle | None = None
        self._hammer: asyncio.TimerHandle | None = None
        self._names: dict[int, tuple[int, str]] = {}  # of what was running when the end began
        self._ended_ones: list[Watched] = []  # whose pipes others may still hold
        self._last_seen: list[Relative] = []
        self._zygote = zygote
        ours, theirs = socket.socketpair()
        with theirs:
            order: Message = {"level": level, "most": most, "scan": scan}
            self._id = zygote.fork(order, theirs, group, self)
        self._channel = Channel(ours, self._hear, self._hung_up)

    def __repr__(self) -> str:
        return f"<Warden {self._pid} {self.level} {len(self._kept)} processes>"

    async def ready(self) -> None:
        """Return once it keeps watch. Raises `ProcessError` if this level cannot be had."""
        try:
            await self._answered(self._ready, lambda: self._zygote.heard)
        except TimeoutError:
            self._zygote.retired = True  # the next one has another
            raise ProcessError(f"no warden at level {self.level}: no answer in time") from None

    @property
    def processes(self) -> dict[int, Process]:
        """What was started here and has not been let go."""
        return {id_: one for id_, one in self._kept.items() if isinstance(one, Process)}

    @property
    def over(self) -> bool:
        """Whether nothing of it is left."""
        return self._over.done()

    @property
    def open(self) -> bool:
        """Whether something can be started in it."""
        return not self._stopping and not self.over and self._channel.open

    @property
    def stopping(self) -> bool:
        """Whether nothing can be started any more, and everything is being ended."""
        return self._stopping

    @property
    def told(self) -> bool | None:
        """Whether it had told of its end when it left, or had not begun; None while it is there."""
        return self._proof.left_by_itself or self._pidfd < 0 if self._proof.left else None

    @property
    def ending(self) -> WardenEnd | None:
        """What its stop found; None while something may be left."""
        return self._over.result() if self.over else None

    async def over_within(self, seconds: float) -> bool:
        """Whether nothing of it is left in so many seconds; pauses of this process do not count."""
        while seconds > 0 and not self.over:
            some = min(seconds, _LOOK)
            await asyncio.wait([self._over], timeout=some)
            seconds -= some
        return self.over

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
            self._kept[process.id] = process
            process.has_started(await self._start(process.id, order, fds))
        except BaseException as error:
            self._kept.pop(process.id, None)
            plumbing.close()
            if isinstance(error, NotStarted):
                raise explained(error, command) from None
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
            return await self._answered(started, lambda: self._channel.heard)
        except TimeoutError:
            self._strike()
            raise SpawnFailed("the warden of this run did not answer, and was killed") from None
        finally:
            self._starting.pop(id_, None)

    async def _answered(self, answer: asyncio.Future[_T], heard: Callable[[], float]) -> _T:
        """Wake whoever has to answer, should it have been stopped. Raises TimeoutError once
        nothing at all was heard for long: one that has much to do says so all the time."""
        asked = self._loop.time()
        while not answer.done():
            await asyncio.wait([answer], timeout=_AWAKE)
            if not answer.done():
                self.wake()
                silent = self._loop.time() - max(asked, heard())
                if silent > _SECONDS_TO_START and self._zygote.may_act:
                    raise TimeoutError
        return answer.result()

    def wake(self) -> None:
        """Have it go on, and whoever forked it, should somebody have stopped them."""
        if self._group:
            self._group.thaw(self._zygote.pid)
        self._zygote.wake()
        self._signal_warden(signal.SIGCONT)

    def _signal_warden(self, number: int) -> None:
        if self._pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, number)

    def signal(self, id: int, number: int, *, group: bool = False) -> None:
        self._channel.send({"signal": id, "number": number, "group": group})

    def end(self, id: int, grace: float) -> None:
        if self.alone:
            self.stop(grace)  # with whatever it left behind, too
        else:
            self._channel.send({"end": id, "grace": grace})

    async def begin(self, order: Message, fds: tuple[int, ...], who: Watched | None = None) -> int:
        """Start something of our own; its id here. `who` hears of it."""
        self._next = id_ = self._next + 1
        self._kept |= {id_: who} if who else {}
        pid = await self._start(id_, {**order, "id": id_}, fds)
        if who:
            who.has_started(pid)
        return id_

    # stopping

    def stop(self, grace: float) -> asyncio.Future[WardenEnd]:
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
            self._names = {id_: (p.pid, p.command) for id_, p in self._kept.items()}
            self._channel.send(order)
            self.wake()
            self._hammer = self._loop.call_at(ends, self._strike)
        return self._over

    def stop_from_any_thread(self, grace: float) -> None:
        """Have it stop although the event loop is stalled; `stop` has to follow."""
        self._channel.send_from_any_thread({"stop": grace, "leave": self.leave})

    def _strike(self) -> None:
        """The warden does not answer: it is killed. The kernel, or the zygote, does the rest."""
        self._last_seen = self.living()  # afterwards they are somebody else's children
        if self._group:
            self._group.kill()
        self._signal_warden(signal.SIGKILL)
        self._channel.close()
        self._hung_up()

    def living(self) -> list[Relative]:
        """Who is still there, by the numbers that `ps` shows."""
        if self.over:
            return []
        started = [Relative(p.pid, p.command, "", 0, 0) for p in self._kept.values()]
        return below(self._pid, self._last_seen, started)

    # what is heard

    def _hear(self, message: Message, fds: list[int]) -> None:  # noqa: C901, PLR0912 - one match
        match message:
            case {"ready": _, "capped": capped} if not self._ready.done():  # nothing runs there yet
                self.capped = capped or (self._group is not None and self._group.capped)
                self._has_pidfd(fds)
                self._ready.set_result(None)
            case {"failed": 0, "why": why}:
                self._fail(str(why))
            case {"started": int(id_), "pid": int(pid)}:
                self._answer(id_, pid)
            case {"failed": int(id_), "errno": int(number), "about": str(about)}:
                self._answer(id_, NotStarted(number, about))
            case {"refused": int(id_)}:
                self._answer(id_, SpawnFailed(_TOO_LATE))
            case {"ended": int(id_), "code": int(code)}:
                self._ended(id_, code)
            case {"empty": _} if self.alone:
                self.stop(0)
            case {"found": found}:
                self._proof.found = heard(found) or ()
            case {"stopped": _, "processes": found}:
                self._proof.account = heard(found)
                self._look_for_proof()
            case _:
                pass

    def _has_pidfd(self, fds: list[int]) -> None:
        if fds:
            self._pidfd, self._pid = fds[0], number_of(fds[0])
            self._loop.add_reader(self._pidfd, self._has_left)

    def _answer(self, id_: int, answer: int | Exception) -> None:
        started = self._starting.get(id_)
        if started is None or started.done():
            return  # whoever asked has given up
        if isinstance(answer, Exception):
            started.set_exception(answer)
        else:
            started.set_result(answer)

    def _ended(self, id_: int, code: int) -> None:
        if process := self._kept.pop(id_, None):
            process.has_ended(code)
            self._ended_ones = [one for one in self._ended_ones if not one.silent] + [process]

    def _fail(self, why: str) -> None:
        if not self._ready.done():
            self._ready.set_exception(ProcessError(f"no warden at level {self.level}: {why}"))
            self._ready.exception()  # whoever waits is told; if nobody does, it is no news

    def _hung_up(self) -> None:
        """The warden has gone without a word: it was killed; or it is, since somebody else has its
        place, and hung up, or said what no warden does. The zygote sees to the rest."""
        self._signal_warden(signal.SIGKILL)
        if not self._ready.done():  # nor has it said why, so the next one is another zygote's
            self._zygote.retired = True
        self._fail("it ended at once")
        if not self._stopping:
            self._stopping = True
            self._names = {id_: (p.pid, p.command) for id_, p in self._kept.items()}
        for id_ in list(self._starting):
            self._answer(id_, SpawnFailed("the warden of this run was killed"))
        if self._pidfd < 0:  # no more will be known of its end
            self._proof.left = True
        self._zygote.struck(self._id)
        self._look_for_proof()

    def hang_up(self) -> None:
        """Leave it to itself: it sees off what it keeps, and leaves."""
        self._channel.close()

    # the proof

    def _has_left(self) -> None:
        """The kernel's word: the warden has gone; at sealed, and everybody with it."""
        self._loop.remove_reader(self._pidfd)
        self._proof.left = True
        self._channel.hear_all()  # its own last words may be on their way
        self._channel.close()
        self._hung_up()

    def known(self) -> Iterable[Identity]:
        """Whoever was seen of it until now, also in what was said and not yet heard."""
        self._channel.hear_all()
        names = self._names or {id_: (p.pid, p.command) for id_, p in self._kept.items()}
        return tuple(self._proof.known(names, self._last_seen))

    def looked_for(self, remain: tuple[Relative, ...] | None) -> None:
        """The zygote has looked for whoever it left; None: the zygote itself has gone."""
        if remain is None:
            self._proof.blind = True
        else:
            self._proof.looked, self._proof.remain = True, remain
        if self._pidfd < 0:  # it never began
            self._proof.left = True
        self._channel.hear_all()  # its own last words may be on their way
        self._look_for_proof()

    def _look_for_proof(self, again: float = _SOON) -> None:
        proof = self._proof
        if self.over:
            return
        if self._group and proof.left and not proof.empty:
            proof.empty = self._group.empty or self._group.kill()
        if proof.over:
            self._finish()
        elif proof.left:  # somebody is still dying, or the zygote was stopped
            self.wake()
            if self._waking:
                self._waking.cancel()
            later = min(2 * again, _LATER)
            self._waking = self._loop.call_later(again, self._look_for_proof, later)

    def _finish(self) -> None:
        for timer in (self._hammer, self._waking):
            if timer:
                timer.cancel()
        if self._group:
            self._group.remove()
        # its own word is not enough for those of whom some live on
        proof, seen = self._proof, (self._names, self._last_seen)
        living = alive(proof.known(*seen)) if proof.remain else ()
        self._over.set_result(proof.ending(*seen, living))
        self._channel.close()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        for process in (*self._kept.values(), *self._ended_ones):
            process.let_go()
        self._kept.clear()
        self._ended_ones.clear()
