"""Around a sink: one delivery at a time, in order, each checked right before it leaves.

A delivery that began runs on in a task or a thread of its own, whatever becomes of the run: to
cut a send in half helps nobody. One that has not begun when the hold goes is dropped and counted.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from lastword.errors import Superseded
from lastword.runtime.feed import Kind
from lastword.runtime.hold import Effect, Hold
from lastword.runtime.tasks import Tasks
from lastword.runtime.threads import DaemonThreads

log = logging.getLogger("lastword")


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives a coroutine; what is not runs in a thread."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object's own `async def __call__`
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def name_of(function: Callable[..., object]) -> str:
    """What to call it in a receipt."""
    if isinstance(function, partial):
        return name_of(function.func)
    return getattr(function, "__name__", None) or type(function).__name__


class Fence:
    """One sink of one run."""

    __slots__ = (
        "_deliveries",
        "_hold",
        "_in_thread",
        "_last",
        "_pace",
        "_sink",
        "_threads",
        "_turn",
    )

    def __init__(
        self,
        hold: Hold,
        deliveries: Tasks,
        threads: DaemonThreads,
        sink: Callable[..., object],
        *,
        pace: float = 0.0,
    ) -> None:
        self._hold = hold
        self._deliveries = deliveries
        self._threads = threads
        self._sink = sink
        self._in_thread = not is_async(sink)
        self._pace = pace
        self._last = float("-inf")
        self._turn = asyncio.Lock()

    async def send(
        self,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        event: tuple[Kind, str, object] | None = None,
    ) -> None:
        """Deliver once it is our turn, if the run may still act by then.

        An event goes into the feed and to the sink, or to neither; without, the arguments go.
        """
        try:
            await self._turn.acquire()
        except asyncio.CancelledError:
            self._hold.drop()
            raise
        try:
            await self._rest()
            if not self._hold.current:
                self._hold.drop()
                await asyncio.sleep(0)  # a loop of refused sends must not stall the event loop
                return
            delivery = self._deliveries.start(
                self._deliver(args, kwargs or {}, event), name=name_of(self._sink)
            )
            await asyncio.shield(delivery)
        finally:
            self._turn.release()

    async def _rest(self) -> None:
        now = asyncio.get_running_loop().time
        if self._pace and (wait := self._last + self._pace - now()) > 0:
            try:
                await asyncio.sleep(wait)
            except asyncio.CancelledError:
                self._hold.drop()
                raise
        self._last = now()

    async def _deliver(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        event: tuple[Kind, str, object] | None,
    ) -> None:
        effect = Effect("delivery", name_of(self._sink))

        def leave() -> object:
            if not self._hold.begin(effect, event):
                self._hold.drop()
                return None
            return self._sink(effect.event) if event else self._sink(*args, **kwargs)

        try:
            await call(leave, effect, self._hold, self._threads if self._in_thread else None)
        except Superseded:
            log.debug("sink gave up sink=%s run=%s", effect.name, self._hold.run)


async def call(
    begin: Callable[[], object], effect: Effect, hold: Hold, threads: DaemonThreads | None
) -> Any:  # noqa: ANN401 - whatever the callable gives
    """Call it here or in a thread, and await what it gives; the effect ends when it has."""
    if threads is None:
        try:
            result = begin()
            return await result if inspect.isawaitable(result) else result
        finally:
            hold.finish(effect)
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    work = partial(_in_thread, begin, effect, hold)
    result = await loop.run_in_executor(threads, lambda: context.run(work))
    if not inspect.isawaitable(result):
        return result
    try:
        return await result
    finally:
        hold.finish(effect)


def _in_thread(begin: Callable[[], object], effect: Effect, hold: Hold) -> object:
    # ended here and not by whoever waits: the waiting can be cancelled, the thread cannot
    done = True
    try:
        result = begin()
        done = not inspect.isawaitable(result)
        return result
    finally:
        if done:
            hold.finish(effect)
