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
from collections import deque
from typing import Any, TypeAlias, cast

Message: TypeAlias = dict[str, Any]
_HEAD = struct.Struct("!IB")  # how long the body is; how many descriptors belong to it
LOST = "descriptors lost"
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
    look = select.poll()
    if channel.fileno() < 0:
        return False
    look.register(channel, select.POLLIN)
    return bool(look.poll(0))


class WireInbox:
    """What has come in on a channel, whole messages only.

    Descriptors come with the first byte of their message, and with no other's, so what was read
    with some of them is one message's. If there was no room for all, it gets none: a process must
    not be started with a descriptor that is somebody else's, or none.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._data = bytearray()
        self._sets: deque[list[int]] = deque()

    def receive(self) -> list[tuple[Message, list[int]]]:
        """Read once, without waiting. Raises EOFError when the other end is gone, or has said what
        is no message: somebody else has its place then.

        A message whose descriptors were lost says so, by `LOST`, and has none.
        """
        try:
            options = socket.MSG_DONTWAIT | _CLOEXEC
            data, fds, flags, _ = socket.recv_fds(self._channel, _CHUNK, _MOST_FDS, options)
        except (BlockingIOError, InterruptedError):
            return []
        except ConnectionError:
            data, fds, flags = b"", [], 0
        if not data:
            raise EOFError
        for fd in fds:
            os.set_inheritable(fd, False)
        if fds or flags & socket.MSG_CTRUNC:
            self._sets.append(fds)
        self._data += data
        return self._whole()

    def _whole(self) -> list[tuple[Message, list[int]]]:
        messages: list[tuple[Message, list[int]]] = []
        while len(self._data) >= _HEAD.size:
            length, count = _HEAD.unpack_from(self._data)
            end = _HEAD.size + length
            if len(self._data) < end:
                break
            message = _parsed(self._data[_HEAD.size : end])
            del self._data[:end]
            fds = self._sets.popleft() if count and self._sets else []
            if len(fds) < count:
                _close(fds)
                messages.append(({**message, LOST: count}, []))
            else:
                messages.append((message, fds))
        return messages

    def close(self) -> None:
        """Let go of descriptors that nobody took."""
        while self._sets:
            _close(self._sets.popleft())


def _parsed(body: bytearray) -> Message:
    try:
        message: object = json.loads(body)
    except (ValueError, RecursionError):
        raise EOFError from None
    if isinstance(message, dict):
        return cast("Message", message)
    raise EOFError


def _close(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())
