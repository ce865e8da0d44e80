"""The witness's tools as Python functions, for agents whose tools are such."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from lastword.check.inside.witness import note, result


def tools(journal: str) -> list[Callable[..., Any]]:
    """One that acts at once, one told by cancellation, one deaf to it, one in a thread."""

    def deed(tool: str, run: str, n: int, what: str) -> None:
        note(journal, tool=tool, run=run, n=n, what=what)

    async def lw_fast(run: str, n: int, fuse: float) -> str:
        """Part of a check: has its effect at once."""
        del fuse
        deed("lw_fast", run, n, "begun")
        deed("lw_fast", run, n, "effect")
        return result("lw_fast", run, n)

    async def lw_slow(run: str, n: int, fuse: float) -> str:
        """Part of a check: takes a while, then has its effect."""
        deed("lw_slow", run, n, "begun")
        try:
            await asyncio.sleep(fuse)
        except asyncio.CancelledError:
            deed("lw_slow", run, n, "told")
            raise
        deed("lw_slow", run, n, "effect")
        return result("lw_slow", run, n)

    async def lw_deaf(run: str, n: int, fuse: float) -> str:
        """Part of a check: swallows cancellation."""
        deed("lw_deaf", run, n, "begun")
        await _deaf_for(fuse)
        deed("lw_deaf", run, n, "effect")
        return result("lw_deaf", run, n)

    def lw_block(run: str, n: int, fuse: float) -> str:
        """Part of a check: blocks its thread."""
        deed("lw_block", run, n, "begun")
        time.sleep(fuse)
        deed("lw_block", run, n, "effect")
        return result("lw_block", run, n)

    return [lw_fast, lw_slow, lw_deaf, lw_block]


async def _deaf_for(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            continue
