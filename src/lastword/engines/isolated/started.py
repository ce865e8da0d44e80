"""The processes that a run in a process of its own has started: the host has them, and their pipes.

So they end with the run by the same wardens, are told of and proven as ever, and what was kept is
read and written to also when the run has gone. The run's process knows each by a number.
"""

from __future__ import annotations

import base64
import signal
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from lastword.core.value import value
from lastword.engines.isolated.line import Nonsense
from lastword.engines.isolated.shapes import Verb, value_in
from lastword.errors import LastwordError
from lastword.processes import Process, ProcessLimits
from lastword.processes.command import Folder, must_be_grace
from lastword.processes.input import Input, the_owner
from lastword.processes.inside.family import Relative
from lastword.processes.output import Output
from lastword.runtime.run import Run

_MOST = 1000  # that its process has a handle on
_MOST_READ = 10_000  # streams at a time
_MOST_KEPT = 16 << 20  # bytes of what each writes
Stream = Literal["stdout", "stderr"]


@value
class ProcessAsked:
    """What is to be started, as a run's process asks for it."""

    argv: tuple[str, ...]
    name: str
    cwd: str
    place: tuple[int, ...] | None
    env: tuple[tuple[str, str], ...]
    stdin: Literal["none", "pipe", "told"]
    said: str  # what it is told
    terminal: bool
    merged: bool
    limits: ProcessLimits
    output_limit: int
    on_stop: Literal["end", "leave", "keep"]
    grace: float
    told: bool
    readers: tuple[int, int]  # of its output and its errors, from their first words on


class Handle(NamedTuple):
    """What its process knows of one."""

    n: int
    pid: int
    takes_input: bool
    has_errors: bool


class StreamState(NamedTuple):
    """How a stream of it is."""

    total: int
    cut: int
    open: bool


