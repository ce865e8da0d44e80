"""A stretch of a stream, kept in the pieces in which it came: nothing is copied before it is asked
for, and what is forgotten costs nothing to forget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

_SMALL = 1 << 14  # bytes: whoever writes a word at a time must not cost an object a word


class Stretch:
    """From `start` to `end`, counted in bytes of the stream."""

    def __init__(self, start: int = 0) -> None:
        self.start = self.end = start
        self._pieces: list[bytes | bytearray] = []
        self._starts: list[int] = []

    def __len__(self) -> int:
        return self.end - self.start

    def __iter__(self) -> Iterator[bytes | bytearray]:
        return iter(self._pieces)

    def add(self, data: bytes) -> None:
        last = self._pieces[-1] if self._pieces else b""
        if isinstance(last, bytearray) and len(last) + len(data) <= _SMALL:
            last += data
        else:
            self._pieces.append(data if len(data) > _SMALL else bytearray(data))
            self._starts.append(self.end)
        self.end += len(data)

    def forget(self, before: int) -> None:
        """Let go of pieces that lie wholly before this place."""
        gone = bisect_right(self._starts, before) - 1
        if gone > 0:
            del self._pieces[:gone], self._starts[:gone]
            self.start = self._starts[0]

    def some(self, since: int, until: int) -> bytes:
        """What is there from a place on: one piece of it, or less."""
        number = bisect_right(self._starts, since) - 1
        if number < 0 or since >= self.end:
            return b""
        piece, begins = self._pieces[number], self._starts[number]
        if begins == since and begins + len(piece) <= until:
            return bytes(piece)  # which copies nothing of what is bytes already
        return bytes(memoryview(piece)[since - begins : max(until - begins, 0)])

    def last(self, count: int) -> bytes:
        """The last of it."""
        whole = b"".join(self._pieces)
        return whole[-count:] if count < len(whole) else whole
