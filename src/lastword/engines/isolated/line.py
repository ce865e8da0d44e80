"""The line between a run's process and its host: frames, each a length, a kind and a body.

Either end takes one frame at a time, when it is ready for it: what comes faster waits in the
socket, and its sender with it. What a process says is JSON, and its host unpickles nothing of it.
No frame of JSON is so long that to read it would hold up others: a long text comes before it, as it
is, in pieces. A frame that is longer than any may be is nonsense, and ends that run. A host may be
believed by its own process, so what it says is pickled, of any length, and descriptors may come
with it; a host takes none.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from lastword.processes.inside.wire import ancillary

MESSAGE, WORDS, WORDS_SOON, HEARD, LONG, AT_ONCE, DROPPED = 1, 2, 3, 4, 5, 6, 7
KINDS = frozenset((MESSAGE, WORDS, WORDS_SOON, HEARD, LONG, AT_ONCE, DROPPED))
LONGEST = 1 << 19  # bytes of a frame that a process says
_MOST_FDS = 16
_HEAD = struct.Struct("!IB")
_CHUNK = 1 << 16
_ENOUGH = 1 << 15  # bytes that wait here; more of them wait in the socket
_MUCH = 1 << 18  # bytes that are yet to be sent, after which whoever says more waits
_LOOK = 10  # milliseconds after which whoever waits for an answer asks whether to wait on


class Nonsense(Exception):
    """The other end said what no such process says; nothing of it was done."""


class LineFrame(NamedTuple):
    """One frame, whole."""

    kind: int
    body: bytes


class RunLine:
    """One end of it. A process `believes` its host: frames of any length, and descriptors."""

    def __init__(self, end: socket.socket, *, believes: bool = False) -> None:
        self._believes = believes
        self.fds: deque[int] = deque()  # that have come, in the order of what they came with
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._socket = end
        self._data = bytearray()
        self._gone = False
        self._listening = False
        self._more: asyncio.Future[None] | None = None
        self._skipped: Callable[[LineFrame], object] | None = None
        self._lock = threading.Lock()  # any thread may say something
        self._unsent: deque[tuple[memoryview, tuple[int, ...]]] = deque()
        self._waiting = 0  # bytes of that
        self._room: asyncio.Future[None] | None = None
        end.setblocking(False)
        self._listen()

    # what comes

    async def next(self) -> LineFrame:
        """The next frame. Raises EOFError once the other end has gone and nothing is left."""
        while (frame := self._take()) is None:
            if self._gone:
                raise EOFError
            self._listen()
            self._more = self._loop.create_future()
            await self._more
        return frame

    def skip(self, told: Callable[[LineFrame], object]) -> None:
        """From here on do nothing about what comes, but tell of it."""
        self._skipped = told
        self._listen()
        self._skip()

    def answered(self, wait_on: Callable[[], object]) -> bytes:
        """What the other end says at once; this thread does nothing else meanwhile. `wait_on` may
        raise, and is asked again and again. Raises EOFError once the other end has gone."""
        look = select.poll()
        while (body := self._pick(AT_ONCE)) is None:
            if self._gone:
                raise EOFError
            wait_on()
            look.register(self._socket, select.POLLIN | (select.POLLOUT if self._unsent else 0))
            look.poll(_LOOK)
            self._flush()
            self._receive()
        return body

    def _pick(self, kind: int) -> bytes | None:
        """The first of this kind, whatever came before it."""
        begin = 0
        while len(self._data) >= begin + _HEAD.size:
            length, this = _HEAD.unpack_from(self._data, begin)
            end = begin + _HEAD.size + length
            if len(self._data) < end:
                return None
            if this == kind:
                body = bytes(memoryview(self._data)[begin + _HEAD.size : end])
                del self._data[begin:end]
                return body
            begin = end
        return None

    @property
    def gone(self) -> bool:
        """Whether the other end has."""
        return self._gone

    def _listen(self) -> None:
        if not self._listening and not self._gone:
            self._listening = True
            self._loop.add_reader(self._socket, self._receive)

    def _rest(self) -> None:
        if self._listening:
            self._listening = False
            self._loop.remove_reader(self._socket)

    def drain(self) -> None:
        """Take what has come by now: nobody is left to say more."""
        while not self._gone and self._receive():
            pass

    def _receive(self) -> bool:
        """Whether something was there."""
        try:
            data = self._read()
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            data = b""
        self._data += data
        if not data:
            self.close()
        elif self._skipped:
            self._skip()
        elif len(self._data) > _ENOUGH:
            self._rest()  # until somebody asks for more than there is
        if self._more and not self._more.done():
            self._more.set_result(None)
        return True

    def _read(self) -> bytes:
        if not self._believes:
            return self._socket.recv(_CHUNK)
        data, fds, _, _ = socket.recv_fds(self._socket, _CHUNK, _MOST_FDS)
        for fd in fds:
            os.set_inheritable(fd, False)
        self.fds += fds
        return data

    def _take(self) -> LineFrame | None:
        if len(self._data) < _HEAD.size:
            return None
        length, kind = _HEAD.unpack_from(self._data)
        if kind not in KINDS or (length > LONGEST and not self._believes):
            raise Nonsense(f"a frame of kind {kind} and {length:,} bytes")
        end = _HEAD.size + length
        if len(self._data) < end:
            return None
        body = bytes(memoryview(self._data)[_HEAD.size : end])
        del self._data[:end]
        return LineFrame(kind, body)

    def _skip(self) -> None:
        with suppress(Nonsense):
            while frame := self._take():
                if self._skipped:
                    self._skipped(frame)
            return
        self.close()  # whatever it says, nobody listens
        self._data.clear()

    # what goes

    def send(self, body: bytes, kind: int = MESSAGE, fds: tuple[int, ...] = ()) -> None:
        """Say something; any thread may. What the socket does not take yet goes later; descriptors
        go with its first byte, and remain the caller's to close."""
        frame = memoryview(_HEAD.pack(len(body), kind) + body)
        with self._lock:
            if not self._unsent:
                frame, fds = self._write(frame, fds)
            if not frame:
                return
            self._unsent.append((frame, tuple(os.dup(fd) for fd in fds)))
            self._waiting += len(frame)
        self._loop.call_soon_threadsafe(self._watch)

    def _write(self, data: memoryview, fds: tuple[int, ...]) -> tuple[memoryview, tuple[int, ...]]:
        try:
            sent = self._socket.sendmsg([data], ancillary(fds))
        except (BlockingIOError, InterruptedError):
            return data, fds
        except OSError:  # the other end has gone; the reader is about to find out
            return data[:0], ()
        return data[sent:], ()

    def _watch(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_writer(self._socket, self._flush)

    def _flush(self) -> None:
        with self._lock:
            while self._unsent:
                data, fds = self._unsent[0]
                left, unsent = self._write(data, fds)
                self._waiting -= len(data) - len(left)
                if not unsent:
                    _close(fds)
                if left:
                    self._unsent[0] = (left, unsent)
                    break
                self._unsent.popleft()
            else:
                self._loop.remove_writer(self._socket)
        if not self.full:
            self._has_room()

    def _has_room(self) -> None:
        if self._room and not self._room.done():
            self._room.set_result(None)

    @property
    def full(self) -> bool:
        """Whether whoever says more had better wait."""
        return self._waiting > _MUCH and not self._gone

    async def room(self, *, all_of_it: bool = False) -> None:
        """Return when there is room for more; or when all that was said has been sent."""
        while self._waiting and not self._gone if all_of_it else self.full:
            self._room = self._room if self._room and not self._room.done() else None
            self._room = self._room or self._loop.create_future()
            await asyncio.wait([self._room], timeout=0.01 if all_of_it else None)

    def close(self) -> None:
        """Hang up. What has come can still be taken."""
        self._gone = True
        self._rest()
        with self._lock:
            if self._socket.fileno() >= 0:
                self._loop.remove_writer(self._socket)
                self._socket.close()
            while self._unsent:
                _close(self._unsent.popleft()[1])
        self._has_room()


def _close(fds: tuple[int, ...]) -> None:
    for fd in fds:
        os.close(fd)
