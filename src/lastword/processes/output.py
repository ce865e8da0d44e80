"""What a process writes, read by us, in bounded memory.

A process is never kept waiting for somebody to read it: its first and its last words are kept and
what lies between is counted. It waits only for a reader who has begun to read, who then misses
nothing; and until whoever started it has had a turn of the loop in which to begin.
"""

from __future__ import annotations

import array
import asyncio
import fcntl
import os
import termios
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from itertools import chain

from lastword.processes import wide
from lastword.processes.stretch import Stretch

_CHUNK = 1 << 16  # bytes that are read at once: as much as a pipe holds
_MUCH = 1 << 20
_TERMINAL_HOLDS = 1 << 17  # bytes, more than a kernel keeps of what was written to one


class Output:
    """One stream of a process."""

    def __init__(self, fd: int, limit: int, may_read: Callable[[str], None]) -> None:
        self._total = 0
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._half = max(limit // 2, 1)
        self._head = Stretch()
        self._tail = Stretch()
        self._chunk = _CHUNK
        self._may_read = may_read
        self._readers: dict[object, int] = {}  # how far each has come
        self._news: asyncio.Future[None] | None = None
        self._end: int | None = None  # where the process's own words end
        self._first: object | None = None  # for who begins as soon as they have the handle
        self._first = self.begin()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._readable)

    @property
    def open(self) -> bool:
        """Whether somebody may still write."""
        return self._fd >= 0

    @property
    def total(self) -> int:
        """How many bytes were written."""
        return self._total

    @property
    def cut(self) -> int:
        """How many bytes in the middle are not kept."""
        return max(self.total - 2 * self._half, 0)

    @property
    def head(self) -> bytes:
        """Its first words; all of it, if nothing was cut."""
        self._may_read("reading of what it wrote")
        return self.kept()[0]

    @property
    def tail(self) -> bytes:
        """Its last words, if something was cut."""
        self._may_read("reading of what it wrote")
        return self.kept()[1]

    @property
    def text(self) -> str:
        """All that was kept, as text, with a line in place of what was cut."""
        self._may_read("reading of what it wrote")
        return self.for_the_owner()

    def for_the_owner(self) -> str:
        """The same for whoever owns the process, also once its run may act no more."""
        head, tail = (part.decode(errors="replace") for part in self.kept())
        return f"{head}\n… {self.cut:,} bytes cut …\n{tail}" if self.cut else head

    def since(self, offset: int) -> tuple[int, bytes]:
        """For the owner, what is kept from an offset on, and where that begins: later, if what
        was written there was cut."""
        head, tail = self.kept()
        if offset < len(head):
            return offset, head[offset:]
        begin = min(max(offset, self.total - len(tail)), self.total)
        return begin, tail[len(tail) - (self.total - begin) :]

    def kept(self) -> tuple[bytes, bytes]:
        """For the owner, its first words and its last: all of it and nothing, if none was cut."""
        if self.cut:
            return self._head.last(self._half), self._tail.last(self._half)
        return b"".join(self._pieces()), b""

    def handed_over(self) -> deque[bytes | bytearray]:
        """All that was kept, as it came; it is the caller's, and kept here no longer."""
        self._may_read("reading of what it wrote")
        pieces = deque(self._pieces())
        self._head, self._tail = Stretch(), Stretch()
        return pieces

    def _pieces(self) -> Iterator[bytes | bytearray]:
        return chain(self._head, self._tail)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """What is written, as it is written, until the process has ended."""
        me = self.begin()
        try:
            while data := await self.read(me):
                yield data
        finally:
            self.done(me)

    def begin(self) -> object:
        """Read from here on: whoever has this misses nothing until they are done."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        me = object()
        whole = self._tail.start == self._head.end
        self._readers[me] = 0 if whole else self._tail.start
        return me

    def nobody_began(self) -> None:
        """Whoever has the handle has done something else first: they may come too late."""
        if self._first is not None:
            self.done(self.begin())

    async def read(self, me: object) -> bytes:
        """What comes next; nothing at its end."""
        while True:
            self._may_read("reading of what it wrote")
            if data := self._since(self._readers[me]):
                self._readers[me] += len(data)
                self._resume()
                return data
            if self._end is not None:
                return b""
            await self._some_news()

    def done(self, me: object) -> None:
        """Nobody reads this any more."""
        if self._readers.pop(me, None) is not None:
            self._resume()

    async def finished(self) -> None:
        """Return when the process has said its last word."""
        while self._end is None:
            await self._some_news()

    async def _some_news(self) -> None:
        self._news = self._news or self._loop.create_future()
        await asyncio.shield(self._news)

    def _since(self, offset: int) -> bytes:
        end = self.total if self._end is None else self._end
        part = self._head if offset < self._head.end else self._tail
        return part.some(offset, end)

    # reading

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, self._chunk)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # a terminal says so when the last process has let go of it
            data = b""
        if not data:
            self.close()
            return
        self._take(data)
        if len(data) == _CHUNK == self._chunk:
            self._widen()
        if any(self.total - at > self._half for at in self._readers.values()):
            self._loop.remove_reader(self._fd)

    def _widen(self) -> None:
        """It writes much: have the pipe hold more, if as much may be kept at all.

        Not before somebody reads, or could have come too late to miss nothing.
        """
        reads = len(self._readers) > (self._first is not None)
        late = reads or self.total >= _MUCH
        if late and self._half >= wide.CHUNK and wide.widen(self._fd):
            self._chunk = wide.CHUNK

    def _resume(self) -> None:
        behind = any(self.total - at > self._half for at in self._readers.values())
        if self._fd >= 0 and not behind:
            self._loop.add_reader(self._fd, self._readable)

    def _take(self, data: bytes) -> None:
        self._total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head.add(data[:room])
            data = data[room:]
            if not len(self._tail):
                self._tail = Stretch(self._head.end)
        if data:
            self._tail.add(data)
            needed = (self.total - self._half, *self._readers.values())
            self._tail.forget(min(needed))
        self._wake()

    def control(self, act: Callable[[int], object]) -> None:
        """Do something to what is read, while it is open."""
        if self._fd >= 0:
            act(self._fd)

    def finish(self) -> None:
        """The process has ended: take what it left in the pipe, which others may still hold."""
        if self._fd >= 0:
            self._drain()
        if self._end is None:
            self._end = self.total
        self._wake()

    def _drain(self) -> None:
        left = self._held()
        with suppress(OSError):  # nothing is left, or the last process let go of a terminal
            while left > 0 and (data := os.read(self._fd, min(left, self._chunk))):
                left -= len(data)
                self._take(data)

    def _held(self) -> int:
        """How much to read at most of what is there: somebody may write for ever."""
        if os.isatty(self._fd):  # it counts only what has come through; reading fetches the rest
            return _TERMINAL_HOLDS
        count = array.array("i", [0])
        fcntl.ioctl(self._fd, termios.FIONREAD, count)
        return count[0]

    def close(self) -> None:
        """Read no more."""
        if self._fd >= 0 and self._end is None:
            self._drain()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            wide.closed(self._fd)
            self._fd = -1
        if self._end is None:
            self._end = self.total
        self._wake()

    def _wake(self) -> None:
        if self._news and not self._news.done():
            self._news.set_result(None)
        self._news = None
