"""What goes on under an id: processes of a session that a model and a person can come back to.

A job is read, written to, signalled and ended by its id, by whoever may: a run only while it has
its session, asked in the step that acts, and a person at any time. One that was declared `keep`
outlives its run; any other ends with the run that started it. Of the end of one that the model
knows, the session tells it with its next request; that starts no turn, and nothing of its output
enters one unless the model asks for it.

It is theirs who asked for the run that started it. To end a process is to stop a part of what
somebody asked for, and to write to it or signal it may be more than that. So who may do it is who
may stop the run, also when the run itself has ended.
"""

from __future__ import annotations

import asyncio
import codecs
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Iterator

from lastword.core.model import Generation, RunId
from lastword.core.rights import Rights
from lastword.core.value import value
from lastword.errors import Named, NoSuchJob, NotAllowed
from lastword.processes import Process
from lastword.processes.input import the_owner
from lastword.processes.numbers import numbers_of
from lastword.processes.process import in_words, living_on
from lastword.runtime.asking import act, acting, asking
from lastword.runtime.checks import must_be_name

_REMEMBERED = 16  # that have ended: what they wrote can still be read
MOST = 30_000  # bytes that are read at a time
_MOST_UNREAD = 1 << 20  # bytes that may wait for a process to read them
_A_CHARACTER = 4  # bytes at most: as many are read if one asks for less, or one would not get on
_A_MOMENT = 1.0  # seconds in which it may read what was written to it


@value
class OutputPiece:
    """Some of what a job has written."""

    text: str
    begin: int  # bytes before it; more than was asked for, if those are not kept any more
    end: int  # where to read on
    total: int  # bytes that were written so far
    code: int | None  # how it ended, if nothing of it is left


class Job:
    """A process that has an id in its session."""

    kept = False

    def __init__(
        self,
        id: str,
        run: RunId,
        by: str,
        process: Process,
        grace: float,
        started_at: float,
    ) -> None:
        self.id = id
        self.run = run  # that started it
        self.by = by  # who asked for that
        self.started_at = started_at
        self.known = False  # to the model, which is then told of its end
        self.ended_by = ""  # why, if it was asked to
        self.left: tuple[str, ...] = ()  # whom its end did not end
        self.tell: Callable[[], object] = bool  # of its end, to its model if that knows it
        self._ending = False
        self._process = process
        self._grace = grace

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.pid} {self.command!r} by {self.run}>"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def number(self) -> int | None:
        """What other commands of its run know it by; None if they cannot see it, or it ended."""
        numbers = numbers_of(self.pid) if self.code is None else ()
        if self.kept:  # where each has a namespace, it has one of its own
            return numbers[0] if len(numbers) == 1 else None
        return numbers[-1] if numbers else None

    @property
    def command(self) -> str:
        return self._process.command

    @property
    def output(self) -> str:
        """What it has written so far, the middle cut if it is long. It enters no turn by itself."""
        self._may_be_read()
        streams = (self._process.stdout, self._process.stderr)
        return "".join(stream.for_the_owner() for stream in streams if stream)

    @property
    def code(self) -> int | None:
        """How it ended, if it has; what it started may still be there."""
        return self._process.code

    @property
    def alive(self) -> bool:
        """Whether it is still there."""
        return self.code is None

    @property
    def ending(self) -> str:
        """How it ended, in words; or that it has not."""
        if self.alive or self.code is None:
            return "it has not ended"
        how = in_words(self.code)
        why = f", {self.ended_by}" if self.ended_by else ""
        return f"{how}{why}{living_on(self.left)}"

    @property
    def standing(self) -> str:
        """Whether it goes on, in words that follow its name."""
        if not self.alive:
            return f"has ended: {self.ending}"
        return "goes on" if self.code is None else f"goes on: {self.ending}"

    def when_over(self, act: Callable[[], object]) -> None:
        """Have something done when nothing of it is left."""
        self._process.when_ended(lambda _: act())

    async def over_within(self, seconds: float) -> bool:
        """Whether it has ended in so many seconds."""
        return await self._process.within(seconds) is not None

    def has_ended(self) -> None:
        """Have it told, unless whoever ends it still looks for who is left."""
        if not self._ending:
            self.tell()

    def read(self, offset: int = 0, limit: int = MOST) -> OutputPiece:
        """What it wrote from an offset on, in bytes, some of it at a time."""
        if offset < 0 or limit < 1:
            raise ValueError("what is read begins at 0 or later, and is 1 byte or more")
        self._may_be_read()
        code, stream = None if self.alive else self.code, self._process.stdout
        begin, data = stream.since(offset)
        some = data[: max(limit, _A_CHARACTER)]
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        more = len(data) > len(some) or code is None  # then half a character is for the next
        text = decoder.decode(some, final=not more)
        end = begin + len(some) - len(decoder.getstate()[0])
        return OutputPiece(text, begin, end, stream.total, code)

    def _may_be_read(self) -> None:
        if asker := asking():
            asker.hold.must_hold(f"reading of {self.id}")

    @property
    def takes_input(self) -> bool:
        """Whether it was started with something to read from."""
        return self._process.stdin is not None

    @act
    async def write(self, data: bytes, *, last: bool = False) -> bool:
        """Have it read this, and, if it is the `last`, the end of its input.

        Whether it has; what it has not read in a moment it reads later, or never.
        """
        if (stdin := self._process.stdin) is None:
            raise ValueError(f"{self.id} was started without an input; nothing was written")
        if len(data) > _MOST_UNREAD:
            raise ValueError(f"at most {_MOST_UNREAD:,} bytes can be written at once; none were")
        if stdin.unread + len(data) > _MOST_UNREAD:
            raise ValueError(f"{self.id} has not read what was written to it; nothing was written")
        with acting(f"writing to {self.id}") as right:
            may = right.must_hold if right else the_owner
            written = stdin.feed_for(may, data, last=last)
        done, _ = await asyncio.wait([written], timeout=_A_MOMENT)
        if done and not written.result():
            if asker := asking():
                asker.hold.must_hold(f"writing to {self.id}")
            raise BrokenPipeError(f"{self.id} reads no more of its input")
        return bool(done)

    @act
    async def signal(self, number: int) -> bool:
        """Send it a signal, and to what it started in its group, as Ctrl-C at a terminal would.

        False if it, or its first process, has ended, and nothing was sent.
        """
        if number not in signal.valid_signals():
            raise ValueError(f"there is no signal {number!r}")
        with acting(f"signal to {self.id}"):
            self._process.pass_on(number, group=True)
        return self.code is None

    @act
    async def end(self, grace: float | None = None, *, why: str = "") -> None:
        """End it, with all that it started and still holds; returns when it has.

        The model is told why, and not by whom, unless it is a run that asks.
        """
        with acting(f"end of {self.command}") as right:
            ending = self._end(self._grace if grace is None else grace)
            if self.alive and not self.ended_by:
                self.ended_by = why or ("" if right else "as the person wanted")
            ours = self.alive and not self._ending
            self._ending = self._ending or ours
        try:
            await ending
            if right and not why:
                self.known = False  # whoever asked learns of it from this
        finally:
            if ours:
                self._ending = False
                if not self.alive:
                    self.has_ended()

    def _end(self, grace: float) -> Awaitable[object]:
        self._process.drop(grace)
        return self._see_off()

    async def _see_off(self) -> None:
        await self._process.wait()
        self.left = await self._process.left_behind()


