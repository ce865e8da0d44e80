"""A checkpointer of LangGraph's that is watched; it loads no engine, and so holds nothing."""

# the framework's own types are known in part
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver

from lastword import Run
from lastword.runtime.framework import run_inside
from tests.engines.told import Written


class WatchedSaver(InMemorySaver):
    """A checkpointer that notes when it was written to, and in whose name."""

    def __init__(self, writes: list[Written]) -> None:
        super().__init__()
        self._writes = writes

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        return await self._noted("put", super().aput(*args, **kwargs))

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        await self._noted("put_writes", super().aput_writes(*args, **kwargs))

    async def _noted(self, what: str, work: Awaitable[Any]) -> Any:
        begun, run = time.monotonic(), cast("Run", run_inside())
        written = await work
        await asyncio.sleep(0)  # as one that asks a database
        self._writes.append(Written(run.id, what, begun, time.monotonic()))
        return written
