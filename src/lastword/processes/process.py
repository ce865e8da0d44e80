"""`Process`: the handle on something that was started.

It never waits without an end: what it wrote is bounded, and who waits for it is told when its
warden has seen it off.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from lastword.core.value import value
from lastword.processes.command import Command, must_be_grace
from lastword.processes.input import Input
from lastword.processes.inside.family import Relative
from lastword.processes.levels import GRACE
from lastword.processes.numbers import numbers_of
from lastword.processes.output import Output

_LOOK = 0.25  # seconds: as much of a pause counts as time that a process had
_LOOKS = 5  # at who is left, until they are believed to stay


class Watched(Protocol):
    """What a warden keeps, and tells of its end."""

    pid: int  # -1 until it has started
    command: str

    @property
    def silent(self) -> bool:
        """Whether nobody holds its pipes any more."""
        ...

    def has_started(self, pid: int) -> None: ...
    def has_ended(self, code: int) -> None: ...
    def let_go(self) -> None: ...


class Keeper(Protocol):
    """What a process asks of its warden."""

    @property
    def processes(self) -> Mapping[int, Process]: ...
    def living(self) -> list[Relative]: ...
    def signal(self, id: int, number: int, *, group: bool = False) -> None: ...
    def end(self, id: int, grace: float) -> None: ...


class ProcessPipes(Protocol):
    """What a process writes to, and reads from."""

    told: bool  # all that it is to read, when it was started
    terminal: str  # its name, if that is what it writes to
    stdout: Output
    stderr: Output | None
    stdin: Input | None

    def resize(self, rows: int, columns: int) -> None: ...
    def handed_over(self) -> None: ...
    def close(self) -> None: ...


@value
class Completed:
    """How a command ended, and what it wrote."""

    code: int  # its exit code; -9 if signal 9 ended it
    output: str
    errors: str = ""
    cut: int = 0  # bytes in the middle that were not kept
    timed_out: bool = False  # it had not ended in time, and was ended
    left: tuple[str, ...] = ()  # whom that did not end: they left it, and end with the run

    def __str__(self) -> str:
        written = [part.rstrip("\n") for part in (self.output, self.errors) if part.strip()]
        ended = "ended: it took too long" if self.timed_out else in_words(self.code)
        return "\n".join([*written, f"[{ended}{living_on(self.left)}]"])


def in_words(code: int) -> str:
    """How a process ended."""
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"ended by {name}"


def living_on(left: tuple[str, ...]) -> str:
    """Who was not ended with a command."""
    return (
        f"; what has left its command lives on until the run ends: {', '.join(left)}"
        if left
        else ""
    )


class Process:
    """A process that has an owner, and ends no later than it says."""

    def __init__(
        self,
        keeper: Keeper,
        id: int,
        command: Command,
        plumbing: ProcessPipes,
        may_act: Callable[[str], None],
    ) -> None:
        self.id = id
        self.pid = -1  # until it has started
        self.command = command.name
        self._keeper = keeper
        self._plumbing = plumbing
        self._may_act = may_act
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def __repr__(self) -> str:
        state = "running" if self.code is None else f"code={self.code}"
        return f"<Process {self.pid} {self.command!r} {state}>"

    @property
    def code(self) -> int | None:
        """How it ended: its exit code, or minus the signal; None while it runs."""
        return self._ended.result() if self._ended.done() else None

    @property
    def stdout(self) -> Output:
        """What it wrote; to a terminal, all of it."""
        return self._plumbing.stdout

    @property
    def stderr(self) -> Output | None:
        """What it wrote to its other stream; None if that is the same as the first."""
        return self._plumbing.stderr

    @property
    def stdin(self) -> Input | None:
        """What it reads, with stdin="pipe" or pty=True."""
        return self._plumbing.stdin

    def when_ended(self, call: Callable[[int], object]) -> None:
        """Have somebody told of its end, with how it ended."""
        self._ended.add_done_callback(lambda done: call(done.result()))

    async def wait(self) -> int:
        """Wait for it to end, and for nobody who may still hold its pipes."""
        return await asyncio.shield(self._ended)

    async def completed(self, *, timeout: float | None, grace: float) -> Completed:
        """Wait for its end, and bring it about after so many seconds, or if nobody waits."""
        self._tell(b"")
        if completed := await self.within(timeout, grace):
            return completed
        await self.end(grace)
        completed = await self._collected()
        return replace(completed, timed_out=True, left=await self.left_behind())

    async def within(self, seconds: float | None, grace: float | None = None) -> Completed | None:
        """How it ended, if it has in so many seconds; who gives up ends it, given a grace."""
        try:
            return await self._collected_within(seconds)
        except asyncio.CancelledError:
            if grace is not None:
                self.drop(grace)
            raise

    async def left_behind(self) -> tuple[str, ...]:
        """Who lives on beside it, now that it has ended, and descends from nothing that is known:
        they left it, and end with the run. By the numbers that commands beside them know."""
        left = list[Relative]()
        for _ in range(_LOOKS):  # who was killed takes a moment to go
            known = {process.pid for process in self._keeper.processes.values()}
            if not (left := _strays(self.beside(), known)):
                break
            await asyncio.sleep(_LOOK / _LOOKS)
        numbered = ((numbers_of(kin.pid), kin.name) for kin in left)
        return tuple(f"{numbers[-1]} {name}" for numbers, name in numbered if numbers)

    async def communicate(self, data: bytes = b"") -> Completed:
        """Have it read this and the end of its input, wait for it to end; what it wrote."""
        if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
            raise TypeError(f"a process reads bytes, not a {type(data).__name__}")
        self._tell(data)
        return await self._collected()

    def _tell(self, data: bytes) -> None:
        stdin = self.stdin
        if data and (stdin is None or self._plumbing.told):
            raise ValueError(f"{self.command} was not started with stdin='pipe'; it cannot be told")
        if stdin is not None and not self._plumbing.terminal:
            stdin.feed(data)  # it need not read all of it
            stdin.finish()
        elif stdin is not None:
            stdin.feed(data)

    async def _collected_within(self, seconds: float | None) -> Completed | None:
        """What a pause of this process took does not count: the other may have been held still
        meanwhile, and its end could not be heard of."""
        while seconds is None or seconds > 0:
            some = None if seconds is None else min(seconds, _LOOK)
            with suppress(TimeoutError):
                async with asyncio.timeout(some):
                    return await self._collected()
            seconds = (seconds or 0.0) - (some or 0.0)
        return None

    async def _collected(self) -> Completed:
        await self.wait()
        streams = [stream for stream in (self.stdout, self.stderr) if stream]
        for stream in streams:
            await stream.finished()
        texts = [stream.text for stream in streams]
        return Completed(self.code or 0, *texts, cut=sum(stream.cut for stream in streams))

    def send_signal(self, number: int) -> None:
        """Send it a signal, it alone. Nothing is sent once it has ended."""
        self._may_act("signal to it")
        if not isinstance(number, int) or number not in signal.valid_signals():  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
            raise ValueError(f"there is no signal {number!r}")
        self.pass_on(number)

    async def end(self, grace: float = GRACE) -> int:
        """Ask it to end, with all that it started and still holds; then kill them."""
        must_be_grace(grace)
        self._may_act("ending of it")
        self.drop(grace)
        return await self.wait()

    def resize(self, rows: int, columns: int) -> None:
        """Give its terminal another size."""
        self._may_act("resizing of it")
        self._plumbing.resize(rows, columns)

    # for whoever owns it, and has asked who may

    def pass_on(self, number: int, *, group: bool = False) -> None:
        """Send it a signal, or its group."""
        if self.code is None:
            self._keeper.signal(self.id, number, group=group)

    def drop(self, grace: float) -> None:
        """Have it end; nothing is waited for."""
        if self.code is None:
            self._keeper.end(self.id, grace)

    def beside(self) -> list[Relative]:
        """Who is there with it."""
        return self._keeper.living()

    # for its warden

    @property
    def silent(self) -> bool:
        """Whether nobody holds its pipes any more."""
        return not (self.stdout.open or (self.stderr and self.stderr.open))

    def has_started(self, pid: int) -> None:
        self.pid = pid
        self._plumbing.handed_over()
        # Who has the handle now, and a task that they start, come before any of it is forgotten.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._nobody_began)

    def _nobody_began(self) -> None:
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.nobody_began()

    def has_ended(self, code: int) -> None:
        if self._ended.done():
            return
        self._ended.set_result(code)
        if stdin := self.stdin:
            stdin.let_go()
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.finish()

    def let_go(self) -> None:
        """Its warden has gone: nobody can write to it any more, or ought to."""
        self.has_ended(-signal.SIGKILL)
        self._plumbing.close()


def _strays(living: list[Relative], known: set[int]) -> list[Relative]:
    """Those that have none of the known above them."""
    parents = {kin.pid: kin.parent for kin in living}

    def is_known(pid: int) -> bool:
        while pid in parents and pid not in known:
            pid = parents[pid]
        return pid in known

    return [kin for kin in living if not is_known(kin.pid)]