class ProcessesApart:
    """Those of one run."""

    def __init__(self, run: Run, send: Callable[..., None]) -> None:
        self._run = run
        self._send = send
        self._count = 0
        self._processes: dict[int, Process] = {}
        self._readers: dict[int, tuple[Output, object]] = {}
        self._over = False
        self.verbs = {
            "process_signal": Verb(self._signal, (int, int, bool)),
            "process_drop": Verb(self._drop, (int, float)),
            "process_input_over": Verb(self._input_over, (int, bool)),
            "process_read_over": Verb(self._read_over, (int,)),
            "process_forget": Verb(self._forget, (int,)),
        }
        self.requests = {
            "process": Verb(self._spawn, (ProcessAsked,)),
            "process_read": Verb(self._read, (int, Stream, int)),
            "process_finished": Verb(self._finished, (int, Stream)),
            "process_write": Verb(self._write, (int, str, bool, bool)),
            "process_left": Verb(self._left, (int,)),
        }
        self.at_once = {
            "process_stream": Verb(self._stream, (int, Stream)),
            "process_since": Verb(self._since, (int, Stream, int)),
            "process_kept": Verb(self._kept, (int, Stream)),
            "process_taken": Verb(self._taken, (int, Stream)),
            "process_unread": Verb(self._unread, (int,)),
            "process_living": Verb(self._living, (int,)),
            "process_resize": Verb(self._resize, (int, int, int)),
        }

    def of(self, n: int) -> Process:
        """The process that has this number."""
        if n not in self._processes:
            raise Nonsense(f"process {n}, which nobody started or somebody has forgotten")
        return self._processes[n]

    def over(self) -> None:
        """Nobody reads any more, or wants to know how one ended."""
        self._over = True
        self._processes.clear()
        for reader in tuple(self._readers):
            self._read_over(reader)

    # a start

    async def _spawn(self, plain: object) -> Handle:
        asked = value_in(ProcessAsked, plain)
        if len(self._processes) >= _MOST:
            raise LastwordError(f"at most {_MOST:,} processes of an isolated run; none was started")
        if asked.output_limit > _MOST_KEPT:
            raise ValueError(f"at most {_MOST_KEPT:,} bytes of what it writes can be kept")
        place = asked.place
        process = await self._run.spawn(
            *asked.argv,
            name=asked.name,
            cwd=Folder(asked.cwd, *place) if place else asked.cwd,
            env=dict(asked.env),
            stdin=base64.b64decode(asked.said) if asked.stdin == "told" else asked.stdin,
            pty=asked.terminal,
            merged=asked.merged,
            on_stop=asked.on_stop,
            grace=asked.grace,
            limits=asked.limits,
            output_limit=asked.output_limit,
            told=asked.told,
        )
        self._count = n = self._count + 1
        self._processes[n] = process
        process.when_ended(partial(self._tell, n))
        # Who reads at once misses nothing: somebody may, until the run's process says otherwise.
        for reader, stream in zip(asked.readers, (process.stdout, process.stderr), strict=True):
            if stream:
                self._begin(reader, stream)
        return Handle(n, process.pid, process.stdin is not None, process.stderr is not None)

    def _tell(self, n: int, code: int) -> None:
        if not self._over:
            self._send("process_ended", n, code)

    def _forget(self, n: int) -> None:
        """Its process has no handle on it any more."""
        self.of(n)
        del self._processes[n]

    # what it writes

    def _output(self, n: int, which: Stream) -> Output:
        process = self.of(n)
        stream = process.stdout if which == "stdout" else process.stderr
        if stream is None:
            raise Nonsense(f"errors of process {n}, which has none of its own")
        return stream

    async def _read(self, n: int, which: Stream, reader: int) -> bytes:
        if reader not in self._readers:
            self._begin(reader, self._output(n, which))
        stream, me = self._readers[reader]
        return await stream.read(me)

    def _begin(self, reader: int, stream: Output) -> None:
        if reader in self._readers:
            raise Nonsense(f"reader {reader}, who reads already")
        if len(self._readers) >= _MOST_READ:
            raise LastwordError(f"an isolated run reads at most {_MOST_READ:,} streams at once")
        self._readers[reader] = stream, stream.begin()

    def _read_over(self, reader: int) -> None:
        stream, me = self._readers.pop(reader, (None, None))
        if stream:
            stream.done(me)

    async def _finished(self, n: int, which: Stream) -> None:
        await self._output(n, which).finished()

    def _stream(self, n: int, which: Stream) -> StreamState:
        stream = self._output(n, which)
        return StreamState(stream.total, stream.cut, stream.open)

    def _since(self, n: int, which: Stream, offset: int) -> tuple[int, bytes]:
        return self._output(n, which).since(offset)

    def _kept(self, n: int, which: Stream) -> tuple[bytes, bytes]:
        return self._output(n, which).kept()

    def _taken(self, n: int, which: Stream) -> list[bytes]:
        return [bytes(piece) for piece in self._output(n, which).handed_over()]

    # what it reads

    def _input(self, n: int) -> Input:
        if (stdin := self.of(n).stdin) is None:
            raise Nonsense(f"input of process {n}, which has none")
        return stdin

    async def _write(self, n: int, data: str, last: bool, owner: bool) -> bool:
        may = the_owner if owner else self._run.must_hold
        return await self._input(n).feed_for(may, base64.b64decode(data), last=last)

    def _input_over(self, n: int, at_once: bool) -> None:
        stdin = self._input(n)
        (stdin.let_go if at_once else stdin.end)()

    def _unread(self, n: int) -> int:
        return self._input(n).unread

    # it

    def _signal(self, n: int, number: int, group: bool) -> None:
        if number not in signal.valid_signals():
            raise Nonsense(f"a signal {number}")
        if self._run.current:
            self.of(n).pass_on(number, group=group)

    def _drop(self, n: int, grace: float) -> None:
        must_be_grace(grace)
        self.of(n).drop(grace)

    def _living(self, n: int) -> list[Relative]:
        return self.of(n).beside()

    async def _left(self, n: int) -> tuple[str, ...]:
        return await self.of(n).left_behind()

    def _resize(self, n: int, rows: int, columns: int) -> None:
        self.of(n).resize(rows, columns)
