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
from typing import Any, NamedTuple, ParamSpec, TypeVar

from lastword.runtime.asking import asking
from lastword.runtime.fence import name_of
from lastword.runtime.hold import Effect, Hold

P = ParamSpec("P")
R = TypeVar("R")


class Calling(NamedTuple):
    """A call that is being made."""

    name: str = ""
    call: str = ""
    run: str = ""


NO_CALL = Calling()
calling: ContextVar[Calling] = ContextVar("lastword_calling", default=NO_CALL)
"""The call that is being made here."""


_here = threading.local()  # the effect as which a thread of a framework's is counted


@contextmanager
def covering() -> Generator[None]:
    """What is inside is named by itself; the thread in which it is done is not, meanwhile."""
    effect: Effect | None = getattr(_here, "effect", None)
    if effect is None:
        yield
        return
    effect.covered += 1
    try:
        yield
    finally:
        effect.covered -= 1


class Part:
    """A part of a call, while it is under way."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        self.over = True  # when it ends; or another part goes on from there


class Act:
    """Something that a run does. After the fence it is refused; a stop waits for it, and names it.

    It may have parts, one inside another or side by side: it is under way while any of them is.
    """

    __slots__ = ("_effect", "_hold")

    def __init__(self, hold: Hold, name: str) -> None:
        self._hold = hold
        self._effect = Effect("tool", name)

    @contextmanager
    def under_way(self) -> Generator[Part]:
        """Around a part of it; the check is in the step of what is inside."""
        if not self._hold.begin(self._effect):
            self._hold.must_hold(f"this call of {self._effect.name}")
        try:
            with covering():
                yield Part()
        finally:
            self._hold.finish(self._effect)


class FencedExecutor(Executor):
    """One run's. What has not begun when the run loses its session never does.

    A framework keeps it where whatever the run started finds it: another run, which it began, say.
    So it is the hold of who submits that counts.
    """

    def __init__(self, hold: Hold, threads: Executor) -> None:
        self._hold = hold
        self._threads = threads

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        effect = Effect("tool", calling.get().name or name_of(fn))
        work, context = partial(fn, *args, **kwargs), copy_context()  # whose name it is done in
        here = asking()
        hold = here.hold if here is not None and isinstance(here.hold, Hold) else self._hold
        return self._threads.submit(lambda: context.run(_work, hold, effect, work))


def _work(hold: Hold, effect: Effect, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - as it gives
    if not hold.begin(effect):
        hold.must_hold(f"this call of {effect.name}")
    _here.effect = effect
    try:
        return work()
    finally:
        _here.effect = None
        hold.finish(effect)
