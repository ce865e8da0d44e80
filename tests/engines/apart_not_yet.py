"""An engine that asks for all that is not available in an isolated run yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from lastword import Run


async def engine(run: Run) -> None:
    nothing: Any = None  # it is not looked at
    wanted: tuple[Callable[[], Any], ...] = (
        lambda: run.shelf,
        lambda: run.asks,
        lambda: run.adopt(nothing, nothing, nothing),
        lambda: run.has_changed(nothing),
        run.processes_gone,
        lambda: run.ask(nothing, for_good=print),
    )
    said: list[str] = []
    for want in wanted:
        try:
            given = want()
            if inspect.isawaitable(given):
                await given
        except NotImplementedError as error:
            said.append(f"{type(error).__name__} {error}")
    await run.emit("\n".join(said))
