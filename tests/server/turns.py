"""How much a loop does in one turn, counted in calls and not in seconds."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from types import FrameType


async def longest_turn(work: Awaitable[object]) -> int:
    """The most calls that this thread makes between two turns of the loop, while something is
    waited for."""
    calls, most = 0, 0

    def count(_frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    async def ticks() -> None:
        nonlocal calls, most
        while True:
            await asyncio.sleep(0)
            calls, most = 0, max(most, calls)

    before = sys.getprofile()
    ticking = asyncio.create_task(ticks())
    sys.setprofile(count)
    try:
        await work
    finally:
        sys.setprofile(before)
        ticking.cancel()
    return max(most, calls)
