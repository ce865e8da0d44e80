"""What a framework does by itself: checked as it begins, counted until it ends.

Threads that it starts are, and acts that the ledger does not list because the session's own model
did not ask for them: a tool of an agent that a tool runs, a checkpointer's write, a handshake.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import partial
from typing import Any, Literal, NamedTuple, ParamSpec, TypeAlias, TypeVar

from lastword.runtime.asking import asking
from lastword.runtime.fence import name_of
from lastword.runtime.hold import Effect, Hold, KnownEnd

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

    __slots__ = ("ended", "over")

    def __init__(self) -> None:
        self.over = True  # when it ends; or another part goes on from there
        self.ended: KnownEnd | None = None

    def gave(self, result: object) -> None:
        """It is known what came of it, should nobody else get to say so."""
        self.ended = KnownEnd(result)


ActKind: TypeAlias = Literal["tool", "write"]
_REFUSED: dict[ActKind, str] = {"tool": "this call of", "write": "this write:"}


class Act:
    """Something that a run does and the session's own model did not ask for; no ledger lists it.

    After the fence it is refused; a stop waits for it, and names it. `with` and `async with` are
    around all of it. It may have parts instead, one inside another or side by side: it is under
    way while any of them is.
    """

    __slots__ = ("_effect", "_entered", "_hold", "_refused")

    def __init__(self, hold: Hold, name: str, kind: ActKind = "tool") -> None:
        self._hold = hold
        self._refused = f"{_REFUSED[kind]} {name}"
        self._effect = Effect(kind, name)
        self._entered = ExitStack()

    @contextmanager
    def under_way(self) -> Generator[Part]:
        """Around a part of it; the check is in the step of what is inside."""
        effect = self._effect
        if not self._hold.begin(effect):
            self._hold.drop(effect.name)
            self._hold.must_hold(self._refused)
        try:
            with covering():
                yield Part()
        finally:
            self._hold.finish(effect)

    def __enter__(self) -> None:
        self._entered.enter_context(self.under_way())

    def __exit__(self, *_: object) -> None:
        self._entered.close()

    async def __aenter__(self) -> None:
        await self._hold.steady()
        self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self._entered.close()


class FencedExecutor(Executor):
    """One run's. What has not begun when the run loses its session never does.

    A framework keeps it where whatever the run started finds it: another run, which it began, say.
    So it is the hold of who submits that counts.
    """

    def __init__(self, hold: Hold, threads: Executor) -> None:
        self._hold = hold
        self._threads = threads

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        effect = Effect("tool", calling.get().name or name_of(_inside(fn)))
        work, context = partial(fn, *args, **kwargs), copy_context()  # whose name it is done in
        here = asking()
        hold = here.hold if here is not None and isinstance(here.hold, Hold) else self._hold
        return self._threads.submit(lambda: context.run(_work, hold, effect, work))


def _inside(fn: Callable[..., Any]) -> Callable[..., Any]:
    """What `asyncio.to_thread` was given; it hands on a call of its context, as a partial."""
    args: tuple[Any, ...] = getattr(fn, "args", ())
    owner = getattr(getattr(fn, "func", None), "__self__", None)
    return args[0] if args and isinstance(owner, Context) else fn


def _work(hold: Hold, effect: Effect, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - as it gives
    if not hold.begin(effect):
        hold.must_hold(f"this call of {effect.name}")
    _here.effect = effect
    try:
        return work()
    finally:
        _here.effect = None
        hold.finish(effect)
