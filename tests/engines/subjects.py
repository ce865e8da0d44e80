"""Every kind of engine, told what to do by the same script; a new one is one more entry.

The contract (`test_contract.py`), a stop at every step (`test_stop_anywhere.py`) and stops at
random (`test_random_stops.py`) are told in these words. Who adds an engine writes what opens it,
and enters that in `SCRIPTED`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Protocol, TypeAlias

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent

from lastword import Engine, Run
from lastword.engines.anthropic import Anthropic
from lastword.engines.function import function
from lastword.engines.kit import Compaction
from lastword.engines.openai import OpenAI, OpenAIResponses
from lastword.engines.pydantic_ai import PydanticAI
from lastword.errors import EngineFailed
from lastword.testing.provider import Answer, Call, Provider
from lastword.testing.provider.script import Part
from tests.engines.wire import FORMATS, model

Tool: TypeAlias = Callable[..., Any]


class Subject(Protocol):
    """What a story asks of an engine, whichever it is."""

    @property
    def engine(self) -> Engine: ...

    @property
    def steered(self) -> list[str]:
        """What it was told while it worked."""
        ...

    def answer(self, *parts: Part | str, paced: bool = False) -> Answer: ...

    def fail(self) -> None: ...

    def tool(self, tool: Tool) -> None: ...


class Plain:
    """A function or a generator that plays the script by itself."""

    def __init__(self, kind: str) -> None:
        self.engine = function(self._talk if kind == "generator" else self._say)
        self.steered: list[str] = []
        self._script: deque[Answer | None] = deque()
        self._tools: dict[str, Tool] = {}

    def answer(self, *parts: Part | str, paced: bool = False) -> Answer:
        self._script.append(Answer(*parts, paced=paced))
        return self._script[-1] or Answer()

    def fail(self) -> None:
        self._script.append(None)

    def tool(self, tool: Tool) -> None:
        self._tools[tool.__name__] = tool

    async def _say(self, run: Run) -> None:
        async for text in self._talk(run):
            await run.emit(text)

    async def _talk(self, run: Run) -> AsyncIterator[str]:
        calls = True
        while calls:
            self.steered += [message.text for message in await run.steering()]
            answer = self._script.popleft()
            if answer is None:
                raise EngineFailed("scripted to fail")
            for part in answer.parts:
                if isinstance(part, Call):
                    await run.call(self._tools[part.name], **part.arguments)
                    continue
                for chunk in part.chunks:
                    await answer.turn()
                    yield chunk
                    answer.left()
            answer.end()
            calls = bool(answer.calls)


class Scripted:
    """An engine whose provider plays the script."""

    def __init__(self, provider: Provider, engine: Engine, add: Callable[[Tool], object]) -> None:
        self.provider = provider
        self.engine = engine
        self._add = add

    def tool(self, tool: Tool) -> None:
        self._add(tool)

    @property
    def steered(self) -> list[str]:
        return [self.provider.requests[-1].prompt]

    def answer(self, *parts: Part | str, paced: bool = False) -> Answer:
        return self.provider.answer(*parts, paced=paced)

    def fail(self) -> None:
        self.provider.fail(500, "scripted to fail")


@asynccontextmanager
async def plain(kind: str) -> AsyncGenerator[Plain]:
    """A function of the test's own."""
    yield Plain(kind)


@asynccontextmanager
async def pydantic_ai(format: str) -> AsyncGenerator[Scripted]:
    """A pydantic-ai agent."""
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)
        yield Scripted(provider, PydanticAI(agent), agent.tool_plain)
        assert provider.refused == []


@asynccontextmanager
async def sdk_loop(format: str, compaction: Compaction | None = None) -> AsyncGenerator[Scripted]:
    """A loop over a provider's own client."""
    tools: list[Tool] = []

    def given(_: Run) -> list[Tool]:
        return tools

    async with Provider() as provider:
        if format == "anthropic":
            url = provider.url
            async with AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
                thinks = {"type": "adaptive"}
                own = Anthropic(
                    client, "claude-opus-4-8", tools=given, compaction=compaction, thinking=thinks
                )
                yield Scripted(provider, own, tools.append)
        else:
            url = f"{provider.url}/v1"
            kind = OpenAI if format == "chat" else OpenAIResponses
            async with AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
                own = kind(client, "gpt-5", tools=given, compaction=compaction)
                yield Scripted(provider, own, tools.append)
        assert provider.refused == []


PLAIN = {kind: partial(plain, kind) for kind in ("function", "generator")}
SCRIPTED: dict[str, Callable[[], AbstractAsyncContextManager[Scripted]]] = {
    **{f"pydantic-ai {spoken}": partial(pydantic_ai, spoken) for spoken in FORMATS},
    **{f"sdk {spoken}": partial(sdk_loop, spoken) for spoken in FORMATS},
}
"""Engines that ask a scripted provider: these are stopped at random, too."""

SUBJECTS: Mapping[str, Callable[[], AbstractAsyncContextManager[Subject]]] = PLAIN | SCRIPTED


def subject(kind: str) -> AbstractAsyncContextManager[Subject]:
    """One of them, opened."""
    return SUBJECTS[kind]()
