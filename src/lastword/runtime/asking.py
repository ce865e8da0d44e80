"""Whoever asks is known: the one door that every act of a program's goes through.

What a run does is done in tasks and threads that carry its name with them, in a context variable,
whatever they were started by. A run that has lost its session is refused here like a tool call,
on its own session and on any other, and whoever carries its name is that run, however late: a
task that nobody knows of, the `finally` of a generator that the collector comes to. It could
otherwise send, stop or delete what it may no longer say. What a run left behind that ended by
itself (somebody's poller, which it happened to start) may act, but not as a person.

Reads do not come here. The check is made in the step that acts, after whatever had to be awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from lastword.core.model import Origin
from lastword.errors import Superseded

P = ParamSpec("P")
R = TypeVar("R")


class Right(Protocol):
    """A run's hold on its session."""

    @property
    def current(self) -> bool: ...
    def must_hold(self, what: str) -> None: ...
    def acting(self, what: str) -> AbstractContextManager[None]: ...
    async def steady(self) -> None: ...


class Asker(Protocol):
    """A run in which something is asked for."""

    @property
    def hold(self) -> Right: ...
    @property
    def parent(self) -> Asker | None: ...
    @property
    def over(self) -> bool: ...


running: ContextVar[Asker | None] = ContextVar("lastword_running", default=None)
"""The run in whose name this is done. It may have ended."""


def asking() -> Asker | None:
    """The run from inside which something is asked for; None if that is outside of all runs."""
    asker = running.get()
    while asker is not None and asker.over:
        asker = asker.parent  # of a child that is gone, what is left belongs to who started it
    return asker


def another(but: Right) -> Right | None:
    """The hold of the run that acts here, if it acts through somebody else's."""
    here = running.get()
    if here is None or here.hold is but:  # this is what a token costs
        return None
    asker = asking()
    return asker.hold if asker is not None and asker.hold is not but else None


def lost(but: Right) -> Right | None:
    """What a run has lost that acts here through somebody else's hold than its own."""
    other = another(but)
    return other if other is not None and not other.current else None


@contextmanager
def acting(what: str) -> Generator[Right | None]:
    """Do what was asked for; raises `Superseded`, before that, if a run asks that may not.

    It is an effect of that run like any other: a stop comes before it, or waits for it. What is
    given has to be asked again under the lock of the session that is acted on, if it has one.
    """
    asker = asking()
    if asker is None:
        yield None
        return
    with asker.hold.acting(what):
        yield asker.hold


def may_act(what: str, *, but: Asker | None = None) -> Asker | None:
    """Who asks; `Superseded` if that is a run that has lost its session, but for this one."""
    if but is None or but is not running.get():
        with acting(what):
            pass
    return asking()


def act(method: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """For an act that has to be awaited: neither a loop of refused ones nor a store that does not
    answer may stall the event loop."""

    @wraps(method)
    async def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        if (asker := asking()) is not None:
            await asker.hold.steady()
        try:
            return await method(*args, **kwargs)
        except Superseded:
            await asyncio.sleep(0)
            raise

    return asked


def origin_of(said: Origin | None, by: str) -> Origin:
    """Whose word a message is. What a run sends is a person's only if it says which."""
    if by or running.get() is None:
        return said or "person"
    if said == "person":
        raise ValueError("what a run sends is not a person's unless by= says whose it is")
    return said or "run"
