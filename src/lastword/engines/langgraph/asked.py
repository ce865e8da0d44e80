"""One request to a model, from the check to the end of its answer, on the run's event loop.

It is counted and traced as one. If it is a part of the run's talk, what it is asked has the session
in it as the log has it, and what it answers is passed on. What a provider declined is asked again,
with less, as long as nothing of its answer has come that cannot be taken back.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from lastword.engines.kit.compaction import Summarise
from lastword.engines.kit.trouble import BROKE_OFF, ModelFailed
from lastword.engines.langgraph.heard import HeardMessage, reason_of
from lastword.engines.langgraph.history import whole
from lastword.engines.langgraph.prepared import known
from lastword.engines.langgraph.talk import GraphTalk, talk_here
from lastword.engines.langgraph.threads import on_loop
from lastword.engines.langgraph.trouble import declined_with, in_words
from lastword.runtime.checks import encodable
from lastword.runtime.framework import ForFrameworks

R = TypeVar("R")
T = TypeVar("T")
WHAT = "this request to the model"
_ADDRESSES = ("openai_api_base", "azure_endpoint", "anthropic_api_url", "base_url", "endpoint")
_TELL = ("openai-chat", "azure-openai-chat", "anthropic-chat")  # when an answer is all
_asking: ContextVar[bool] = ContextVar("lastword_asking", default=False)


@dataclass
class Purpose:
    """What is asked with another purpose than to answer the person."""

    silent: bool
    told: bool = False  # a model was asked; otherwise the answer was in a cache


aside: ContextVar[Purpose | None] = ContextVar("lastword_aside", default=None)


def is_asking() -> bool:
    """Whether this is a part of a request that is told of."""
    return _asking.get()


class GraphRequest:
    """One request."""

    def __init__(
        self, run: ForFrameworks, model: BaseChatModel, settings: Mapping[str, Any]
    ) -> None:
        purpose = aside.get()
        if purpose:
            purpose.told = True
        self._run = run
        self._model = model
        self._settings = settings
        self._talk = talk_here(run)
        self._speaks = self._talk is not None and self._talk.speaks()
        self._speaks = self._speaks and not (purpose and purpose.silent)
        self._whose = whose(model)
        self._heard: HeardMessage | None = None
        self.going = True  # it is to be asked, or once more
        self._firm = False  # something came that cannot be taken back
        self._reason = ""
        self._used = (0, 0)
        self._request = run.asks_model(*_named(model))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.over(error)

    async def begin(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """What the model is asked."""
        talk = self._talk
        if talk is None or not self._speaks:
            return whole(messages, lambda: known(self._run))
        self._heard = HeardMessage(talk, self._whose)
        talk.answers += 1
        if not talk.prepared.is_talk(messages):
            return whole(messages, lambda: known(self._run))
        return await talk.prepared.request(messages, self._whose, self._summarise)

    @property
    def go(self) -> Callable[[Coroutine[Any, Any, R]], R]:
        """How a thread has something done that is asked for here."""
        return partial(on_loop, self._run) if self._talk else _at_once

    @contextmanager
    def telling(self) -> Generator[None]:
        """Around what is done to have it answered."""
        token = _asking.set(True)
        try:
            with self._request.inside():
                yield
        finally:
            _asking.reset(token)

    async def next(self, pieces: AsyncIterator[T]) -> T | None:
        """A piece of the answer; None behind the last."""
        with self.telling():
            return await anext(pieces, None)

    def next_in_thread(self, pieces: Iterator[T]) -> T | None:
        """The same, where nothing is awaited."""
        with self.telling():
            return next(pieces, None)

    def note(self, answer: ChatGeneration) -> bool:
        """Take down what a piece of the answer costs and says of itself. Any thread may do so;
        whether there is more in it, to pass on."""
        self._request.first()
        message = answer.message
        if isinstance(message, AIMessage) and (usage := message.usage_metadata):
            asked, answered = self._used
            self._used = (asked + usage["input_tokens"], answered + usage["output_tokens"])
        self._reason = reason_of(answer) or self._reason
        calls = _calls_in(message)
        self._firm = self._firm or bool(calls)
        if self._talk and not self._speaks:
            self._talk.pass_over(calls)
        return self._heard is not None

    async def take(self, message: BaseMessage) -> None:
        """Pass on a piece of the answer."""
        if self._heard:
            self._heard.alone = self._heard.alone and self._is_alone()
            await self._heard.take(message)

    async def answered(self, result: ChatResult) -> None:
        """All of the answer has come at once."""
        answer = result.generations[0]
        self.note(answer)
        await self.take(answer.message)
        await self.end(cast("AIMessage", answer.message))

    async def end(self, message: AIMessage | None = None) -> None:
        """The answer is all there."""
        if message is None and self._reason == "" and _kind(self._model) in _TELL:
            raise ModelFailed(BROKE_OFF, BROKE_OFF)
        if self._heard and self._talk:
            await self._heard.end(message, self._reason)
            await self._talk.prepared.taken()
        self.going = False

    def over(self, error: BaseException | None = None) -> None:
        """It has ended. Any thread may say so."""
        self._leave()
        if any(self._used):
            self._request.cost(*self._used, "")
            self._run.costs_soon(self._request.what.model, *self._used)
            self._used = (0, 0)
        self._request.end(error)

    async def again(self, error: Exception) -> bool:
        """It failed; whether to ask once more, with less."""
        talk, said = self._talk, bool(self._heard and self._heard.said)
        if talk is None:
            return False
        told = in_words(error, self._request.what.model, begun=said)
        if told is not None:
            talk.failures.append((error, told))
        if self._heard is None or self._firm or not talk.prepared.less(declined_with(error)):
            return False
        self._request.failed("declined")
        self.over(error)
        if said:  # of an answer that was refused; it is no part of the next
            await talk.run.emit("\n\n")
        self._request = self._run.asks_model(*_named(self._model))
        return True

    def _leave(self) -> None:
        if self._heard and self._talk:
            self._talk.answers -= 1
            self._heard = None

    def _is_alone(self) -> bool:
        return self._talk is not None and self._talk.answers == 1

    def _summarise(self) -> tuple[Summarise, int]:
        """Who is asked for a summary, and how many letters go with each request."""

        async def ask(text: str) -> str:
            talk = cast("GraphTalk", self._talk)
            with talk.left():
                return (await self._model.ainvoke([HumanMessage(text)])).text

        return ask, len(str(self._settings.get("tools") or ""))


def _at_once(work: Coroutine[Any, Any, R]) -> R:
    """Do what waits for nothing."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast("R", done.value)
    work.close()
    raise RuntimeError("outside of a run's talk nothing is waited for")


def _calls_in(message: BaseMessage) -> set[str | None]:
    calls: Any = getattr(message, "tool_call_chunks", None) or getattr(message, "tool_calls", ())
    return {call["id"] for call in calls}


def whose(model: BaseChatModel) -> str:
    """Whose natives are given back: what a provider gave, to who is asked at the same address."""
    urls = [str(url) for name in _ADDRESSES if (url := getattr(model, name, None))]
    spoken = "responses" if getattr(model, "use_responses_api", None) else ""
    return " ".join(filter(None, ["langchain", _kind(model), spoken, *urls[:1]]))


def _kind(model: BaseChatModel) -> str:
    return str(getattr(model, "_llm_type", ""))


def _named(model: BaseChatModel) -> tuple[str, str]:
    """A model, and its provider, as whoever runs this calls them."""
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    provider = ""
    with suppress(Exception):  # it may be anybody's, and is asked for no more than a name
        provider = str(cast("Any", model)._get_ls_params().get("ls_provider") or "")  # noqa: SLF001
    return encodable(str(name or type(model).__name__)), encodable(provider)
