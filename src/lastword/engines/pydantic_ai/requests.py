"""Where a model is asked; the check is there, and what it took is told.

Around a model are others, which retry, wait for their turn or fall back to the next, and the
agent's own hooks before them. So each is asked for by itself, the innermost last. A model that is a
function of the team's waits once more before that. Told of is the outermost alone: all that came of
it is one request.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager, suppress
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

from lastword.engines.pydantic_ai.seams import Seam
from lastword.engines.pydantic_ai.trouble import broke_off
from lastword.runtime.checks import encodable
from lastword.runtime.fence import is_async
from lastword.runtime.framework import run_inside
from lastword.runtime.trace import ModelRequest

_WHAT = "this request to the model"
_BESIDE = ("count_tokens", "compact_messages", "batch_create")  # a model is asked, for no answer
_BROKE_OFF = "broke_off"
_told: ContextVar[bool] = ContextVar("lastword_told", default=False)
"""Whether what is done here is part of a request that is told of."""


def hold_models() -> None:
    """Check where models, of the framework and of others, are asked; those there are by now."""
    _models().hold()


@cache
def _models() -> Seam:
    checks = {
        "request": _whole,
        "request_stream": _stream,
        "function": _function,
        "stream_function": _generator,
        **dict.fromkeys(_BESIDE, _request),
    }
    return Seam(Model, checks, leads_to=("wrapped",))


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


def _whole(unheld: Callable[..., Any], begin: int) -> Callable[..., Any]:
    @wraps(unheld)
    async def request(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the model's own
        await may_ask()
        asked = _asked(args[0] if begin else unheld)
        if asked is None:
            return await unheld(*args, **kwargs)
        try:
            with _telling(asked):
                answer = await unheld(*args, **kwargs)
        except BaseException as error:
            asked.end(error)
            raise
        _answered(asked, answer)
        asked.end()
        return answer

    return request


def _stream(unheld: Callable[..., Any], begin: int) -> Callable[..., Any]:
    @wraps(unheld)
    def request_stream(*args: Any, **kwargs: Any) -> _Stream:  # noqa: ANN401 - the model's own
        return _Stream(unheld(*args, **kwargs), args[0] if begin else unheld)

    return request_stream


class _Stream(AbstractAsyncContextManager[Any]):
    """A request that begins when it is entered, and ends when it is left."""

    def __init__(self, unheld: AbstractAsyncContextManager[Any], of: object) -> None:
        self._unheld = unheld
        self._of = of
        self._asked: ModelRequest | None = None
        self._began = 0.0
        self._answer: Any = None

    async def __aenter__(self) -> Any:  # noqa: ANN401 - as the model gives
        await may_ask()
        self._began = time.perf_counter()
        self._asked = asked = _asked(self._of)
        if asked is None:
            return await self._unheld.__aenter__()
        try:
            # no longer than this: whoever reads it may do so elsewhere, and does other things too
            with _telling(asked):
                self._answer = await self._unheld.__aenter__()
        except BaseException as error:
            asked.end(error)
            raise
        return self._answer

    async def __aexit__(self, *why: Any) -> bool | None:  # noqa: ANN401
        try:
            return await self._unheld.__aexit__(*why)
        finally:
            if self._asked is not None:
                self._tell(self._asked, why[1])

    def _tell(self, asked: ModelRequest, error: BaseException | None) -> None:
        with suppress(AttributeError):  # a stream of a team's own may not measure it
            first = self._answer.time_to_first_chunk(self._began)
            if first is not None:
                asked.first_after(first)
        with suppress(Exception):  # what has come so far may be nothing that can be put together
            _answered(asked, self._answer.get())
        asked.end(error)


def _asked(of: object) -> ModelRequest | None:
    """What to tell of a request; None in one that is told of, and outside of all runs.

    `of` is the model, or its method.
    """
    run, model = run_inside(), getattr(of, "__self__", of)
    if run is None or _told.get():
        return None
    return run.asks_model(_named(model, "model_name"), _named(model, "system"))


def _named(model: object, what: str) -> str:
    with suppress(Exception):  # it may be anybody's, and is asked for no more than a name
        return encodable(str(getattr(model, what)))
    return ""


@contextmanager
def _telling(asked: ModelRequest) -> Generator[None]:
    before = _told.set(True)
    try:
        with asked.inside():
            yield
    finally:
        _told.reset(before)


def _answered(asked: ModelRequest, answer: ModelResponse) -> None:
    """What it cost; and whether it was all, as far as the provider says so."""
    used = answer.usage
    asked.cost(used.input_tokens, used.output_tokens, encodable(answer.model_name or ""))
    if broke_off(answer):
        asked.failed(_BROKE_OFF)


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
