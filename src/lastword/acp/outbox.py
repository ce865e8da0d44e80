"""Everything that leaves, in one place: whole lines, in order, each checked right before it goes.

What a run said belongs to the generation it was said in. If the other side reads slowly, it waits
here; and if the run loses its session meanwhile, it never leaves. A line that has begun to leave is
finished, or the other side could read nothing any more.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from lastword.acp.wire import Params, line_of
from lastword.runtime.tasks import Tasks
from lastword.stores.lease import Tenure

_FULL = 1 << 20  # bytes that may wait before whoever speaks has to
_OVERFULL = 16 << 20  # and before nothing more is heard


def _always() -> bool:
    return True


class Outbox:
    """Writes to a descriptor that nobody else writes to."""

    def __init__(self, fd: int) -> None:
        self.gone = False  # nobody reads it any more
        self.on_gone: Callable[[], object] = _always
        self.dropped = 0
        self.tenure: Tenure | None = None  # while it is not good, nothing begins to leave
        self._tasks = Tasks()
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[bytes, Callable[[], bool]]] = deque()
        self._leaving = memoryview(b"")  # the rest of a line that has begun to leave
        self._size = 0
        self._room = asyncio.Event()
        self._room.set()
        self._watched = False
        os.set_blocking(fd, False)
        if stat.S_ISFIFO(os.fstat(fd).st_mode):  # then it is known at once that nobody reads it
            self._loop.add_reader(fd, self._give_up)

    def send(self, message: Params, while_: Callable[[], bool] = _always) -> None:
        """Let a message leave as soon as it can, if that is still so when it does."""
        if self.gone:
            return
        line = line_of(message)
        self._waiting.append((line, while_))
        self._size += len(line)
        if self._size > _FULL:
            self._room.clear()
        if not self._watched:
            self._flush()

    async def room(self) -> None:
        """Return when not too much is waiting, for who speaks of its own accord."""
        await self._room.wait()

    async def some_room(self) -> None:
        """The same for answers, of which more may wait: who asks has to be heard meanwhile."""
        if self._size > _OVERFULL:
            await self._room.wait()

    async def empty(self, seconds: float) -> None:
        """Return when all has left, or so much time has passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._size and not self.gone:
                    self._room.clear()
                    await self._room.wait()

    def close(self) -> None:
        """Write no more."""
        self._give_up()
        with suppress(OSError):
            os.set_blocking(self._fd, True)  # as it was given to us

    def _flush(self) -> None:
        try:
            while self._next():
                sent = os.write(self._fd, self._leaving)
                self._leaving = self._leaving[sent:]
                self._size -= sent
        except (BlockingIOError, InterruptedError):
            if not self._watched:
                self._watched = True
                self._loop.add_writer(self._fd, self._flush)
        except OSError:  # the other side has gone
            self._give_up()
        else:
            self._unwatch()
        if self._size <= _FULL // 2:
            self._room.set()

    def _next(self) -> bool:
        """Whether there is something to write: the rest of a line, or one that may still leave."""
        if not self._leaving and self._waiting and self._must_wait():
            return False
        while not self._leaving and self._waiting:
            line, still = self._waiting.popleft()
            if still():
                self._leaving = memoryview(line)
            else:
                self.dropped += 1
                self._size -= len(line)
        return bool(self._leaving)

    def _must_wait(self) -> bool:
        """Whether the process was paused, or its store does not answer, and it has to ask first."""
        if self.tenure is None or self.tenure.good or self.tenure.ended:
            return False
        if not self._tasks.living:
            self._tasks.start(self._flush_later(self.tenure), name="lease")
        return True

    async def _flush_later(self, tenure: Tenure) -> None:
        while not tenure.good and not tenure.ended:
            await tenure.news()
        self._loop.call_soon(self._flush)  # behind what is lost, and this task's end

    def _unwatch(self) -> None:
        if self._watched:
            self._watched = False
            self._loop.remove_writer(self._fd)

    def _give_up(self) -> None:
        self._unwatch()
        self._loop.remove_reader(self._fd)
        self._tasks.cancel()
        self._waiting.clear()
        self._leaving = memoryview(b"")
        self._size = 0
        self._room.set()
        self.gone = True
        self.on_gone()
