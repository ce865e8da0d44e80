"""Checkpoints: nothing of a run that has lost its session is written over what a newer one wrote.

Each write is an effect of the run in whose name it is made, wherever a graph has its checkpointer
from: refused after the stop, waited for if it began before, and named if it does not end. One that
began is not cut in half by the cancel that comes with a stop. A checkpointer that is not async is
asked in a thread of the run's.
"""

# ruff: noqa: ANN401 - what the framework's methods take and give is anything

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver

from lastword.engines.langgraph.seams import Kinds, hold, must_take
from lastword.runtime.framework import ForFrameworks, run_inside
from lastword.runtime.tasks import Tasks

_NAMES = {"put": "checkpoint", "put_writes": "checkpoint writes"}
_PUTS = {"put": ("config", "checkpoint"), "put_writes": ("config", "writes", "task_id")}
_DELETES = ("delete_thread", "delete_for_runs", "copy_thread", "prune")
_READS = ("get_tuple",)
Saver: TypeAlias = BaseCheckpointSaver[Any]
_writing = Tasks("checkpoint")
_begun: ContextVar[bool] = ContextVar("lastword_write_begun", default=False)


def hold_savers() -> None:
    """Hold every checkpointer that is written to inside of a run."""
    for name, takes in _PUTS.items():
        must_take(BaseCheckpointSaver, name, "self", *takes)
        hold(BaseCheckpointSaver, f"a{name}", _awrite(name), "self", *takes)
    for name in _READS:
        hold(BaseCheckpointSaver, f"a{name}", _aread(name), "self", "config")
    hold(BaseCheckpointSaver, "alist", _alist, "self", "config")
    _SAVERS.hold_all()


def _write(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def check(unheld: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(unheld)
        def write(self: Saver, *args: Any, **kwargs: Any) -> Any:
            run = run_inside()
            if run is None or _begun.get():
                return unheld(self, *args, **kwargs)
            with run.acting(_NAMES.get(name, name), "write"), _as_one():
                return unheld(self, *args, **kwargs)

        return write

    return check


def _awrite(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def check(unheld: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        @wraps(unheld)
        async def awrite(self: Saver, *args: Any, **kwargs: Any) -> Any:
            run = run_inside()
            if run is None or _begun.get():
                return await unheld(self, *args, **kwargs)
            # in one step with the write's own first: no stop comes between
            return await _uncut(begun(run, self, *args, **kwargs))

        async def begun(run: ForFrameworks, self: Saver, *args: Any, **kwargs: Any) -> Any:
            async with run.acting(_NAMES.get(name, name), "write"):
                with _as_one():
                    try:
                        return await unheld(self, *args, **kwargs)
                    except NotImplementedError:  # it is one that is not async
                        return await asyncio.to_thread(getattr(self, name), *args, **kwargs)

        return awrite

    return check


@contextmanager
def _as_one() -> Generator[None]:
    """A write that began is done as a whole, whatever it is made of."""
    token = _begun.set(True)
    try:
        yield
    finally:
        _begun.reset(token)


async def _uncut(write: Coroutine[Any, Any, Any]) -> Any:
    """Wait until it is over, also if who waits is cancelled: it would be done behind its back."""
    doing = _writing.start(write, name="write")
    cut: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.wait([doing])
        except asyncio.CancelledError as cancelled:
            cut = cancelled
    if cut is not None:
        raise cut
    return doing.result()


def _aread(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def check(unheld: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(unheld)
        async def aread(self: Saver, *args: Any, **kwargs: Any) -> Any:
            try:
                return await unheld(self, *args, **kwargs)
            except NotImplementedError:
                if run_inside() is None:
                    raise
                return await asyncio.to_thread(getattr(self, name), *args, **kwargs)

        return aread

    return check


def _alist(unheld: Callable[..., AsyncIterator[Any]]) -> Callable[..., AsyncIterator[Any]]:
    @wraps(unheld)
    async def alist(self: Saver, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        try:
            async for one in unheld(self, *args, **kwargs):
                yield one
        except NotImplementedError:
            if run_inside() is None:
                raise
            for one in await asyncio.to_thread(lambda: list(self.list(*args, **kwargs))):
                yield one

    return alist


_WRITES = (*_PUTS, *_DELETES)
_SAVERS = Kinds(
    BaseCheckpointSaver,
    {
        **{name: _write(name) for name in _WRITES},
        **{f"a{name}": _awrite(name) for name in _WRITES},
        **{f"a{name}": _aread(name) for name in _READS},
        "alist": _alist,
    },
)
