"""Calls that a handler of the team's carries out, outside of the framework; they are held as well.

The framework hands what no function of its own does to whoever says that they handle it. From then
on such a call may have executed; with the answer it is completed, and whoever gives none says that
it was not made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import cache, wraps
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from lastword.engines.pydantic_ai.calls import ModelCalls
from lastword.engines.pydantic_ai.seams import Seam
from lastword.runtime.framework import ForFrameworks, run_inside

_PASS_ON = (
    "lastword.engines.pydantic_ai.",
    "pydantic_ai.capabilities.abstract",
    "pydantic_ai.capabilities.combined",
    "pydantic_ai.capabilities.wrapper",
)
Handle = Callable[[DeferredToolRequests], Awaitable[DeferredToolResults | None]]


def hold_handlers() -> None:
    """Check where handlers are asked; those there are by now."""
    _handlers().hold()


@cache
def _handlers() -> Seam:
    checks = {"handle_deferred_tool_calls": _handler}
    return Seam(AbstractCapability, checks, passes_on=_PASS_ON, leads_to=("wrapped",))


def _handler(unheld: Callable[..., Any], begin: int) -> Callable[..., Any]:
    @wraps(unheld)
    async def handle_deferred_tool_calls(
        *args: Any,  # noqa: ANN401 - the framework's
        requests: DeferredToolRequests,
        **kwargs: Any,  # noqa: ANN401
    ) -> DeferredToolResults | None:
        if (run := run_inside()) is None:
            return await unheld(*args, requests=requests, **kwargs)

        async def handle(left: DeferredToolRequests) -> DeferredToolResults | None:
            return await unheld(*args, requests=left, **kwargs)

        ctx = args[begin] if len(args) > begin else kwargs["ctx"]
        calls = getattr(ctx.capabilities.get("lastword"), "calls", None)
        if isinstance(calls, ModelCalls) and calls.run is run:
            return await calls.carry_out(requests, handle)
        return await _counted(run, requests, handle)

    return handle_deferred_tool_calls


async def _counted(
    run: ForFrameworks, requests: DeferredToolRequests, handle: Handle
) -> DeferredToolResults | None:
    """For an agent inside a run, whose calls only the run counts."""
    await run.may("what was put off")
    with ExitStack() as acts:
        for part in requests.calls:
            acts.enter_context(run.acting(part.tool_name))
        return await handle(requests)
