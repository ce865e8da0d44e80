"""How long something took: as it mostly does, and as it does where nobody stands in line for a
processor, which on a busy machine the quickest tenth of the tries come near to."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple


class Took(NamedTuple):
    """One thing that was done."""

    passed: float  # seconds
    ran: float  # of this program's processor


async def timed(work: Callable[[], Awaitable[object]]) -> Took:
    """Do it, and tell how long that took."""
    ran, began = time.process_time(), time.perf_counter()
    await work()
    return Took(time.perf_counter() - began, time.process_time() - ran)


def quick(took: Sequence[Took]) -> float:
    """Seconds that a tenth of them took at most."""
    return sorted(one.passed for one in took)[len(took) // 10]


def mostly(took: Sequence[Took]) -> float:
    """Seconds that half of them took at most."""
    return statistics.median(one.passed for one in took)
