"""The times at which a session's machine wants to be told that they have come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Alarms:
    """One session's. For the event loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[float], object]) -> None:
        self._loop = loop
        self._ring = ring
        self._set: dict[asyncio.TimerHandle, None] = {}

    def set(self, at: float) -> None:
        """Ring when it is that late."""

        def wake() -> None:
            del self._set[timer]
            self._ring(max(at, self._loop.time()))  # a coarse clock wakes early

        timer = self._loop.call_at(at, wake)
        self._set[timer] = None

    def cancel(self) -> None:
        """None of them rings."""
        for timer in self._set:
            timer.cancel()
        self._set.clear()
