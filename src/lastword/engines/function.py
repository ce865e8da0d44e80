"""A plain async function or generator as an engine: what it gives is what the person is told."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable

from lastword.runtime.run import Engine, Run


def function(answer: Callable[[Run], AsyncIterator[str] | Awaitable[str | None]]) -> Engine:
    """`async def answer(run): yield "Hello"`, or one that returns its answer."""

    async def engine(run: Run) -> None:
        given = answer(run)
        if inspect.isasyncgen(given) or isinstance(given, AsyncIterator):
            async for text in given:
                await run.emit(text)
        elif inspect.isawaitable(given):
            if text := await given:
                await run.emit(text)
        else:
            raise TypeError(f"{answer!r} must be async: it gave a {type(given).__name__}")

    return engine
