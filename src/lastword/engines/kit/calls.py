"""What a model asked for in one answer, from then until an engine has made it.

All of it is written down at once, by the ids that its provider gave, so that a stop finds the rest
*not started*. Each call is settled once: with what came of it, or with what the model is told of
one that reached no tool. A call of an agent inside a tool (`inner`) is made where that agent runs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar, cast

from lastword.core.entries import Native, Nature
from lastword.engines.kit.reaching import making
from lastword.runtime.call import Call
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

    def get(self, id: str) -> Call[Any] | None:
        """One that is not settled."""
        return self._open.get(id)

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
        if call := self._open.pop(id, None):
            call.skip(why)

    def forget(self, id: str) -> None:
        """It is settled, by somebody else."""
        self._open.pop(id, None)

    def __len__(self) -> int:
        return len(self._open)


async def inner(
    name: str, arguments: str | Mapping[str, Any], body: Callable[[], Awaitable[R]]
) -> R:
    """Make a call of an agent that a tool runs, which the session's own model is not shown.

    It is made where this is awaited, which may be an event loop in a thread of the tool's. Outside
    of runs, `body` is simply awaited.
    """
    run = run_inside()
    if run is None:
        return await body()
    here = asyncio.get_running_loop() is run.loop
    call = await _on(run, _begun(run, name, as_said(arguments)), here=here)
    with making(call), call.under_way() as part:
        try:
            result = await body()
        except Exception as error:
            _soon(run, call, error, here=here)
            raise
        part.gave(result)
    _soon(run, call, result, here=here)
    run.must_hold(f"use of the result of {name}")
    return result


def as_said(arguments: str | Mapping[str, Any]) -> str:
    """Arguments as a model says them."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(dict(arguments), ensure_ascii=False, default=str)


async def _begun(run: ForFrameworks, name: str, arguments: str) -> Call[Any]:
    call: Call[Any] = run.asked(name, arguments, nature="inner", late=True)
    try:
        await call.ready()
    except PermissionError as error:
        raise NotMade(str(error)) from error
    return call


async def _on(run: ForFrameworks, work: Coroutine[Any, Any, R], *, here: bool) -> R:
    """Await it on the run's own event loop."""
    if here:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, run.loop))


def _soon(run: ForFrameworks, call: Call[Any], came_of: object, *, here: bool) -> None:
    if here:
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
