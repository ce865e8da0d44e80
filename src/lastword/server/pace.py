"""How much is begun in one turn of the event loop.

A loop does all that is ready before it looks for more, so who asks for much at once would have all
others wait for it. What has right of way is begun at once; of everything else a few in each turn.
Between two turns whatever has come is seen, a stop too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Literal, TypeAlias

Line: TypeAlias = Literal["known", "health", "strangers"]
_EACH_TURN: dict[Line, int] = {"known": 8, "health": 2, "strangers": 2}


class Pace:
    """Of one server."""

    def __init__(self) -> None:
        self._lines = {line: deque[Callable[[], object]]() for line in _EACH_TURN}
        self._going = False

    def begin(self, line: Line, what: Callable[[], object]) -> None:
        """Have it begun when those before it in its line are."""
        self._lines[line].append(what)
        if not self._going:
            self._going = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        for line, most in _EACH_TURN.items():
            waiting = self._lines[line]
            for _ in range(min(most, len(waiting))):
                waiting.popleft()()
        self._going = any(self._lines.values())
        if self._going:
            asyncio.get_running_loop().call_soon(self._turn)
