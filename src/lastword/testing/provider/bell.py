"""Waiting until something is so, without asking again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Bell:
    """Rung at every change; whoever waits looks again."""

    __slots__ = ("_rung",)

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._rung.set()
        self._rung = asyncio.Event()

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until it is so; not at all if it is."""
        while not so():
            await self._rung.wait()
