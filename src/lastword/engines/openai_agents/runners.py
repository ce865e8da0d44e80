"""The framework's runner: which of its runs speaks for the session.

All of `Runner`'s ways come by here. The engine says of the run that it starts that it is the
session's own; so does who gives it the session's memory (`RunSession`). Any other is nested.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lastword.engines.openai_agents.driving import Driven, driven_here, driving
from lastword.engines.openai_agents.memory import RunSession
from lastword.engines.openai_agents.seams import HeldName
from lastword.runtime.framework import run_inside


def _whose(session: object) -> Driven | None:
    own = driven_here()
    if own is not None and own.starts():
        return own
    if not isinstance(session, RunSession) or session.run is not run_inside():
        return None
    here = asyncio.get_running_loop() is session.run.loop  # where its log is written
    return session.driven() if here else None


def _run(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the framework's
        if run_inside() is None:
            return await unheld(*args, **kwargs)
        with driving(_whose(kwargs.get("session"))):
            return await unheld(*args, **kwargs)

    return run


def _run_streamed(unheld: Callable[..., Any]) -> Callable[..., Any]:
    def run_streamed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the framework's
        if run_inside() is None:
            return unheld(*args, **kwargs)
        with driving(_whose(kwargs.get("session"))):
            return unheld(*args, **kwargs)

    return run_streamed


_TAKES = ("self", "starting_agent", "input", "kwargs")
RUNNERS = (
    HeldName("agents.run:AgentRunner", "run", _TAKES, _run),
    HeldName("agents.run:AgentRunner", "run_streamed", _TAKES, _run_streamed),
)
