"""Where models are asked, wherever a node, a tool or a middleware does so; the check is there.

Around a model are retries, fallbacks and callbacks. So it is asked where the model's own class has
the code that writes to its provider, in the step in which that begins. A model in a node that is
not async blocks the thread of its node: what it streams is refused from the stop on, and a request
that does not stream ends with its answer, of which nothing is heard.
"""

# ruff: noqa: ANN401 - what the framework's methods take and give is anything

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, closing, nullcontext
from functools import wraps
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk, ChatResult, LLMResult

from lastword.engines.langgraph.asked import WHAT, GraphRequest, Purpose, aside, is_asking
from lastword.engines.langgraph.heard import HeardMessage
from lastword.engines.langgraph.seams import Kinds, hold, must_take
from lastword.engines.langgraph.talk import talk_here
from lastword.engines.langgraph.threads import must_not_block, on_its_loop, on_loop
from lastword.runtime.framework import ForFrameworks, run_inside

_SILENT = "nostream"  # the framework's tag for what is not for the person
_STRUCTURED = ("ls_structured_output_format", "structured_output_format")


def hold_models() -> None:
    """Hold every model that is asked inside of a run."""
    for name in ("_generate", "_agenerate", "_stream", "_astream"):
        must_take(BaseChatModel, name, "self", "messages", "kwargs")
    hold(BaseChatModel, "_should_stream", _streaming, "self", "async_api", "run_manager", "kwargs")
    hold(BaseChatModel, "agenerate", _apart, "self", "messages", "tags", "kwargs")
    hold(BaseChatModel, "generate", _apart_in_thread, "self", "messages", "tags", "kwargs")
    _MODELS.hold_all()


def _streaming(unheld: Callable[..., bool]) -> Callable[..., bool]:
    """What answers the person comes as it is said, unless the team has said otherwise."""

    @wraps(unheld)
    def _should_stream(self: BaseChatModel, **kwargs: Any) -> bool:
        run = run_inside()
        if run is not None:
            _MODELS.hold(type(self))
            if talk_here(run) is not None:
                kwargs = {"stream": True, **kwargs}
        return unheld(self, **kwargs)

    return _should_stream


def _apart(unheld: Callable[..., Awaitable[LLMResult]]) -> Callable[..., Awaitable[LLMResult]]:
    """What is asked is told apart: for the person, or for something else."""

    @wraps(unheld)
    async def agenerate(self: BaseChatModel, *args: Any, **kwargs: Any) -> LLMResult:
        if (run := run_inside()) is None or talk_here(run) is None:
            return await unheld(self, *args, **kwargs)
        purpose = Purpose(_is_silent(kwargs))
        token = aside.set(purpose)
        try:
            answered = await unheld(self, *args, **kwargs)
        finally:
            aside.reset(token)
        await on_its_loop(run, _told(run, purpose, answered))
        return answered

    return agenerate


def _apart_in_thread(unheld: Callable[..., LLMResult]) -> Callable[..., LLMResult]:
    @wraps(unheld)
    def generate(self: BaseChatModel, *args: Any, **kwargs: Any) -> LLMResult:
        if (run := run_inside()) is None or talk_here(run) is None:
            return unheld(self, *args, **kwargs)
        must_not_block(run, f"the model {type(self).__name__}", "`await model.ainvoke(...)`")
        purpose = Purpose(_is_silent(kwargs))
        token = aside.set(purpose)
        try:
            answered = unheld(self, *args, **kwargs)
        finally:
            aside.reset(token)
        on_loop(run, _told(run, purpose, answered))
        return answered

    return generate


async def _told(run: ForFrameworks, purpose: Purpose, answered: LLMResult) -> None:
    """An answer by its id; if a cache had it, the person is told it now."""
    talk = talk_here(run)
    if talk is None:
        return
    for generations in answered.generations:
        message: Any = getattr(generations[0], "message", None)
        if purpose.silent or not talk.speaks():
            talk.pass_over(call["id"] for call in message.tool_calls)
        elif purpose.told:
            talk.told(message, "")
        else:
            heard = HeardMessage(talk, "")
            await heard.take(message)
            await heard.end(message)


def _is_silent(kwargs: dict[str, Any]) -> bool:
    return _SILENT in (kwargs.get("tags") or ()) or any(kwargs.get(name) for name in _STRUCTURED)


# a model's own code


def _whole(unheld: Callable[..., Awaitable[ChatResult]]) -> Callable[..., Awaitable[ChatResult]]:
    @wraps(unheld)
    async def _agenerate(
        self: BaseChatModel, messages: Any, *args: Any, **kwargs: Any
    ) -> ChatResult:
        if (run := run_inside()) is None:
            return await unheld(self, messages, *args, **kwargs)
        if is_asking():
            await run.may(WHAT)
            return await unheld(self, messages, *args, **kwargs)
        with GraphRequest(run, self, kwargs) as asked:
            result = None
            while result is None or asked.going:
                given = await on_its_loop(run, asked.begin(messages))
                await run.may(WHAT)
                try:
                    with asked.telling():
                        result = await unheld(self, given, *args, **kwargs)
                    await on_its_loop(run, asked.answered(result))
                except Exception as error:
                    if not await on_its_loop(run, asked.again(error)):
                        raise
        return result

    return _agenerate


