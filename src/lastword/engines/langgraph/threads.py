"""Nodes that are not async: what they do in their thread is asked for, and told, on the run's loop.

A tool's own code stays in the thread of its node. On the event loop nobody can wait for what comes
before a tool, so there a tool or a model that is not awaited is an error that says what to write.
"""

# ruff: noqa: ANN401 - what the framework's methods take and give is anything

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextvars import Context, copy_context
from typing import Any, TypeAlias, TypeVar

from lastword.runtime.framework import ForFrameworks

R = TypeVar("R")
Body: TypeAlias = Callable[[], Awaitable[Any]]
Make: TypeAlias = Callable[[Body], Coroutine[Any, Any, Any]]
"""Makes a call of that body, on the run's event loop."""


def is_here(run: ForFrameworks) -> bool:
    """Whether this is the run's own event loop."""
    try:
        return asyncio.get_running_loop() is run.loop
    except RuntimeError:
        return False


def must_not_block(run: ForFrameworks, what: str, instead: str) -> None:
    """Raise if this is the run's event loop, where nothing can be waited for without `await`."""
    if is_here(run):
        raise RuntimeError(
            f"{what} was called on the event loop without being awaited, and was not made: write "
            f"{instead}, or make the function around it one that is not async (it has a thread)"
        )


def on_loop(run: ForFrameworks, work: Coroutine[Any, Any, R]) -> R:
    """Have it done on the run's event loop, from a thread, and wait."""
    return asyncio.run_coroutine_threadsafe(work, run.loop).result()


async def on_its_loop(run: ForFrameworks, work: Coroutine[Any, Any, R]) -> R:
    """The same, from any event loop."""
    if is_here(run):
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, run.loop))


class _Elsewhere:
    """A body that is carried out here, of a call that is made on the run's loop."""

    def __init__(self, run: ForFrameworks, make: Make) -> None:
        self.begins: Future[Context] = Future()
        self.over: Future[Any] = Future()
        self.over.set_running_or_notify_cancel()  # from here on nobody's cancel loses what it gives
        self.made = asyncio.run_coroutine_threadsafe(make(self._body), run.loop)
        self.made.add_done_callback(lambda _: self.begins.cancel())  # refused: it never begins

    async def _body(self) -> Any:
        self.begins.set_result(copy_context())  # what it reaches belongs to the call
        return await asyncio.wrap_future(self.over)

    def failed(self, error: BaseException) -> None:
        if isinstance(error, StopIteration):  # which no future can hand on
            told = RuntimeError(f"it raised StopIteration: {error}")
            told.__cause__ = error
            error = told
        self.over.set_exception(error)


def in_thread(run: ForFrameworks, make: Make, body: Callable[[], R]) -> R:
    """Make a call whose body is carried out in this thread."""
    one = _Elsewhere(run, make)
    try:
        context = one.begins.result()
    except CancelledError:
        return one.made.result()
    try:
        one.over.set_result(context.run(body))
    except BaseException as error:  # noqa: BLE001 - whoever made the call gets it, whatever it is
        one.failed(error)
    return one.made.result()


async def on_own_loop(run: ForFrameworks, make: Make, body: Body) -> Any:
    """Make a call whose body is carried out on this event loop, which may be a thread's own."""
    if is_here(run):
        return await make(body)
    one = _Elsewhere(run, make)
    try:
        context = await asyncio.wrap_future(one.begins)
    except asyncio.CancelledError:
        if not one.made.done():
            raise
        return one.made.result()

    async def carried() -> Any:
        return await body()

    try:
        loop = asyncio.get_running_loop()
        one.over.set_result(await asyncio.Task(carried(), loop=loop, context=context))
    except BaseException as error:  # noqa: BLE001
        one.failed(error)
    return await asyncio.wrap_future(one.made)
