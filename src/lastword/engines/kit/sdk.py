"""What the clients of providers have in common, which are made by one generator.

They stream, and they fail in the same ways. So an engine around one of them says only how it asks,
and what it hears; the rest is the loop's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from lastword.core.shown import Shown
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.declined import declined
from lastword.engines.kit.loop import Declining, HeardAnswer, Loop
from lastword.engines.kit.tools import FunctionTool, tools_of
from lastword.engines.kit.trouble import (
    BROKE_OFF,
    ModelFailed,
    error_in,
    no_answer,
    of_http,
    unreached,
)
from lastword.runtime.run import Run
from lastword.runtime.trace import ModelRequest

Given: TypeAlias = Callable[..., Any] | FunctionTool
_GARBLED = (AttributeError, TypeError, LookupError, ValueError)  # what reading a non-answer raises
_KINDS = ("type", "code", "status")
_BROKE_OFF = "broke_off"  # what it is counted as, if a provider says it inside of its stream


class Client(Protocol):
    """A provider's, at an address."""

    @property
    def base_url(self) -> object: ...


C = TypeVar("C", bound=Client)


class SdkEngine(ABC, Generic[C]):
    """An engine around a provider's own client. `settings` go with every request.

    `tools` are functions, or `FunctionTool`s, or what makes them for each run.
    """

    provider: ClassVar[str]  # as requests are counted and traced
    speaks: ClassVar[str]  # whose natives are given back to a provider at the same address
    errors: ClassVar[type[Exception]]  # the client's own
    usual: ClassVar[Mapping[str, Any]] = {}  # settings, where nobody says otherwise

    def __init__(
        self,
        client: C,
        model: str,
        *,
        tools: Iterable[Given] | Callable[[Run], Iterable[Given]] = (),
        instructions: str = "",
        compaction: Compaction | None = None,
        **settings: Any,  # noqa: ANN401 - the client's own
    ) -> None:
        self.client = client
        self.model = model
        self.instructions = instructions
        self.settings = {**self.usual, **settings}
        self.whose = f"{self.speaks} {client.base_url}"
        self._compaction = compaction
        self._make = tools if callable(tools) else None
        self._tools = {} if callable(tools) else tools_of(tools)

    @abstractmethod
    async def hear(
        self, talk: Sequence[Shown], tools: Sequence[FunctionTool], heard: HeardAnswer
    ) -> None:
        """Ask the model, and pass on what it answers."""

    @abstractmethod
    async def summarise(self, run: Run, text: str) -> str:
        """Ask it with nothing but this."""

    async def __call__(self, run: Run) -> None:
        tools = tools_of(self._make(run)) if self._make else self._tools
        history = run.history
        if self._compaction:
            beside = len(self.instructions) + sum(len(str(one.schema)) for one in tools.values())
            ask = partial(self.summarise, run)
            history = await self._compaction.shortened(run, ask, beside=beside)

        async def ask_for(talk: Sequence[Shown], heard: HeardAnswer) -> None:
            try:
                await self._hear(talk, list(tools.values()), heard)
            except self.errors as error:
                raise self.failed(error, heard) from error
            except Exception as error:
                if told := self._unread(error, heard):
                    raise told from error
                raise

        await Loop(run, tools, self.whose)(history, ask_for)

    async def _hear(
        self, talk: Sequence[Shown], tools: Sequence[FunctionTool], heard: HeardAnswer
    ) -> None:
        """Ask it, as one request that is told of."""
        broken = None
        with self.request(heard.run) as heard.request:
            try:
                await self.hear(talk, tools, heard)
            except Declining as declining:
                heard.request.failed(_BROKE_OFF)
                broken = declining
        if broken is not None:
            raise broken

    def request(self, run: Run) -> AbstractContextManager[ModelRequest]:
        """Around a request to the model."""
        return run.model_request(self.model, provider=self.provider)

    def _unread(self, error: Exception, heard: HeardAnswer) -> Declining | None:
        """What went wrong while an answer was read; None if it was something else that did."""
        if error is heard.own:
            return None
        if type(error).__module__.startswith("httpx"):  # the connection, in the middle
            return self.failed(error, heard)
        if heard.begun and isinstance(error, _GARBLED):
            kind = type(error).__name__
            return Declining(no_answer(kind, model=self.model, begun=heard.said), 0)
        return None

    def failed(self, error: Exception, heard: HeardAnswer) -> Declining:
        """An error of the client's, in words."""
        return declining(error, model=self.model, said=heard.said)

    def failed_with(self, code: str | None, message: str, heard: HeardAnswer) -> Declining:
        """An error that a provider tells of inside of its stream."""
        return broken(code, message, model=self.model, said=heard.said)


def declining(error: Exception, *, model: str, said: bool) -> Declining:
    """An error of a provider's client, in words; `said` if a part of the answer was told."""
    body = getattr(error, "body", None)
    status: int = getattr(error, "status_code", 0)
    if body is None and status < 400:
        why = str(error.__cause__ or error)
        return Declining(unreached(why, model=model, begun=said, failed=said), 0)
    fields = error_in(body)
    message = str(fields.get("message") or getattr(error, "message", "") or error)
    kinds = [kind for name in _KINDS if isinstance(kind := fields.get(name), str)]
    what = declined(status, kinds, message)
    if status < 400:  # it came inside of a stream
        return Declining(unreached(message, model=model, begun=said, failed=True), what)
    return Declining(of_http(status, message, model=model, begun=said), what)


def broken(code: str | None, message: str, *, model: str, said: bool) -> Declining:
    """An error that a provider tells of inside of its stream, in words."""
    told = unreached(message, model=model, begun=said, failed=True)
    return Declining(told, declined(0, [code or ""], message))


async def events(stream: AsyncIterable[Any], heard: HeardAnswer) -> AsyncIterator[Any]:
    """What a provider streams; from here on, what cannot be read is no answer."""
    heard.begun = True
    async for event in stream:
        heard.request.first()
        yield event


def broke_off(model: str, heard: HeardAnswer) -> Declining:
    """An answer ended, and its provider did not say that it does."""
    if not heard.said and not heard.wanted:
        return Declining(no_answer(model=model), 0)
    return Declining(ModelFailed(BROKE_OFF, BROKE_OFF), 0)
