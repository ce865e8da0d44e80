"""A tool where its framework reaches it, for an adapter that changes a class of the framework's.

What is called there belongs to the run in which it is, whoever asked for it: the session's own
model, if the adapter wrote that down (`own_calls`), or else an agent inside a tool. A framework
that does not say by which id it calls is understood by name and arguments. Outside of runs it does
what it did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar, cast

from lastword.engines.kit.calls import Calls, carrying_out, inside, is_home, on_its_loop, ready
from lastword.engines.kit.reaching import is_making, reached
from lastword.engines.kit.rendering import explain, render
from lastword.runtime.call import Call
from lastword.runtime.framework import ForFrameworks, run_inside
from lastword.runtime.run import Run

R = TypeVar("R")


def own_calls() -> Calls | None:
    """What the session's own model asks for, if it is that one which asks here.

    None outside of runs, and inside of a tool, where other models ask.
    """
    run = run_inside()
    return Calls.of(run) if run is not None and not is_making(run) else None


async def held(
    name: str,
    arguments: str | Mapping[str, Any],
    body: Callable[[], Awaitable[R]],
    *,
    id: str = "",
    render: Callable[[Any], str] = render,
) -> R:
    """Do what a framework does to call a tool: `body`.

    `NotMade` if it was not allowed: tell the model, in the framework's own type, what that says.
    """
    run = run_inside()
    if run is None:
        return await body()
    call = await on_its_loop(run, _begun(run, id, name, arguments, render))
    with carrying_out(run, call) as part:
        result = await body()
        part.gave(result)
    run.must_hold(f"use of the result of {name}")
    return result


def held_in_thread(
    name: str,
    arguments: str | Mapping[str, Any],
    body: Callable[[], R],
    *,
    id: str = "",
    render: Callable[[Any], str] = render,
) -> R:
    """The same for a framework that is not async, in the thread in which it calls."""
    run = run_inside()
    if run is None:
        return body()
    if is_home(run):  # nothing can be waited for here: checked and counted, and not written down
        with reached(name):
            return body()
    call = wait_for(_begun(run, id, name, arguments, render))
    with carrying_out(run, call) as part:
        result = body()
        part.gave(result)
    run.must_hold(f"use of the result of {name}")
    return result


def wait_for(work: Coroutine[Any, Any, R]) -> R:
    """Wait, in a thread of a run's, for what is to be done on its event loop; not beyond a stop."""
    run = cast("Run", run_inside())

    async def done() -> R:
        return await run.task(work)

    try:
        return asyncio.run_coroutine_threadsafe(done(), run.loop).result()
    except CancelledError:
        run.must_hold("what this thread waited for")
        raise


async def _begun(
    run: ForFrameworks,
    id: str,
    name: str,
    arguments: str | Mapping[str, Any],
    render: Callable[[Any], str],
) -> Call[Any]:
    """The call that this is, whose body may begin."""
    calls = own_calls()
    asked = calls.take(id or calls.find(name, arguments)) if calls else None
    call = asked or inside(run, name, arguments)
    call.render, call.explain = render, explain
    await ready(call)
    return call
