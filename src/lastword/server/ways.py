"""Who gives way when there is no more room: whoever it costs least to send away."""

from __future__ import annotations

import asyncio
from typing import Protocol

_JUST_HERE = 192  # of those who said nothing yet, the newest: what they say may not be read yet


class ClientConnection(Protocol):
    """One of those who may have to give way."""

    transport: asyncio.Transport


Way = dict[ClientConnection, None]


class Ways:
    """Those who can be sent away, in the order in which they are, and in each who has been there
    longest. Who watches, or is being stopped for, is in none of them."""

    def __init__(self) -> None:
        self.strangers: Way = {}  # who asked for something, and are not known; whatever they do
        self.silent: Way = {}  # who said nothing yet
        self.resting: Way = {}  # who are known, and ask for nothing now
        self.arriving: Way = {}  # whose body is on its way
        self.slow: dict[str, Way] = {}  # who do not take their answer, by principal

    def for_who_asks(self, *, known: bool) -> ClientConnection | None:
        """Who gives way to somebody whose request is here."""
        ours = (self.resting, self.arriving) if known else ()
        return _first(self.strangers, self.silent, *ours)

    def for_who_comes(self) -> ClientConnection | None:
        """Who gives way to somebody who may want to stop something, and has not said it yet."""
        silent = self.silent if len(self.silent) > _JUST_HERE else Way()
        most = max(self.slow.values(), key=len) if self.slow else Way()
        return _first(self.strangers, silent, self.resting, self.arriving, most)


def _first(*ways: Way) -> ClientConnection | None:
    every = (one for way in ways for one in way)
    return next(every, None)