def _pieces(
    unheld: Callable[..., AsyncIterator[ChatGenerationChunk]],
) -> Callable[..., AsyncIterator[ChatGenerationChunk]]:
    @wraps(unheld)
    def _astream(self: BaseChatModel, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        if (run := run_inside()) is None:
            return unheld(self, *args, **kwargs)
        if is_asking():
            return _checked(run, unheld(self, *args, **kwargs))
        return _streamed(run, unheld, self, *args, **kwargs)

    return _astream


async def _checked(
    run: ForFrameworks, pieces: AsyncIterator[ChatGenerationChunk]
) -> AsyncGenerator[ChatGenerationChunk]:
    await run.may(WHAT)
    async with _closing(pieces):
        async for piece in pieces:
            yield piece


async def _streamed(
    run: ForFrameworks,
    unheld: Callable[..., AsyncIterator[ChatGenerationChunk]],
    model: BaseChatModel,
    messages: Any,
    *args: Any,
    **kwargs: Any,
) -> AsyncGenerator[ChatGenerationChunk]:
    with GraphRequest(run, model, kwargs) as asked:
        while asked.going:
            given = await on_its_loop(run, asked.begin(messages))
            await run.may(WHAT)
            try:
                with asked.telling():  # it may be handed on to another right here
                    pieces = unheld(model, given, *args, **kwargs)
                async with _closing(pieces):
                    while (piece := await asked.next(pieces)) is not None:
                        if asked.note(piece):
                            await on_its_loop(run, asked.take(piece.message))
                        yield piece
                await on_its_loop(run, asked.end())
            except Exception as error:
                if not await on_its_loop(run, asked.again(error)):
                    raise


def _whole_in_thread(unheld: Callable[..., ChatResult]) -> Callable[..., ChatResult]:
    @wraps(unheld)
    def _generate(self: BaseChatModel, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        if (run := run_inside()) is None:
            return unheld(self, messages, *args, **kwargs)
        run.must_hold(WHAT)
        if is_asking():
            return unheld(self, messages, *args, **kwargs)
        with GraphRequest(run, self, kwargs) as asked:
            result = None
            while result is None or asked.going:
                given = asked.go(asked.begin(messages))
                run.must_hold(WHAT)
                try:
                    with asked.telling():
                        result = unheld(self, given, *args, **kwargs)
                    asked.go(asked.answered(result))
                except Exception as error:
                    if not asked.go(asked.again(error)):
                        raise
        return result

    return _generate


def _pieces_in_thread(
    unheld: Callable[..., Iterator[ChatGenerationChunk]],
) -> Callable[..., Iterator[ChatGenerationChunk]]:
    @wraps(unheld)
    def _stream(self: BaseChatModel, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        if (run := run_inside()) is None:
            return unheld(self, *args, **kwargs)
        run.must_hold(WHAT)
        if is_asking():
            return unheld(self, *args, **kwargs)
        return _streamed_in_thread(run, unheld, self, *args, **kwargs)

    return _stream


def _streamed_in_thread(
    run: ForFrameworks,
    unheld: Callable[..., Iterator[ChatGenerationChunk]],
    model: BaseChatModel,
    messages: Any,
    *args: Any,
    **kwargs: Any,
) -> Generator[ChatGenerationChunk]:
    if talk_here(run) is not None:
        must_not_block(run, f"the model {type(model).__name__}", "`model.astream(...)`")
    with GraphRequest(run, model, kwargs) as asked:
        while asked.going:
            given = asked.go(asked.begin(messages))
            run.must_hold(WHAT)
            try:
                with asked.telling():  # it may be handed on to another right here
                    pieces = unheld(model, given, *args, **kwargs)
                with closing(cast("Any", pieces)) if hasattr(pieces, "close") else nullcontext():
                    while (piece := asked.next_in_thread(pieces)) is not None:
                        run.must_hold(WHAT)
                        if asked.note(piece):
                            asked.go(asked.take(piece.message))
                        yield piece
                asked.go(asked.end())
            except Exception as error:
                if not asked.go(asked.again(error)):
                    raise


def _closing(pieces: AsyncIterator[Any]) -> Any:
    return aclosing(cast("Any", pieces)) if hasattr(pieces, "aclose") else nullcontext()


_MODELS = Kinds(
    BaseChatModel,
    {
        "_agenerate": _whole,
        "_astream": _pieces,
        "_generate": _whole_in_thread,
        "_stream": _pieces_in_thread,
    },
)
