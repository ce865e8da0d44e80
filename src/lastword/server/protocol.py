"""HTTP as it arrives: heads that are too large, too slow, or too many are turned away here, before
anything of them is believed."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lastword.server.limits import Limits
from lastword.server.problems import Trouble


def protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol of a server with these limits."""
    return type("Protocol", (_Protocol,), {"limits": limits})


class _Protocol(HttpToolsProtocol):
    limits = Limits()

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn has them
        super().__init__(*args, **kwargs)
        self._late: asyncio.TimerHandle | None = None
        self._head = 0  # bytes of a head that is not complete
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        # what is written goes to the socket or waits for it, and nothing waits in between
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > self.limits.connections:
            most = self.limits.connections
            self._turn_away(Trouble("too-many", f"{most} connections are open; try again soon"))
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > self.limits.header and not self.transport.is_closing():
            self._too_large()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        self._head_is_here()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.limits.header:
            self._too_large()
            return
        self.scope["extensions"] = {"lastword.paused": self._paused}  # pyright: ignore[reportGeneralTypeIssues] - an extension of ours
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self.cycle is not None:  # pyright: ignore[reportUnnecessaryComparison] - it was turned away
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self.cycle is not None:  # pyright: ignore[reportUnnecessaryComparison] - it was turned away
            super().on_message_complete()

    def _paused(self) -> bool:
        return self.flow.write_paused

    def _expect_head(self) -> None:
        self._head_is_here()
        self._in_head, self._head = True, 0
        self._late = self.loop.call_later(self.limits.arrival, self._too_late)

    def _head_is_here(self) -> None:
        self._in_head = False
        if self._late:
            self._late.cancel()
            self._late = None

    def _too_late(self) -> None:
        seconds = self.limits.arrival
        self._turn_away(Trouble("too-slow", f"no request arrived in {seconds:g} s"))

    def _too_large(self) -> None:
        most = self.limits.header
        self._turn_away(Trouble("head-too-large", f"the head has more than {most} bytes"))

    def _turn_away(self, trouble: Trouble) -> None:
        self._head_is_here()
        body = trouble.body
        head = (
            f"HTTP/1.1 {trouble.status} {trouble.title}\r\ncontent-type: application/problem+json"
            f"\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
