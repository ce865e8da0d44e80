"""A request to another server, as bytes: a connection for each, and nothing is believed of it but
what it answers."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, cast
from urllib.parse import urlsplit

import httptools

CONNECTING = 0.5  # seconds
_READ = 64 << 10
_HEAD = 64 << 10  # bytes
_SECURE: list[ssl.SSLContext] = []


class Unreachable(Exception):
    """Nothing was asked: it cannot be connected to."""


class Unanswered(Exception):
    """It was asked, and no answer came, or not all of one: whether it was done is not known."""


class _Parser(Protocol):
    def feed_data(self, data: bytes) -> None: ...
    def get_status_code(self) -> int: ...


class Response:
    """What it answers: first the head, and then the body as it comes."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self._reader = reader
        self._parser = cast("_Parser", httptools.HttpResponseParser(self))
        self._parts: deque[bytes] = deque()
        self._begun = self._over = False
        self._size = 0

    # what the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        self._size += len(name) + len(value)
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._begun = True

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        self._over = True

    # what is read

    async def head(self) -> None:
        """Return when it is known how it begins."""
        while not self._begun:
            if not await self._more() or self._size > _HEAD:
                raise Unanswered("no answer came")
        self.status = self._parser.get_status_code()

    async def part(self) -> bytes:
        """Some more of the body; empty if that was all of it."""
        while not self._parts:
            if self._over:
                return b""
            if not await self._more():
                raise Unanswered("the answer ended in the middle")
        return self._parts.popleft()

    async def body(self) -> bytes:
        """All that is left of it."""
        parts = list[bytes]()
        while part := await self.part():
            parts.append(part)
        return b"".join(parts)

    async def _more(self) -> bool:
        data = await self._reader.read(_READ)
        if data:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserError as error:
                raise Unanswered("what it answers is not HTTP") from error
        return bool(data)

    def header(self, name: bytes) -> str:
        """One of its headers; empty if it is not there."""
        return next((value.decode("latin-1") for one, value in self.headers if one == name), "")


@asynccontextmanager
async def called(
    url: str, method: str, target: str, headers: Mapping[str, str], body: bytes
) -> AsyncGenerator[Response]:
    """Ask a server; its connection ends with this."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    try:
        async with asyncio.timeout(CONNECTING):
            reader, writer = await asyncio.open_connection(
                parts.hostname, parts.port or (443 if secure else 80), ssl=_trust(secure=secure)
            )
    except (OSError, TimeoutError) as error:
        raise Unreachable(f"{url} cannot be reached") from error
    try:
        lines = {"host": parts.netloc.rpartition("@")[2], "connection": "close", **headers}
        if body or method == "POST":
            lines["content-length"] = str(len(body))
        told = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"{method} {target} HTTP/1.1\r\n{told}\r\n".encode("latin-1") + body)
        yield Response(reader)
    except OSError as error:
        raise Unanswered(f"{url} went away") from error
    finally:
        writer.transport.abort()


def _trust(*, secure: bool) -> ssl.SSLContext | None:
    if secure and not _SECURE:
        _SECURE.append(ssl.create_default_context())
    return _SECURE[0] if secure else None
