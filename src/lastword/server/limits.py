"""How much of everything anybody may have, and who has how much of it."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from lastword.server.problems import Trouble

_SPARE = 256  # files that are open for other reasons than connections


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one server. Who asks for more is refused, politely; nothing that goes on is touched."""

    body: int = 8 << 20  # bytes of a request
    header: int = 32 << 10
    connections: int = 4096  # in all
    requests: int = 256  # at the same time, of one principal
    watchers: int = 1024  # event streams of one principal
    all_watchers: int = 3072  # so that there are connections for who wants to stop something
    sessions: int = 10_000  # of one principal
    arrival: float = 10.0  # seconds in which a request's head has to arrive, and its body after it
    idle: float = 30.0  # seconds that a connection may wait for its next request
    stalled: float = 30.0  # seconds in which somebody has to take something of what it asked for

    def within_reach(self) -> Limits:
        """The same, or less if this process may not have as many files open: who comes when there
        is none left could not even be refused."""
        wanted = self.connections + _SPARE
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
                soft = most
        if soft == resource.RLIM_INFINITY or soft >= wanted:
            return self
        room = max(soft - _SPARE, soft // 2)
        return replace(self, connections=room, all_watchers=min(self.all_watchers, room * 3 // 4))


class Shares:
    """What each principal has at this moment."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._requests: Counter[str] = Counter()
        self.watchers: Counter[str] = Counter()

    @contextmanager
    def request(self, principal: str) -> Generator[None]:
        """One more request of a principal's, until it is answered."""
        if self._requests[principal] >= self._limits.requests:
            most = self._limits.requests
            raise Trouble("too-many", f"{most} requests are being answered; wait for one of them")
        with _counted(self._requests, principal):
            yield

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
