"""What a model asked for in one answer, from then until an engine has made it.

All of it is written down at once, by the ids that its provider gave, so that a stop finds the rest
*not started*. Each call is settled once: with what came of it, or with what the model is told of
one that reached no tool. A call of an agent inside a tool (`inner`) is made where that agent runs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from lastword.core.entries import Native, Nature
from lastword.core.shown import as_object
from lastword.engines.kit.reaching import making
from lastword.engines.kit.threads import hold_threads
from lastword.runtime.call import Call
from lastword.runtime.executor import Part
from lastword.runtime.fence import is_async
from lastword.runtime.framework import ForFrameworks, run_inside
from lastword.runtime.run import Run

R = TypeVar("R")


class NotMade(PermissionError):
    """Whoever is asked before a tool did not allow this call. What it says, the model is told."""


class Calls:
    """Those of one run that are not settled."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._open: dict[str, Call[Any]] = {}
        hold_threads()
        _kept.set(self)

    @staticmethod
    def of(run: ForFrameworks) -> Calls | None:
        """Those that its engine keeps, for what is done in it."""
        calls = _kept.get()
        return calls if calls and calls.run is run else None

    def ask(
        self,
        id: str,
        name: str,
        arguments: str | Mapping[str, Any],
        *,
        nature: Nature = "",
        native: Native | None = None,
        late: bool = False,
    ) -> Call[Any]:
        """Write down what the model asked for, before the first of its answer is made."""
        if id not in self._open:
            said = as_said(arguments)
            asked = self.run.asked(name, said, nature=nature, native=native, late=late)
            self._open[id] = asked
        return self._open[id]

    @property
    def open(self) -> tuple[tuple[str, Call[Any]], ...]:
        """Those that are not settled, by the ids that their provider gave."""
        return tuple(self._open.items())

    def get(self, id: str) -> Call[Any] | None:
        """One that is not settled."""
        return self._open.get(id)

    def take(self, id: str) -> Call[Any] | None:
        """The same, for who settles it."""
        return self._open.pop(id, None)

    def find(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """The id of the first like this that nobody makes yet; empty if there is none.

        What a framework did to its arguments does not matter if no other can be meant.
        """
        given = _read(as_said(arguments))
        named = [key for key, one in self._open.items() if one.name == name and not one.made]
        like = [key for key in named if _read(self._open[key].arguments) == given]
        return (like or (named if len(named) == 1 else [""]))[0]

    async def make(self, id: str, body: Callable[[], Awaitable[R] | R]) -> R:
        """Make it; a body that is not async has a thread. `NotMade` if it was not allowed."""
        call = self._open[id]
        try:
            made = await call(_within(call, body))
        except PermissionError as error:
            if call.allowed:
                raise  # the tool's own
            self.forget(id)
            raise NotMade(str(error)) from error
        self.forget(id)
        return made

    def skip(self, id: str, why: str) -> None:
        """It is not made, and the model is told why."""
        if call := self.take(id):
            call.skip(why)

    def forget(self, id: str) -> None:
        """It is settled, by somebody else."""
        self._open.pop(id, None)

    def __len__(self) -> int:
        return len(self._open)

    def __bool__(self) -> bool:
        return True  # `if calls := own_calls()` asks whether there are such, and not how many


_kept: ContextVar[Calls | None] = ContextVar("lastword_calls", default=None)


async def inner(
    name: str,
    arguments: str | Mapping[str, Any],
    body: Callable[[], Awaitable[R]],
    *,
    render: Callable[[object], str] | None = None,
) -> R:
    """Make a call of an agent that a tool runs, which the session's own model is not shown.

    It is made where this is awaited, which may be an event loop in a thread of the tool's. Outside
    of runs, `body` is simply awaited. `render` says what it gave as the log keeps it.
    """
    run = run_inside()
    if run is None:
        return await body()
    call = await on_its_loop(run, _begun(run, name, arguments))
    call.render = render or call.render
    with carrying_out(run, call) as part:
        result = await body()
        part.gave(result)
    run.must_hold(f"use of the result of {name}")
    return result


def inside(run: ForFrameworks, name: str, arguments: str | Mapping[str, Any]) -> Call[Any]:
    """Write down a call of an agent inside a tool."""
    return run.asked(name, as_said(arguments), nature="inner", late=True)


async def _begun(run: ForFrameworks, name: str, arguments: str | Mapping[str, Any]) -> Call[Any]:
    call = inside(run, name, arguments)
    await ready(call)
    return call


def _read(arguments: str) -> dict[str, Any]:
    return json.loads(as_object(arguments))


async def ready(call: Call[Any]) -> None:
    """Ask and write down what comes before a tool."""
    try:
        await call.ready()
    except PermissionError as error:
        raise NotMade(str(error)) from error


@contextmanager
def carrying_out(run: ForFrameworks, call: Call[Any]) -> Generator[Part]:
    """Around what a call is, in whichever thread; it says what it `gave`."""
    with making(call), call.under_way() as part:
        try:
            yield part
        except Exception as error:
            _end(run, call, error)
            raise
    _end(run, call, part.ended.gave if part.ended else None)


def as_said(arguments: str | Mapping[str, Any]) -> str:
    """Arguments as a model says them."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(dict(arguments), ensure_ascii=False, default=str)


def is_home(run: ForFrameworks) -> bool:
    """Whether this is done on the run's own event loop."""
    try:
        return asyncio.get_running_loop() is run.loop
    except RuntimeError:
        return False


async def on_its_loop(run: ForFrameworks, work: Coroutine[Any, Any, R]) -> R:
    """Await it on the run's own event loop."""
    if is_home(run):
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, run.loop))


def _end(run: ForFrameworks, call: Call[Any], came_of: object) -> None:
    if is_home(run):
        call.end(came_of)
    else:  # should a stop be quicker, the part says what came of it
        run.loop.call_soon_threadsafe(call.end, came_of)


def _within(call: Call[Any], body: Callable[[], Awaitable[R] | R]) -> Callable[[], Any]:
    """What the body reaches belongs to the call."""
    if is_async(body):

        async def awaited() -> R:
            with making(call):
                return await cast("Awaitable[R]", body())

        return awaited

    def called() -> Awaitable[R] | R:
        with making(call):
            return body()

    return called
