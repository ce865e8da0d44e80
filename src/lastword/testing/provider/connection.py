"""One connection of HTTP/1.1: requests come in one after another, bytes go out as they are given.

It reads on while it answers, because that is how a server hears that the client has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import cast

_HEAD_ENDS = b"\r\n\r\n"
_STREAMED = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"}


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Connection(asyncio.Protocol):
    """One connection, from the server's side."""

    def __init__(
        self,
        received: Callable[[Connection, Received], None],
        lost: Callable[[Connection], None],
    ) -> None:
        self.lost = asyncio.Event()
        self.open = True
        self.left: Callable[[], None] | None = None  # called when the client leaves a request
        self._received = received
        self._lost = lost
        self._buffer = bytearray()
        self._next: Received | None = None  # its body is on the way
        self._busy = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._read()

    def eof_received(self) -> None:
        self._gone()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - gone is gone
        self._gone()
        self.lost.set()
        self._lost(self)

    def write(self, data: bytes) -> None:
        if self._transport and self.open:
            self._transport.write(data)

    def done(self) -> None:
        """The request is answered; the next may come."""
        self._busy, self.left = False, None
        self._read()

    def close(self) -> None:
        """Hang up, behind what was written."""
        self.open = False
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        """Hang up now."""
        self.open = False
        if self._transport:
            self._transport.abort()

    def _gone(self) -> None:
        if self.open:
            self.open = False
            if self.left:
                self.left()

    def _read(self) -> None:
        if self._busy or not self.open:
            return
        if self._next is None:
            self._next = self._head()
        if self._next is None:
            return
        length = int(self._next.headers.get("content-length", "0"))
        if len(self._buffer) < length:
            return
        received = replace(self._next, body=bytes(self._buffer[:length]))
        del self._buffer[:length]
        self._busy, self._next = True, None
        self._received(self, received)

    def _head(self) -> Received | None:
        """The next request without its body, once its first lines are there: read only once."""
        end = self._buffer.find(_HEAD_ENDS)
        if end < 0:
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + len(_HEAD_ENDS)]
        named = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in named}
        method, target, _ = first.split(" ", 2)
        return Received(method, target, headers, b"")


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """A response's first lines."""
    known = status in {one.value for one in HTTPStatus}
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase if known else 'Error'}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def streamed_head(headers: Mapping[str, str]) -> bytes:
    """The first lines of a response that comes in pieces."""
    return head(200, {**_STREAMED, "cache-control": "no-cache", **headers})


def in_one_piece(status: int, body: bytes, headers: Mapping[str, str]) -> bytes:
    """A response of JSON, whole."""
    known = {"content-type": "application/json", "content-length": str(len(body))}
    return head(status, {**known, **headers}) + body


def chunk(data: bytes) -> bytes:
    """One piece of a streamed response; an empty one would end it."""
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


LAST_CHUNK = b"0\r\n\r\n"
