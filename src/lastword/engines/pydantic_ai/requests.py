"""Where a model is asked; the check is there.

Around a model are others, which retry, wait for their turn or fall back to the next, and the
agent's own hooks before them. So each is asked for by itself, the innermost last. A model that is a
function of the team's waits once more before that.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from functools import cache, wraps
from typing import Any

from pydantic_ai.models import Model

from lastword.engines.pydantic_ai.seams import Seam
from lastword.runtime.fence import is_async
from lastword.runtime.framework import run_inside

_WHAT = "this request to the model"
_WHOLE = ("request", "count_tokens", "compact_messages", "batch_create")


def hold_models() -> None:
    """Check where models, of the framework and of others, are asked; those there are by now."""
    _models().hold()


@cache
def _models() -> Seam:
    checks = {"request_stream": _stream, "function": _function, "stream_function": _generator}
    return Seam(Model, {**checks, **dict.fromkeys(_WHOLE, _request)}, leads_to=("wrapped",))


async def may_ask() -> None:
    """Return if the run may ask a model, in the step that follows."""
    if run := run_inside():
        await run.may(_WHAT)


def _request(unheld: Callable[..., Any], _: int) -> Callable[..., Any]:
    @wraps(unheld)
    async def request(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the model's own
        await may_ask()
        return await unheld(*args, **kwargs)

    return request


def _stream(unheld: Callable[..., Any], _: int) -> Callable[..., Any]:
    @wraps(unheld)
    def request_stream(*args: Any, **kwargs: Any) -> _Stream:  # noqa: ANN401 - the model's own
        return _Stream(unheld(*args, **kwargs))

    return request_stream


class _Stream(AbstractAsyncContextManager[Any]):
    """A request that begins when it is entered."""

    def __init__(self, unheld: AbstractAsyncContextManager[Any]) -> None:
        self._unheld = unheld

    async def __aenter__(self) -> Any:  # noqa: ANN401 - as the model gives
        await may_ask()
        return await self._unheld.__aenter__()

    async def __aexit__(self, *why: Any) -> bool | None:  # noqa: ANN401
        return await self._unheld.__aexit__(*why)


def _function(unheld: Callable[..., Any], begin: int) -> Callable[..., Any]:
    if is_async(unheld):
        return _request(unheld, begin)

    @wraps(unheld)
    def function(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the team's own
        if run := run_inside():
            run.must_hold(_WHAT)
        return unheld(*args, **kwargs)

    return function


def _generator(unheld: Callable[..., Any], _: int) -> Callable[..., Any]:
    @wraps(unheld)
    async def stream_function(*args: Any, **kwargs: Any) -> AsyncGenerator[Any]:  # noqa: ANN401
        await may_ask()
        pieces = unheld(*args, **kwargs)
        if not hasattr(pieces, "aclose"):
            async for piece in pieces:
                yield piece
            return
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece

    return stream_function
