"""MCP servers that are reached over HTTP, by the SDK's transport, and what it leaves undone.

It posts one notification after another, so that whoever is slow to answer the first keeps the rest
from leaving; calls are therefore called off beside it. And it reads an answer to its end, which
need not have one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from lastword.agent.tools.mcp_wire import GOODBYE, LONGEST, Connect, written
from lastword.runtime.run import Run

_CONNECT = 30.0  # seconds
_OURS = ("accept", "content-type", "mcp-session-id", "mcp-protocol-version")


class Receiving(Protocol):
    """What the transport gives to read."""

    async def receive(self) -> SessionMessage | Exception: ...


class McpSending(Protocol):
    """What the transport gives to write."""

    async def send(self, item: SessionMessage, /) -> None: ...


class Posts:
    """A server somewhere, reached by the SDK's streamable HTTP."""

    def __init__(self, url: str, headers: Mapping[str, str] | None) -> None:
        self.streams: tuple[Receiving, McpSending] | None = None
        self.client = httpx2.AsyncClient(
            headers={**(headers or {}), "accept-encoding": "identity"},
            timeout=httpx2.Timeout(_CONNECT, read=None),
            event_hooks={"request": [self._asking], "response": [self._answered]},
        )
        self._url = httpx2.URL(url)
        self._headers: dict[str, str] = {}
        self._untold = 0
        self._all_told = asyncio.Event()
        self._all_told.set()

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        if self.streams is None:
            raise anyio.ClosedResourceError
        return await self.streams[0].receive()

    async def send(self, item: SessionMessage) -> None:
        """Post a message."""
        if self.streams is None:
            raise anyio.ClosedResourceError
        await self.streams[1].send(item)

    async def call_off(self, item: SessionMessage) -> None:
        """Post it by itself, and wait until the server has taken note."""
        self._untold += 1
        self._all_told.clear()
        try:
            with suppress(httpx2.HTTPError):
                async with self.client.stream(
                    "POST", self._url, content=written(item), headers=self._headers
                ):
                    pass
        finally:
            self._untold -= 1
            if not self._untold:
                self._all_told.set()

    async def told(self) -> None:
        """The server has taken note of every last word."""
        await self._all_told.wait()

    def epitaph(self) -> str:
        """Nothing is known of it."""
        return ""

    async def _asking(self, request: httpx2.Request) -> None:
        if request.method == "POST":  # where, and how, the transport has found to speak to it
            self._url = request.url
            self._headers = {n: request.headers[n] for n in _OURS if n in request.headers}

    async def _answered(self, response: httpx2.Response) -> None:
        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):  # whose events the transport bounds
            response.stream = _Bounded(response)


class _Bounded(httpx2.AsyncByteStream):
    """What a server answers, up to where a message is too long."""

    def __init__(self, response: httpx2.Response) -> None:
        self._stream = response.stream
        self._encoding = response.headers.get("content-encoding", "identity")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._encoding != "identity":  # a few bytes could become any number
            raise httpx2.StreamError(f"it is {self._encoding} although that was not asked for")
        if not isinstance(self._stream, httpx2.AsyncByteStream):
            raise httpx2.StreamError("it cannot be read bit by bit")
        size = 0
        async for data in self._stream:
            size += len(data)
            if size > LONGEST:
                raise httpx2.StreamError(f"it has more than {LONGEST:,} bytes")
            yield data

    async def aclose(self) -> None:
        if isinstance(self._stream, httpx2.AsyncByteStream):
            await self._stream.aclose()


def by_posts(url: str, headers: Mapping[str, str] | None) -> Connect:
    """Reach the server over HTTP. To say goodbye to it takes no longer than is good."""

    @asynccontextmanager
    async def connect(_: Run) -> AsyncGenerator[Posts]:
        posts = Posts(url, headers)
        async with (
            asyncio.timeout(None) as closing,
            posts.client as client,
            streamable_http_client(
                url, http_client=client, max_sse_event_size=LONGEST
            ) as posts.streams,
        ):
            try:
                yield posts
            finally:
                if not closing.expired():
                    closing.reschedule(asyncio.get_running_loop().time() + GOODBYE)

    return connect