def signal_named(name: str) -> signal.Signals:
    """By its name, with or without SIG, or by its number."""
    word = name.strip().upper()
    try:
        if word.isdecimal():
            return signal.Signals(int(word))
        return signal.Signals[word if word.startswith("SIG") else f"SIG{word}"]
    except (KeyError, ValueError):
        raise ValueError(f"there is no signal {name!r}; INT, TERM, HUP and KILL are some") from None


class Jobs:
    """A session's, and those of its children. Of those that ended, the last are remembered."""

    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._by_id: dict[str, Job] = {}
        self._over: deque[str] = deque()  # in the order in which they ended
        self._given = 0  # ids so far
        self._latest = 0  # generation that one was given in

    def __iter__(self) -> Iterator[Job]:
        return iter(tuple(self._by_id.values()))

    def new_id(self, generation: Generation) -> str:
        """One that nothing had before: by the generation, which comes only once in a session, also
        after a restart, and then by how many were given here."""
        self._given += 1
        if generation > self._latest:
            self._latest = generation
            return f"p{generation}"
        return f"p{generation}-{self._given}"

    def add(self, job: Job) -> None:
        self._by_id[job.id] = job
        job.when_over(lambda: self._forget_after(job.id))

    def _forget_after(self, ended: str) -> None:
        self._over.append(ended)
        if len(self._over) > _REMEMBERED:
            del self._by_id[self._over.popleft()]

    def of(self, process: Process) -> Job | None:
        """The job that a process is, if it is one."""
        return next((job for job in self if job._process is process), None)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - of this room

    def whose(self, id: str, by: str | None) -> Job:
        """What has this id; `NotAllowed` if `by` may not stop the run that started it."""
        must_be_name(id, "the id of a process")
        job = self[id]
        if not self._rights.may_stop(by, job.by):
            why = f", which started {id}, so nothing was done"
            raise NotAllowed(f"{by!r} has no right to stop ", Named(job.run), why)
        return job

    def __getitem__(self, id: str) -> Job:
        if found := self._by_id.get(id):
            return found
        there = ", ".join(job.id for job in self if job.alive) or "none"
        raise NoSuchJob(
            f"nothing here has the id {id!r}: it never had, or it ended with an earlier process of "
            f"lastword's or long ago. These go on: {there}"
        )
