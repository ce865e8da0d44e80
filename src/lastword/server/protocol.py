"""HTTP as it arrives: what is too large, too slow, or too much is turned away here, before anything
of it is believed; and whoever does not take what it asked for is let go of."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, cast

from starlette.datastructures import Headers
from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lastword.server.asgi import LABELS
from lastword.server.limits import RESERVE, ServerLimits, has_right_of_way, may_have_right_of_way
from lastword.server.lines import turned_away
from lastword.server.pace import Pace
from lastword.server.problems import ID, Trouble
from lastword.server.ways import ClientConnection, Way, Ways
from lastword.server.who import Who

_log = logging.getLogger("lastword.http")
_log.setLevel(logging.ERROR)  # what is wrong with a request is told in its line, and not twice
_AHEAD = 16  # requests of one connection that may wait, of who is known


def protocol(limits: ServerLimits, whose: Callable[[Scope], Who | None]) -> type[asyncio.Protocol]:
    """The protocol of a server with these limits, that knows who asks by a request's head."""
    house = _House(limits, whose, Ways(), Ways(), Pace(), set(), set())
    return type("Protocol", (_Protocol,), {"house": house})


class _House(NamedTuple):
    """What all connections of a server have in common.

    Who comes when there is no more room is one of the reserve, until it asks for something: then
    somebody gives way to it, or it has to have right of way. When the reserve is full, somebody
    gives way to whoever comes.
    """

    limits: ServerLimits
    whose: Callable[[Scope], Who | None]
    ways: Ways
    reserve: Ways
    pace: Pace
    inside: set[object]
    crowded: set[object]  # who are of the reserve


class _TurnedAway(Exception):
    """So that nothing more of what has arrived is read."""


class _Protocol(HttpToolsProtocol):
    house: ClassVar[_House]

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn has them
        super().__init__(*args, **kwargs)
        self.logger = _log
        self.limits = self.house.limits
        self._way: Way | None = None  # in which it gives way to others
        self._waits: Literal["", "resting", "arriving"] = ""
        self._asked = False
        self._gone = False
        self._who: Who | None = None
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
        house = self.house
        if len(house.inside) < self.limits.connections:
            house.inside.add(self)
            return True
        self._crowded = True
        house.crowded.add(self)
        if len(house.crowded) <= RESERVE:
            return True
        silent = next(iter(house.reserve.silent), None)
        found = house.reserve.for_who_comes() or house.ways.for_who_comes() or silent
        return self._makes_way(found)

    def _come_in(self) -> None:
        """It is not one of the reserve any more, if there is room now that its request is here."""
        house, known = self.house, self._who is not None
        full = len(house.inside) >= self.limits.connections
        if self._crowded and full and not self._makes_way(house.ways.for_who_asks(known=known)):
            return
        self._crowded = False
        house.crowded.discard(self)
        house.inside.add(self)

    def _makes_way(self, one: ClientConnection | None) -> bool:
        if not isinstance(one, _Protocol):
            return False
        one.send_away()
        return True

    def send_away(self) -> None:
        """It gives way to another."""
        self._leave()
        self.transport.abort()

    def _leave(self) -> None:
        self._gone = True
        self._be_in(None)
        self.house.inside.discard(self)
        self.house.crowded.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._be_active()
        self._leave()
        self._not_stalled()
        super().connection_lost(exc)
        for cycle in self._unanswered:  # uvicorn tells only the last, and others may go on
            if not cycle.response_complete:
                cycle.disconnected = True
            cycle.message_event.set()

    # who it is, and to whom it gives way

    def _settle(self) -> None:
        if not self._gone:
            self._be_in(self._fitting())

    def _fitting(self) -> Way | None:
        ways, who = self.house.reserve if self._crowded else self.house.ways, self._who
        if not self._asked:
            return ways.silent
        if who is None:
            return ways.strangers
        if self._waits:
            return ways.resting if self._waits == "resting" else ways.arriving
        if self.flow.write_paused and not self._watches():
            return ways.slow.setdefault(who.principal, {})
        return None

    def _watches(self) -> bool:
        return str(self.scope.get("path", "")).endswith("/events")

    def _be_in(self, way: Way | None) -> None:
        if way is self._way:
            return  # and stays where it is in it
        if self._way is not None:
            self._way.pop(self, None)
        self._way = way
        if way is not None:
            way[self] = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """What has right of way is begun at once, and everything else in its turn."""
        scope = cast("Scope", cycle.scope)
        first = may_have_right_of_way(scope["method"], scope["path"], Headers(scope=scope))
        begin = partial(self._begin, cycle, app)
        if not first:
            self.house.pace.begin("known" if scope["lastword.who"] else "strangers", begin)
        elif scope["lastword.who"]:
            begin()
        else:
            health = has_right_of_way(scope["method"], scope["path"]) and scope["method"] == "GET"
            self.house.pace.begin("health" if health else "strangers", begin)

    def _begin(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if not self.transport.is_closing():
            super()._start_asgi_task(cycle, app)

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
        self._be_active()
        self._in_head, self._in_body, self._unread = False, True, 0
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.limits.header:
            self._too_large()
            raise _TurnedAway
        scope = cast("Scope", self.scope)
        self._asked, self._who = True, self.house.whose(scope)
        ahead = _AHEAD if self._who else 0
        if sum(not one.response_complete for one in self._unanswered) > ahead:
            told = f"{ahead} requests may wait for the one before them"
            self._turn_away(Trouble("too-many", told))
            raise _TurnedAway
        self._come_in()
        self._waits = "arriving"
        scope["lastword.who"] = self._who
        ours = {"lastword.paused": self._paused, "lastword.crowded": self._crowded}
        self.scope["extensions"] = ours  # pyright: ignore[reportGeneralTypeIssues] - ours, too
        super().on_headers_complete()
        self._settle()
        self.flow.resume_reading()  # what waits is bounded, and that somebody leaves has to be read
        self._unanswered = [one for one in self._unanswered if not one.response_complete]
        self._unanswered.append(self.cycle)

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        self._waits = ""
        self._settle()
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
        self._in_head = True
        self._wait(self.limits.arrival, self._too_late)

    def _rest(self) -> None:
        """All was answered: another request may come, or what is left of a body that nobody reads.

        uvicorn's own clock for this is put back by every byte. Of who is not known the next request
        is read in its turn.
        """
        seconds = self.limits.arrival if self._in_body else self.limits.idle
        self._wait(seconds, self.transport.abort)
        if self._who is None:
            self.flow.pause_reading()
            self.house.pace.begin("strangers", self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _wait(self, seconds: float, late: Callable[[], object]) -> None:
        self._be_active()
        self._waits = "resting"
        self._settle()
        self._late = self.loop.call_later(seconds, late)

    def _be_active(self) -> None:
        """It is not waited for."""
        self._waits = ""
        if self._late:
            self._late.cancel()
            self._late = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._settle()
        self._watch_it_read(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._settle()
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
        self._be_active()
        self._waits = "resting"  # it is, until all was taken
        self._settle()
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
