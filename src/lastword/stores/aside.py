"""What takes a while, beside the event loop and not at its cost.

Threads of Python share one interpreter. The loop gives it up with every read and write of a socket,
and a thread that computes without a pause then has it for milliseconds, each time; of several, all
have it before the loop has it again. So all of them together have one turn. It is short, and the
pause after it is longer: in that the loop has the interpreter to itself.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import TypeAlias, TypeVar

R = TypeVar("R")
Breathe: TypeAlias = Callable[[], None]
"""To be called after each small step."""
TURN, PAUSE = 0.001, 0.002  # seconds

_turn: queue.SimpleQueue[float] = queue.SimpleQueue()  # it is there while nobody has it
_turn.put(0.0)  # when the next may begin


def aside(work: Callable[[Breathe], R]) -> R:
    """Do it, in whatever thread this is, a turn at a time."""
    until = _begin()

    def breathe() -> None:
        nonlocal until
        if time.monotonic() >= until:
            _end()
            time.sleep(PAUSE)  # so that others who wait come first
            until = _begin()

    try:
        return work(breathe)
    finally:
        _end()


def _begin() -> float:
    time.sleep(max(0.0, _turn.get() - time.monotonic()))
    return time.monotonic() + TURN


def _end() -> None:
    _turn.put(time.monotonic() + PAUSE)


def at_once() -> None:
    """Instead of a breath, for what is done in no time."""
