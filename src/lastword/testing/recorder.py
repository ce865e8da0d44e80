"""Sinks and clocks for tests."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from lastword.core.receipt import Receipt
from lastword.core.story import FeedEvent


class Recorder(list[FeedEvent]):
    """A sink that remembers what it was sent."""

    async def __call__(self, event: FeedEvent) -> None:
        self.append(event)

    @property
    def texts(self) -> list[str]:
        """What was said, piece by piece."""
        return [event.text for event in self if event.kind == "text"]

    @contextmanager
    def silence_after(self, receipt: Receipt) -> Generator[None]:
        """Assert that what the receipt stopped is not heard of in this block."""
        before = len(self)
        yield
        late = [event for event in self[before:] if event.generation < receipt.generation]
        assert not late, f"heard after the stop of {receipt.session}: {late}"  # noqa: S101 - for tests


class FakeClock:
    """A time of day that a test sets."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
