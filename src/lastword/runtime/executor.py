"""Threads for a framework that starts its own: checked as each begins, counted until it ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

from lastword.runtime.fence import name_of
from lastword.runtime.hold import Effect, Hold

P = ParamSpec("P")
R = TypeVar("R")
calling: ContextVar[tuple[str, str]] = ContextVar("lastword_calling", default=("", ""))
"""The name and the id of the call that is being made here."""


class FencedExecutor(Executor):
    """One run's. What has not begun when the run loses its session never does."""

    def __init__(self, hold: Hold, threads: Executor) -> None:
        self._hold = hold
        self._threads = threads

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        effect = Effect("tool", calling.get()[0] or name_of(fn))
        return self._threads.submit(self._work, effect, partial(fn, *args, **kwargs))

    def _work(self, effect: Effect, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - as it gives
        if not self._hold.begin(effect):
            self._hold.must_hold(f"this call of {effect.name}")
        try:
            return work()
        finally:
            self._hold.finish(effect)
