"""What a process reads: written by us as fast as it reads, and no faster."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from lastword.errors import Superseded
from lastword.processes import wide

_A_TURN = 1 << 20  # bytes that are written in one turn of the loop, however fast they are read


@dataclass(slots=True)
class _Written:
    """Some of what the process is to read."""

    data: memoryview  # that it has not read yet
    last: bool  # the end of its input follows
    done: asyncio.Future[bool]
    may: Callable[[str], None]  # of who asked for it: a run may lose its session meanwhile


def the_owner(what: str) -> None:
    """Whoever owns a process may always act on it."""


class Input:
    """Standard input of a process, or the keys typed at its terminal."""

    def __init__(
        self, fd: int, name: str, may_write: Callable[[str], None], *, terminal: bool = False
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._name = name
        self._may_write = may_write
        self._unread: deque[_Written] = deque()
        self._terminal = terminal  # at which the end of input is a key, and more may follow
        self._wide = False  # it was tried to have the pipe hold more
        os.set_blocking(fd, False)

    async def write(self, data: bytes) -> None:
        """Have the process read this. Raises BrokenPipeError if it reads no more."""
        if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
            raise TypeError(f"a process reads bytes, not a {type(data).__name__}")
        if not await asyncio.shield(self.feed(data)):
            self._may_write("writing to it")
            raise BrokenPipeError(f"{self._name} reads no more of its standard input")

    def feed(self, data: bytes) -> asyncio.Future[bool]:
        """Begin to write; whether all of it could be."""
        return self.feed_for(self._may_write, data)

    def begin(self, data: bytes) -> asyncio.Future[bool]:
        """The same for whoever started the process: what it is started with is part of that."""
        return self.feed_for(the_owner, data)

    def feed_for(
        self, may: Callable[[str], None], data: bytes, *, last: bool = False
    ) -> asyncio.Future[bool]:
        """The same for somebody else, who is asked whether they still may as long as it lasts.
        With `last`, the end of its input follows."""
        may("writing to it")
        if last and self._terminal:
            data, last = data + _end_of_file(data), False
        written = _Written(memoryview(bytes(data)), last, self._loop.create_future(), may)
        if self._fd < 0 or self._ends:
            written.done.set_result(False)
        else:
            self._unread.append(written)
            self._flush()
        return written.done

    @property
    def unread(self) -> int:
        """How many bytes wait to be read, of those who may still write them."""
        return sum(len(one.data) for one in self._unread if _may_go_on(one.may))

    @property
    def _ends(self) -> bool:
        """Whether nothing follows what is waiting."""
        return any(one.last and _may_go_on(one.may) for one in self._unread)

    def finish(self) -> None:
        """Close it once all has been read."""
        self._may_write("closing of its input")
        self.end()

    def end(self) -> None:
        """The same for whoever started the process."""
        self.feed_for(the_owner, b"", last=True)

    def _flush(self) -> None:
        room = _A_TURN
        while self._unread and self._fd >= 0:
            count = self._write(self._unread[0], room)
            if count is None:
                self._loop.add_writer(self._fd, self._flush)
                return
            room -= count
        if self._fd >= 0:
            self._loop.remove_writer(self._fd)

    def _write(self, first: _Written, room: int) -> int | None:
        """How much of it was written; None if nothing more can be in this turn."""
        if not _may_go_on(first.may):
            self._unread.popleft()
            _tell(first.done, all_of_it=False)
            return 0
        try:
            count = os.write(self._fd, first.data[:room]) if first.data else 0
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:  # nobody reads it any more
            self.let_go()
            return 0
        first.data = first.data[count:]
        if not first.data:
            self._unread.popleft()
            _tell(first.done, all_of_it=True)
            if first.last:
                self.let_go()
        elif count < room and first.may is the_owner:
            self._widen()
        return count if count < room else None

    def _widen(self) -> None:
        """There is more to read than the pipe holds. What a run writes is better kept back: once
        it is in a pipe, no stop takes it out."""
        if not self._wide:
            self._wide = True
            wide.widen(self._fd)

    def close(self) -> None:
        """Write no more. The process reads the end of its input."""
        self._may_write("closing of its input")
        self.let_go()

    def let_go(self) -> None:
        """The same for whoever started the process."""
        if self._fd >= 0:
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            wide.closed(self._fd)
            self._fd = -1
        while self._unread:
            _tell(self._unread.popleft().done, all_of_it=False)


def _may_go_on(may: Callable[[str], None]) -> bool:
    """Each time anew: the pipe may have been full for long."""
    try:
        may("writing to it")
    except (Exception, Superseded):  # noqa: BLE001 - whatever says that it may not
        return False
    return True


def _end_of_file(typed: bytes) -> bytes:
    """Ctrl-D: twice where a line was begun, which the first only hands over."""
    return b"\x04" if not typed or typed.endswith(b"\n") else b"\x04\x04"


def _tell(written: asyncio.Future[bool], *, all_of_it: bool) -> None:
    if not written.done():
        written.set_result(all_of_it)
