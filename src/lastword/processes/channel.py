"""The host's end of a conversation with the zygote or a warden. It never waits.

What is sent is written in the same step, as far as the socket takes it: whoever checks a hold and
then sends has nothing in between.

A fork of the host has no end of it. If it had, and the host then became another program, nobody
would notice: the process is the same, and somebody still holds the other end.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

from lastword.processes.inside.wire import Message, WireInbox, ancillary, pack


class Channel:
    """Messages out, messages in, and one word when the other end has gone."""

    def __init__(
        self,
        end: socket.socket,
        on_message: Callable[[Message, list[int]], None],
        on_end: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = end
        self._inbox = WireInbox(end)
        self._on_message = on_message
        self._on_end = on_end
        self._lock = threading.Lock()  # a stop may be sent from another thread
        self._unsent: deque[tuple[memoryview, tuple[int, ...]]] = deque()
        self.heard = self._loop.time()  # when something was
        end.setblocking(False)
        self._loop.add_reader(end, self._receive)
        _open.add(self)

    @property
    def open(self) -> bool:
        return self._socket.fileno() >= 0

    def send(self, message: Message, fds: tuple[int, ...] = ()) -> None:
        """Send, or keep it until it can be sent. The descriptors remain the caller's to close."""
        with self._lock:
            if not self.open:
                return
            data = memoryview(pack(message, fds))
            if not self._unsent:
                data, fds = self._write(data, fds)
            if data:
                if not self._unsent:
                    self._loop.add_writer(self._socket, self._flush)
                self._unsent.append((data, tuple(os.dup(fd) for fd in fds)))

    def send_from_any_thread(self, message: Message) -> None:
        """Send a short message now, if nothing has to be sent before it."""
        with self._lock, suppress(OSError):
            if self.open and not self._unsent:
                self._socket.send(pack(message))

    def _write(self, data: memoryview, fds: tuple[int, ...]) -> tuple[memoryview, tuple[int, ...]]:
        try:
            sent = self._socket.sendmsg([data], ancillary(fds))
        except (BlockingIOError, InterruptedError):
            return data, fds
        except OSError:  # the other end has gone; the reader is about to find out
            return data[:0], ()
        return data[sent:], ()

    def _flush(self) -> None:
        with self._lock:
            while self._unsent:
                data, fds = self._unsent[0]
                left, unsent = self._write(data, fds)
                if not unsent:
                    _close(fds)
                if left:
                    self._unsent[0] = (left, unsent)
                    return
                self._unsent.popleft()
            self._loop.remove_writer(self._socket)

    def _receive(self) -> None:
        try:
            messages = self._inbox.receive()
        except EOFError:
            self.close()
            self._on_end()
            return
        self.heard = self._loop.time()
        for message, fds in messages:
            self._on_message(message, fds)

    def hear_all(self) -> None:
        """Hear all that has been said until now."""
        look = select.poll()
        if self.open:
            look.register(self._socket, select.POLLIN)
        while self.open and look.poll(0):
            self._receive()

    def forget(self) -> None:
        """In a fork of the host: it is the host's alone, and so is the loop that reads it."""
        self._socket.close()

    def close(self) -> None:
        """Hang up. A warden that is hung up on sees off what it keeps, and leaves."""
        with self._lock:
            if not self.open:
                return
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            with suppress(OSError):  # a fork of this program may hold it, too
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        self._inbox.close()
        while self._unsent:
            _close(self._unsent.popleft()[1])


_open: WeakSet[Channel] = WeakSet()


def _forget_all() -> None:
    for channel in tuple(_open):
        channel.forget()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _close(fds: tuple[int, ...]) -> None:
    for fd in fds:
        os.close(fd)
