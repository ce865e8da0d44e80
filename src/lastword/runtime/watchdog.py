"""A thread that notices when the event loop is stalled, and says by whom.

While the loop does not turn, no stop asked for on it can be heard. A stop from another thread
still moves the generation, and this thread answers for it when the loop cannot.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress

log = logging.getLogger("lastword")


class Watchdog:
    """Watches one loop, for as long as something runs on it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, stall_after: float) -> None:
        self._loop = loop
        self._stall_after = stall_after
        self._runs: set[str] = set()
        self._wake = threading.Condition()
        self._overdue: dict[Callable[[], None], float] = {}
        self._closed = False
        self._thread: threading.Thread | None = None

    def run_started(self, run: str) -> None:
        """Something runs that could stall the loop."""
        with self._wake:
            self._runs.add(run)
            if len(self._runs) == 1:
                self._be_awake()

    def run_ended(self, run: str) -> None:
        """It runs no more."""
        with self._wake:
            self._runs.discard(run)

    def answer_by(self, when: float, answer: Callable[[], None]) -> None:
        """Call `answer` in this thread at that time of the monotonic clock, unless taken back."""
        with self._wake:
            self._overdue[answer] = when
            self._be_awake()

    def take_back(self, answer: Callable[[], None]) -> None:
        """The loop has answered by itself."""
        with self._wake:
            self._overdue.pop(answer, None)

    def close(self) -> None:
        """Leave."""
        with self._wake:
            self._closed = True
            self._wake.notify()

    def _be_awake(self) -> None:
        if self._thread is None:
            name = "lastword watchdog"
            self._thread = threading.Thread(target=self._watch, name=name, daemon=True)
            self._thread.start()
        self._wake.notify()

    def _watch(self) -> None:
        beat, asked, named = threading.Event(), 0.0, False
        beat.set()
        while not self._closed:
            now = time.monotonic()
            if beat.is_set():
                asked, named = now, False
                beat.clear()
                with suppress(RuntimeError):  # the loop has closed
                    self._loop.call_soon_threadsafe(beat.set)
            elif now - asked > self._stall_after and not named:
                named = True
                log.warning("event loop stalled %s seconds=%.1f", self._who(), now - asked)
            self._answer_overdue(now)
            with self._wake:
                if not self._closed:
                    self._wake.wait(self._pause())

    def _pause(self) -> float | None:
        if not self._runs and not self._overdue:
            return None
        soonest = min(self._overdue.values(), default=float("inf")) - time.monotonic()
        return max(0.001, min(self._stall_after / 4, soonest))

    def _answer_overdue(self, now: float) -> None:
        with self._wake:
            due = [answer for answer, when in self._overdue.items() if when <= now]
            for answer in due:
                del self._overdue[answer]
        for answer in due:
            answer()

    def _who(self) -> str:
        """The task that does not give way, and, if it is nobody's, the runs it may belong to."""
        task = asyncio.current_task(self._loop)
        name = task.get_name() if task else "unknown"
        if name.startswith("run "):
            return f"task={name!r}"
        with self._wake:
            runs = sorted(self._runs)
        return f"task={name!r} runs={','.join(runs[:5])}{',…' if len(runs) > 5 else ''}"
