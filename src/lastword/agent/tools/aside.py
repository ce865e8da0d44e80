"""Files are looked at in a thread: it may take a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from lastword.runtime.threads import DaemonThreads

T = TypeVar("T")
_threads = DaemonThreads()


async def aside(work: Callable[[], T]) -> T:
    """Do it beside the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_threads, work)
