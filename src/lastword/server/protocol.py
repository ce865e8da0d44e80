"""HTTP as it arrives: what is too large, too slow, or too much is turned away here, before anything
of it is believed; and whoever does not take what it asked for is let go of."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, ClassVar, NamedTuple

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lastword.server.front import LABELS
from lastword.server.limits import RESERVE, Limits
from lastword.server.lines import ID, turned_away
from lastword.server.problems import Trouble

_log = logging.getLogger("lastword.http")
_log.setLevel(logging.ERROR)  # what is wrong with a request is told in its line, and not twice
_AHEAD = 16  # requests that may wait for the one before them, on one connection


def protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol of a server with these limits."""
    return type("Protocol", (_Protocol,), {"limits": limits, "ways": _Ways({}, {}, {})})


class _TurnedAway(Exception):
    """So that nothing more of what has arrived is read."""


def _one_gives_way(way: dict[_Protocol, None]) -> bool:
    for one in way:
        one.transport.abort()
        one.be_active()
        return True
    return False


class _Ways(NamedTuple):
    """Those that nothing is done for yet. When there is no more room they give way to whoever
    comes, who has been there longest first: before all others those who rest, then those whose body
    is on its way. If there are none, who comes is one of the reserve, and has to have right of way;
    there they give way to one another, but not before all that arrived with them was read."""

    resting: dict[_Protocol, None]
    arriving: dict[_Protocol, None]
    reserve: dict[_Protocol, None]


class _Protocol(HttpToolsProtocol):
    limits = Limits()
    ways: ClassVar[_Ways] = _Ways({}, {}, {})

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn has them
        super().__init__(*args, **kwargs)
        self.logger = _log
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._unread = 0  # bytes that arrived and are neither of a head that is here nor of a body
        self._in_head = True
        self._in_body = False
        self._crowded = False  # it is one of the reserve: only what has right of way is answered
        self._unanswered: list[RequestResponseCycle] = []

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        # what is written goes to the socket or waits for it, and nothing waits in between; nor does
        # the kernel wait with it for more (asyncio says so only of sockets that it made itself)
        transport.set_write_buffer_limits(high=0)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._has_room():
            self._expect_head()
        else:
            most = self.limits.connections
            self._turn_away(Trouble("too-many", f"{most} connections are open; try again soon"))

    def _has_room(self) -> bool:
        here, most = len(self.connections), self.limits.connections
        if here <= most or _one_gives_way(self.ways.resting) or _one_gives_way(self.ways.arriving):
            return True
        self._crowded = True
        return here <= most + RESERVE or _one_gives_way(self.ways.reserve)

    def connection_lost(self, exc: Exception | None) -> None:
        self.be_active()
        self._not_stalled()
        super().connection_lost(exc)
        for cycle in self._unanswered:  # uvicorn tells only the last, and others may go on
            if not cycle.response_complete:
                cycle.disconnected = True
            cycle.message_event.set()

    # what arrives

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._unread += len(data)
        super().data_received(data)
        if self._unread > self.limits.header and (self._in_head or self._in_body):
            self._too_large()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._unread, self._in_body = 0, False
        self._expect_head()

    def on_headers_complete(self) -> None:
        self.be_active()
        self._in_head, self._in_body, self._unread = False, True, 0
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.limits.header:
            self._too_large()
            raise _TurnedAway
        if len(self.pipeline) >= _AHEAD:
            self._turn_away(Trouble("too-many", f"{_AHEAD} requests wait for the one before them"))
            raise _TurnedAway
        self._crowded = self._crowded and len(self.connections) > self.limits.connections
        self._waits_in(self.ways.arriving)
        ours = {"lastword.paused": self._paused, "lastword.crowded": self._crowded}
        self.scope["extensions"] = ours  # pyright: ignore[reportGeneralTypeIssues] - ours, too
        super().on_headers_complete()
        self.flow.resume_reading()  # what waits is bounded, and that somebody leaves has to be read
        self._unanswered = [one for one in self._unanswered if not one.response_complete]
        self._unanswered.append(self.cycle)

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        for way in (self.ways.arriving, self.ways.reserve):
            way.pop(self, None)
        super().on_message_complete()
        if self.cycle.response_complete:
            self._rest()

    def _paused(self) -> bool:
        return self.flow.write_paused

    # time

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and not self._in_head and not self.transport.is_closing():
            self._rest()

    def _expect_head(self) -> None:
        self.be_active()
        self._in_head = True
        self._waits_in(self.ways.resting)
        self._late = self.loop.call_later(self.limits.arrival, self._too_late)

    def _rest(self) -> None:
        """All was answered: another request may come, or what is left of a body that nobody reads.

        uvicorn's own clock for this is put back by every byte.
        """
        self.be_active()
        self._waits_in(self.ways.resting)
        seconds = self.limits.arrival if self._in_body else self.limits.idle
        self._late = self.loop.call_later(seconds, self.transport.abort)

    def _waits_in(self, way: dict[_Protocol, None]) -> None:
        (self.ways.reserve if self._crowded else way)[self] = None

    def be_active(self) -> None:
        """It is not waited for, and gives way to nobody."""
        for way in self.ways:
            way.pop(self, None)
        if self._late:
            self._late.cancel()
            self._late = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_it_read(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._not_stalled()

    def _watch_it_read(self, left: int) -> None:
        self._not_stalled()
        self._stalled = self.loop.call_later(self.limits.stalled, self._must_have_read, left)

    def _must_have_read(self, left: int) -> None:
        now = self.transport.get_write_buffer_size()
        if now >= left:
            self.transport.abort()  # to close it would be to wait until all was taken
        else:
            self._watch_it_read(now)

    def _not_stalled(self) -> None:
        if self._stalled:
            self._stalled.cancel()
            self._stalled = None

    # refusals

    def _too_late(self) -> None:
        seconds = self.limits.arrival
        self._turn_away(Trouble("too-slow", f"no request arrived in {seconds:g} s"))

    def _too_large(self) -> None:
        most = self.limits.header
        self._turn_away(Trouble("head-too-large", f"the head has more than {most} bytes"))

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            self._turn_away(Trouble("bad-request", msg))

    def _is_answering(self) -> bool:
        """Whether something else is being answered, or will be before what is arriving."""
        open_ = [one for one in self._unanswered if not one.response_complete]
        return bool(open_) and (open_ != [self.cycle] or self.cycle.response_started)

    def _turn_away(self, trouble: Trouble) -> None:
        self.be_active()
        if not self._is_answering():  # else it would be part of that
            body = trouble.body
            told = [
                (b"content-type", b"application/problem+json"),
                (b"content-length", b"%d" % len(body)),
                *((name.encode(), value.encode()) for name, value in trouble.headers.items()),
                (b"cache-control", b"no-store"),
                (b"connection", b"close"),
                (ID, trouble.id.encode()),
                *LABELS,
            ]
            head = b"".join(b"%b: %b\r\n" % pair for pair in told)
            first = f"HTTP/1.1 {trouble.status} {trouble.title}\r\n".encode()
            self.transport.write(first + head + b"\r\n" + body)
            turned_away(trouble)
        self.transport.close()
