"""Standard input and output for the protocol alone, whatever tools and libraries print."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

_CHUNK = 1 << 20
_MOST = 8  # chunks that wait to be looked at
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def keep_output_for_the_protocol() -> int:
    """A descriptor of what was standard output; what is printed from here on goes to the errors."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.set_inheritable(ours, False)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return ours


class ClientInput:
    """What the client says, in the order it came; nothing more once it has gone."""

    def __init__(self, fd: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._paused = False  # enough is waiting
        for number in _SIGNALS:
            self._loop.add_signal_handler(number, self.end)
        try:
            self._loop.add_reader(fd, self._read)
        except PermissionError:  # a file, which the event loop cannot wait for
            threading.Thread(target=self._read_all, daemon=True).start()

    async def next(self) -> bytes:
        """What has come; empty at the end."""
        chunk = await self._chunks.get()
        if self._paused and self._chunks.empty():
            self._paused = False
            self._loop.add_reader(self._fd, self._read)
        return chunk

    def end(self) -> None:
        """The client has gone, or we have to: nothing more is taken, not even what is waiting."""
        while not self._chunks.empty():
            self._chunks.get_nowait()
        self._chunks.put_nowait(b"")

    def close(self) -> None:
        """Read no more."""
        with suppress(OSError, ValueError):
            self._loop.remove_reader(self._fd)
        for number in _SIGNALS:
            self._loop.remove_signal_handler(number)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self._chunks.put_nowait(data)
        self._paused = bool(data) and self._chunks.qsize() >= _MOST
        if not data or self._paused:
            self._loop.remove_reader(self._fd)

    def _read_all(self) -> None:
        put: Callable[[bytes], object] = self._chunks.put_nowait
        while data := os.read(self._fd, _CHUNK):
            self._loop.call_soon_threadsafe(put, data)
        self._loop.call_soon_threadsafe(put, b"")
