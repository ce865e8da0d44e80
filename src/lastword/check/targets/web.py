"""Requests over HTTP/1.1, and events as they come: as much of it as a check needs."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_LARGEST = 1 << 24  # bytes of one piece, one event or one head
NO_SENSE = (  # how it is told that a server has gone, or says what nobody can read
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    asyncio.LimitOverrunError,
)


@dataclass(frozen=True, slots=True)
class Coming:
    """An answer whose body is still on the way."""

    status: int
    headers: Mapping[str, str]
    reader: asyncio.StreamReader

    async def pieces(self) -> AsyncIterator[bytes]:
        """Its body, as it comes."""
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int((await self.reader.readline()).strip() or b"0", 16):
                yield await self._exactly(size)
                await self.reader.readline()
        elif "content-length" in self.headers:
            yield await self._exactly(int(self.headers["content-length"]))
        else:
            while data := await self.reader.read(1 << 16):
                yield data

    async def _exactly(self, size: int) -> bytes:
        if size > _LARGEST:
            raise ValueError(f"{size} bytes in one piece")
        return await self.reader.readexactly(size)

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """The data of server-sent events, as JSON; what is none is left out."""
        rest = b""
        async for piece in self.pieces():
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > _LARGEST:
                raise ValueError("an event without an end")
            for line in lines:
                if line.startswith(b"data:") and (told := _as_json(line[5:])) is not None:
                    yield told

    async def whole(self) -> dict[str, Any]:
        """The body as a JSON object; nothing if it is none."""
        found = bytearray()
        async for piece in self.pieces():
            found += piece
            if len(found) > _LARGEST:
                raise ValueError("an answer without an end")
        return _as_json(bytes(found)) or {}


@asynccontextmanager
async def request(
    method: str, url: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
) -> AsyncGenerator[Coming]:
    """Ask; leaving hangs up."""
    where = urlsplit(url)
    secure = ssl.create_default_context() if where.scheme == "https" else None
    port = where.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(where.hostname, port, ssl=secure, limit=_LARGEST)
    try:
        data = json.dumps(body).encode() if body is not None else b""
        path = (where.path or "/") + (f"?{where.query}" if where.query else "")
        own = {"host": where.netloc, "content-length": str(len(data)), "connection": "close"}
        own |= {"content-type": "application/json"} if data else {}
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in {**own, **headers}.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        yield await _head(reader)
    finally:
        writer.close()


async def told(
    method: str, url: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    """Ask, and wait for all of the answer."""
    async with request(method, url, headers, body) as coming:
        return coming.status, await coming.whole()


async def _head(reader: asyncio.StreamReader) -> Coming:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    named = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in named}
    return Coming(int(first.split()[1]), headers, reader)


def _as_json(data: bytes) -> dict[str, Any] | None:
    try:
        found: Any = json.loads(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType] - JSON
