"""Messages between the host, the zygote and the wardens: a length, JSON, descriptors beside it.

A stream and not packets: a command with its environment can be longer than any packet, and not
every system has a local socket that keeps packets apart.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from array import array
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
_HEAD = struct.Struct("!IB")  # how long the body is; how many descriptors belong to it
_CHUNK = 1 << 16
_MOST_FDS = 16
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


def pack(message: Message, fds: tuple[int, ...] = ()) -> bytes:
    """A message as it is sent."""
    body = json.dumps(message).encode()  # a lone surrogate of a file's name survives this
    return _HEAD.pack(len(body), len(fds)) + body


def ancillary(fds: tuple[int, ...]) -> list[tuple[int, int, array[int]]]:
    """Descriptors as they go beside a message's first byte."""
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", fds))] if fds else []


def send(channel: socket.socket, message: Message, fds: tuple[int, ...] = ()) -> None:
    """Send and wait until it is sent. The zygote and the wardens do; the host never waits."""
    data = pack(message, fds)
    sent = channel.sendmsg([data], ancillary(fds))
    if sent < len(data):
        channel.sendall(memoryview(data)[sent:])


def something_in(channel: socket.socket) -> bool:
    """Whether something can be read, or the other end is gone."""
    return channel.fileno() >= 0 and bool(select.select([channel], [], [], 0)[0])


class Inbox:
    """What has come in on a channel, whole messages only."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._data = bytearray()
        self._fds: list[int] = []

    def receive(self) -> list[tuple[Message, list[int]]]:
        """Read once, without waiting. Raises EOFError when the other end is gone."""
        try:
            flags = socket.MSG_DONTWAIT | _CLOEXEC
            data, fds, _, _ = socket.recv_fds(self._channel, _CHUNK, _MOST_FDS, flags)
        except (BlockingIOError, InterruptedError):
            return []
        except ConnectionError:
            data, fds = b"", []
        if not data:
            raise EOFError
        for fd in fds:
            os.set_inheritable(fd, False)
        self._fds += fds
        self._data += data
        return self._whole()

    def _whole(self) -> list[tuple[Message, list[int]]]:
        messages: list[tuple[Message, list[int]]] = []
        while len(self._data) >= _HEAD.size:
            length, count = _HEAD.unpack_from(self._data)
            end = _HEAD.size + length
            if len(self._data) < end:
                break
            message = json.loads(self._data[_HEAD.size : end])
            messages.append((message, self._fds[:count]))
            del self._data[:end]
            del self._fds[:count]
        return messages

    def close(self) -> None:
        """Let go of descriptors that nobody took."""
        while self._fds:
            os.close(self._fds.pop())
