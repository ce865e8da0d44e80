"""What goes out, in order, from a thread that nobody waits for.

Whoever reads may be slow, or not read at all. Only this thread waits for them, and before each
piece it looks whether there is still something to write: once it was cut off, what waits is
forgotten and nothing more is written. A piece is what a pipe with room takes without waiting, so
that a stop does not find one in the kernel's hands; where it does, as a terminal can wait in the
middle of one, `under_way` says so.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from lastword.runtime.threads import DaemonThreads

_LINE_END = ord("\n")


class Writing:
    """Into one open file, past Python's buffers, which would be waited for once more at exit."""

    def __init__(
        self, out: TextIO, rests: Callable[[BaseException | None], object] | None = None
    ) -> None:
        self._number = out.fileno()
        self._encoding = out.encoding or "utf-8"
        self._on_rest = rests  # told when nothing is left to write, or that nothing can be
        self._loop = asyncio.get_running_loop()
        self._threads = DaemonThreads()
        self._lock = threading.Lock()
        self._kept = bytearray()
        self._at_work = False  # a thread is to write what is kept
        self._closed = False  # nothing more is taken
        self._cut = False
        self._whole = False  # nothing more will come
        self._written: asyncio.Future[None] = self._loop.create_future()
        self._idle = asyncio.Event()
        self._idle.set()
        self._piece = 0  # bytes that are being written
        self._in_line = False  # the last that was written is in the middle of a line

    @property
    def under_way(self) -> bool:
        """Whether a piece is being written."""
        return self._piece > 0

    @property
    def idle(self) -> bool:
        """Whether all that was put has been written."""
        return self._idle.is_set()

    def put(self, text: str) -> None:
        """Write this as soon as it can be."""
        with self._lock:
            if self._closed:
                return
            self._kept += text.encode(self._encoding, "replace")
            begins, self._at_work = not self._at_work, True
        if begins:
            self._idle.clear()
            working = self._loop.run_in_executor(self._threads, self._work)
            working.add_done_callback(self._rests)

    def end(self) -> None:
        """There is no more of it."""
        self._whole = True
        self._settle()

    def cut(self) -> None:
        """Write nothing more, from now on."""
        with self._lock:
            self._closed = self._cut = True
            self._kept.clear()
        self._settle()

    def cut_after_line(self) -> None:
        """Write of what waits the rest of the line that has begun, and what is put later."""
        with self._lock:
            begun = self._piece > 0 or self._in_line
            del self._kept[self._kept.find(b"\n", max(self._piece - 1, 0)) + 1 if begun else 0 :]

    async def written(self) -> None:
        """Wait until the end of it is written, or cut off. Raises OSError if it cannot be."""
        await asyncio.wait([self._written])  # not the future itself: it may be waited for again
        self._written.result()

    async def rest(self, seconds: float | None = None) -> bool:
        """Wait until nothing is left to write, at most so long; whether that is so."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _work(self) -> None:
        while self._more():
            select.select([], [self._number], [])
            with self._lock:
                piece = bytes(self._kept[: select.PIPE_BUF])
                self._piece = len(piece)
            if piece:
                self._write(piece)

    def _more(self) -> bool:
        with self._lock:
            self._at_work = bool(self._kept)
            return self._at_work

    def _write(self, piece: bytes) -> None:
        written = 0
        try:
            with suppress(BlockingIOError):  # somebody else was quicker to use the room
                written = os.write(self._number, piece)
        finally:
            with self._lock:
                self._piece = 0
                del self._kept[:written]
                if written:
                    self._in_line = piece[written - 1] != _LINE_END

    def _rests(self, working: asyncio.Future[None]) -> None:
        error = working.exception()
        if error:
            with self._lock:
                self._closed = True
                self._kept.clear()
            self._fail(error)
        if not self._at_work or self._closed:
            self._idle.set()
            if self._on_rest:
                self._on_rest(error)
        self._settle()

    def _fail(self, error: BaseException) -> None:
        if not self._written.done():
            self._written.set_exception(error)
            self._written.exception()  # whoever waits is told; nobody has to

    def _settle(self) -> None:
        over = self._cut or not self._at_work
        if self._whole and over and not self._written.done():
            self._written.set_result(None)
