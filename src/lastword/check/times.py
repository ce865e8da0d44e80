"""How long is waited. None of it makes a verdict, but the one limit: a stop not answered by then is
not answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

now = time.monotonic  # one clock for all processes of a machine


@dataclass(frozen=True, slots=True)
class Times:
    """In seconds. The watch is longer than the fuse: a deed that was under way is seen."""

    limit: float = 10.0  # for the answer to a stop
    fuse: float = 2.0  # until a tool that was begun has its effect
    deaf: float = 6.0  # the same, of a tool that does not listen; below the limit
    watch: float = 2.5  # how long is listened after the answer
    patience: float = 60.0  # for what has to be under way before a stop means anything

    def lenient(self) -> Times:
        """For a target that answers no stop: its stop counts as answered after the limit."""
        return Times(self.limit + 5, self.limit + 3, self.limit + 6, 4.0, self.patience)


async def until(so: Callable[[], object], limit: float, every: float = 0.01) -> bool:
    """Whether it came to be so, within the limit."""
    end = now() + limit
    while not so():
        if now() > end:
            return False
        await asyncio.sleep(every)
    return True
