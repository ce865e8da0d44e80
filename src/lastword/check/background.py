"""Tasks of the kit: each is known until it ends, so that none is lost half way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

_going: set[asyncio.Task[Any]] = set()


def begin(what: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Go on with it beside everything else."""
    task = asyncio.Task(what, loop=asyncio.get_running_loop(), name=name)
    _going.add(task)
    task.add_done_callback(_going.discard)
    return task


async def end(*tasks: asyncio.Task[None] | None) -> None:
    """Cancel them, and wait until they are gone."""
    there = [task for task in tasks if task]
    for task in there:
        task.cancel()
    await asyncio.gather(*there, return_exceptions=True)
