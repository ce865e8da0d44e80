"""How much a run's process may have its host do: much at once, and then no more in a second than a
program can keep.

Whoever says more waits, in its socket, and nothing is refused for that; nobody else waits, because
what is done for it is done in pieces.
"""

from __future__ import annotations

import asyncio

_AT_ONCE = 16 << 20  # bytes, or what costs as much
_A_SECOND = 4 << 20
_PIECE = 1 << 15  # after so much the event loop has a turn


class Measure:
    """One run's."""

    def __init__(self) -> None:
        self._now = asyncio.get_running_loop().time
        self._left = float(_AT_ONCE)
        self._filled = self._now()
        self._done = 0

    async def take(self, cost: int) -> None:
        """Return when so much more can be done."""
        self._left -= cost
        self._done += cost
        if self._left < 0:
            self._fill()
        if self._left < 0:
            await asyncio.sleep(-self._left / _A_SECOND)
        elif self._done > _PIECE:
            self._done = 0
            await asyncio.sleep(0)

    def _fill(self) -> None:
        now = self._now()
        self._left = min(_AT_ONCE, self._left + (now - self._filled) * _A_SECOND)
        self._filled = now
