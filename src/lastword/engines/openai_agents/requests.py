"""Where a model is asked; the check is there, and what it took is told.

Before it are hooks, filters and guardrails of the team's, and the framework tries again what
failed: each attempt is asked for by itself. The answer is heard on its way to the framework.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from lastword.engines.openai_agents.driving import Driven, driven_here, given_up
from lastword.engines.openai_agents.heard import ModelAnswer
from lastword.engines.openai_agents.items import field_of
from lastword.engines.openai_agents.models import name_of, provider_of, whose_of
from lastword.engines.openai_agents.seams import HeldName
from lastword.runtime.framework import ForFrameworks, run_inside
from lastword.runtime.trace import ModelRequest

_WHAT = "this request to the model"
_BROKE_OFF = "broke_off"
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class _Asking:
    """One request of a run of the framework's, as often as it is tried."""

    def __init__(self, run: ForFrameworks, driven: Driven | None, model: object) -> None:
        self._run = run
        self._driven = driven
        self._model = model

    async def stream(self, unheld: Callable[[], AsyncIterator[Any]]) -> AsyncGenerator[Any]:
        heard, request = await self._begin()
        theirs = True  # what is raised now: the model's trouble, and not of who hears it
        try:
            with request.inside():  # no longer: whoever reads the rest may do so elsewhere
                events: Any = aiter(unheld())
                event = await anext(events, None)
            async with aclosing(events):
                while event is not None:
                    theirs = False
                    request.first()
                    if getattr(event, "type", None) in _ENDS:
                        self._used(request, field_of(field_of(event, "response"), "usage"))
                    if heard:
                        await heard.take(event)
                    yield event
                    theirs = True
                    event = await anext(events, None)
        except BaseException as error:
            if theirs and self._driven and isinstance(error, Exception):
                self._driven.trouble = error
            request.end(error)
            raise
        if heard and not heard.whole:
            request.failed(_BROKE_OFF)
        request.end()

    async def whole(self, unheld: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - the framework's
        heard, request = await self._begin()
        try:
            with request.inside():
                answer = await unheld()
        except BaseException as error:
            request.end(error)
            raise
        self._used(request, answer.usage)
        request.end()
        if heard:
            await heard.asks(answer.output)
        return answer

    async def _begin(self) -> tuple[ModelAnswer | None, ModelRequest]:
        heard = None
        if (own := self._driven) is None:
            await self._run.may(_WHAT)
        else:
            with given_up():
                await self._run.may(_WHAT)
            heard = own.heard = ModelAnswer(own, whose_of(self._model))
            own.trouble = None
        return heard, self._run.asks_model(name_of(self._model), provider_of(self._model))

    def _used(self, request: ModelRequest, usage: Any) -> None:  # noqa: ANN401 - the framework's
        if usage is None:
            return
        name, asked, answered = name_of(self._model), usage.input_tokens, usage.output_tokens
        if asyncio.get_running_loop() is self._run.loop:
            request.used(asked, answered)
            return
        request.cost(asked, answered, "")
        self._run.costs_soon(name, asked, answered)


def _streamed(unheld: Callable[..., Any]) -> Callable[..., Any]:
    def stream(*, get_stream: Callable[[], Any], get_retry_advice: Any, **others: Any) -> Any:  # noqa: ANN401 - the framework's
        if (run := run_inside()) is not None:
            asking, own = _asking(run, get_retry_advice), get_stream
            get_stream = lambda: asking.stream(own)  # noqa: E731 - takes the place of theirs
        return unheld(get_stream=get_stream, get_retry_advice=get_retry_advice, **others)

    return stream


def _whole(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def whole(
        *,
        get_response: Callable[[], Any],
        get_retry_advice: Any,  # noqa: ANN401 - the framework's
        **others: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if (run := run_inside()) is not None:
            asking, own = _asking(run, get_retry_advice), get_response
            get_response = lambda: asking.whole(own)  # noqa: E731 - takes the place of theirs
        return await unheld(get_response=get_response, get_retry_advice=get_retry_advice, **others)

    return whole


def _asking(run: ForFrameworks, advice: object) -> _Asking:
    return _Asking(run, driven_here(), getattr(advice, "__self__", None))


def _finished(unheld: Callable[..., Any]) -> Callable[..., Any]:
    """Chat completions that end without a reason to have broken off, whoever sends them."""

    def handle_stream(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the framework's
        own = {"require_finish_reason": True} if run_inside() is not None else {}
        return unheld(*args, **{**kwargs, **own})

    return handle_stream


_LOOP = "agents.run_internal.run_loop"
REQUESTS = (
    HeldName(_LOOP, "stream_response_with_retry", ("get_stream", "get_retry_advice"), _streamed),
    HeldName(_LOOP, "get_response_with_retry", ("get_response", "get_retry_advice"), _whole),
    HeldName(
        "agents.models.chatcmpl_stream_handler:ChatCmplStreamHandler",
        "handle_stream",
        ("response", "stream", "require_finish_reason"),
        _finished,
    ),
)
