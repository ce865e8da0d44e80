"""All that went to a target and came from it, as far as anybody can read it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from lastword.check.times import now

_LINE, _ALL = 1 << 16, 1 << 26  # letters; of one line, and of all that is kept
_EACH = 200  # what a line costs beside its letters


class WireLog:
    """The newest lines. Who floods loses the oldest, and costs no more memory than others."""

    def __init__(self) -> None:
        self._lines: deque[tuple[float, str, str]] = deque()
        self._letters = 0

    def note(self, way: str, what: object, at: float | None = None) -> None:
        """A line, which way it went, and when."""
        line = str(what)[:_LINE]
        self._lines.append((now() if at is None else at, way, line))
        self._letters += len(line) + _EACH
        while self._letters > _ALL:
            self._letters -= len(self._lines.popleft()[2]) + _EACH

    def since(self, at: float) -> Iterator[tuple[float, str, str]]:
        """From a moment on."""
        return (line for line in self._lines if line[0] >= at)
