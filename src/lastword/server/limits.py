"""How much of everything anybody may have, and who has how much of it.

What is long leaves in pieces: the next is written when there is room for it, and in between all
others have their turn.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from starlette.types import Message, Scope

from lastword.server.problems import Trouble

_AT_ONCE = 256 << 10  # bytes that leave in one go
_SPARE = 256  # files that are open for other reasons than connections
STOP_WORDS = 1 << 10  # bytes: no message that means stop is longer
RESERVE = 256  # connections beyond the limit, for what has right of way


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Of one server. Who asks for more is refused, politely; nothing that goes on is touched."""

    body: int = 8 << 20  # bytes of a request
    header: int = 32 << 10
    connections: int = 4096  # in all
    requests: int = 256  # at the same time, of one principal; one counts when its body is here
    arriving: int = 64 << 20  # bytes of one principal's bodies that are not here whole
    stops: int = 1024  # of one principal at the same time, with what else has right of way
    waiting: int = 16 << 20  # bytes, about, of the messages that wait in one session
    watchers: int = 1024  # event streams of one principal
    all_watchers: int = 3072  # so that there are connections for who wants to stop something
    sessions: int = 10_000  # of one principal
    arrival: float = 10.0  # seconds in which a request's head has to arrive, and its body after it
    idle: float = 30.0  # seconds that a connection may wait for its next request
    stalled: float = 30.0  # seconds in which somebody has to take something of what it asked for

    def within_reach(self) -> ServerLimits:
        """The same, or less if this process may not have as many files open: who comes when there
        is none left could not even be refused."""
        wanted = self.connections + RESERVE + _SPARE
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
                soft = most
        if soft == resource.RLIM_INFINITY or soft >= wanted:
            return self
        room = max(soft - RESERVE - _SPARE, soft // 2)
        return replace(self, connections=room, all_watchers=min(self.all_watchers, room * 3 // 4))


def has_right_of_way(method: str, path: str) -> bool:
    """Whether this has a share of its own, so that it is answered whatever else is asked: what ends
    something, and whether the server is well."""
    stops = method == "POST" and path.endswith("/stop")
    return stops or method == "DELETE" or path in {"/healthz", "/readyz"}


def may_have_right_of_way(method: str, path: str, headers: Mapping[str, str]) -> bool:
    """The same, as far as its head tells: a short message may be words that mean stop, and what it
    says has to be read first."""
    if method == "POST" and path.endswith("/messages"):
        length = headers.get("content-length", "")
        return length.isdecimal() and len(length) < 10 and int(length) <= STOP_WORDS
    return has_right_of_way(method, path)


def must_have_room(scope: Scope) -> None:
    """A connection beyond the limit is for what has right of way, and this has none."""
    extensions: dict[str, object] = scope.get("extensions") or {}
    if extensions.get("lastword.crowded"):
        raise Trouble(
            "too-many",
            "too many connections are open; try again soon",
            headers={"connection": "close"},
        )


class Shares:
    """What each principal has at this moment."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._requests: Counter[str] = Counter()
        self._stops: Counter[str] = Counter()
        self._arriving: Counter[str] = Counter()
        self.watchers: Counter[str] = Counter()

    @contextmanager
    def request(self, principal: str, *, first: bool = False) -> Generator[None]:
        """One more request of a principal's that has arrived, until it is answered; `first` if it
        has right of way."""
        among = self._stops if first else self._requests
        most = self._limits.stops if first else self._limits.requests
        if among[principal] >= most:
            raise Trouble("too-many", f"{most} requests are being answered; wait for one of them")
        with _counted(among, principal):
            yield

    @contextmanager
    def arriving(self, principal: str, *, first: bool = False) -> Generator[Callable[[int], None]]:
        """A body on its way here: what is given is told of each piece. No number of slow bodies
        takes anything from requests that have arrived; only their bytes are bounded."""
        size = 0

        def more(bytes_: int) -> None:
            nonlocal size
            if not first and self._arriving[principal] + bytes_ > self._limits.arriving:
                most = self._limits.arriving
                raise Trouble("too-many", f"{most} bytes of other requests are still arriving")
            size += bytes_
            self._arriving[principal] += bytes_

        try:
            yield more
        finally:
            self._arriving[principal] -= size
            if not self._arriving[principal]:
                del self._arriving[principal]

    @contextmanager
    def watcher(self, principal: str) -> Generator[None]:
        """One more event stream, until it ends."""
        mine, limits = self.watchers[principal], self._limits
        if mine >= limits.watchers or self.watchers.total() >= limits.all_watchers:
            raise Trouble(
                "too-many",
                f"{mine} event streams are open, which is the limit; close one of them",
                headers={"retry-after": "5"},
            )
        with _counted(self.watchers, principal):
            yield


@contextmanager
def _counted(among: Counter[str], name: str) -> Generator[None]:
    among[name] += 1
    try:
        yield
    finally:
        among[name] -= 1
        if not among[name]:
            del among[name]


def in_pieces(body: bytes, *, more: bool = False) -> Iterator[Message]:
    """A body, to be sent one after another; with `more`, something else follows it."""
    for start in range(0, max(len(body), 1), _AT_ONCE):
        end = start + _AT_ONCE
        goes_on = more or end < len(body)
        yield {"type": "http.response.body", "body": body[start:end], "more_body": goes_on}
