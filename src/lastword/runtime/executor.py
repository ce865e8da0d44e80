"""What a framework does by itself: checked as it begins, counted until it ends.

Threads that it starts are, and acts that the ledger does not list because the session's own model
did not ask for them, such as a tool of an agent that a tool runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from lastword.runtime.fence import name_of
from lastword.runtime.hold import Effect, Hold

P = ParamSpec("P")
R = TypeVar("R")
calling: ContextVar[tuple[str, str]] = ContextVar("lastword_calling", default=("", ""))
"""The name and the id of the call that is being made here."""


_here = threading.local()  # the effect as which a thread of a framework's is counted


def take_over(hold: Hold) -> None:
    """What began in this thread is counted by itself: the thread need not be as well."""
    if (effect := getattr(_here, "effect", None)) is not None:
        _here.effect = None
        hold.finish(effect)


class Act:
    """Something that a run does. After the fence it is refused; a stop waits for it, and names it.

    It may have parts, one inside another or side by side: it is under way while any of them is.
    """

    __slots__ = ("_effect", "_hold")

    def __init__(self, hold: Hold, name: str) -> None:
        self._hold = hold
        self._effect = Effect("tool", name)

    @contextmanager
    def under_way(self) -> Generator[None]:
        """Around a part of it; the check is in the step of what is inside."""
        if not self._hold.begin(self._effect):
            self._hold.must_hold(f"this call of {self._effect.name}")
        take_over(self._hold)
        try:
            yield
        finally:
            self._hold.finish(self._effect)


class FencedExecutor(Executor):
    """One run's. What has not begun when the run loses its session never does."""

    def __init__(self, hold: Hold, threads: Executor) -> None:
        self._hold = hold
        self._threads = threads

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        effect = Effect("tool", calling.get()[0] or name_of(fn))
        work, context = partial(fn, *args, **kwargs), copy_context()  # whose name it is done in
        return self._threads.submit(lambda: context.run(self._work, effect, work))

    def _work(self, effect: Effect, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - as it gives
        if not self._hold.begin(effect):
            self._hold.must_hold(f"this call of {effect.name}")
        _here.effect = effect
        try:
            return work()
        finally:
            _here.effect = None
            self._hold.finish(effect)
