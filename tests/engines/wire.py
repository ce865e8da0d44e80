"""What the tests of engines share: real SDK clients, and a stop at any await of a run.

`Raw` stands in for servers that no script is made for: those that send what is no answer at all.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from typing import Any, Self, cast

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from lastword import Engine, Run
from lastword.testing.provider import Answer, Format, Provider
from lastword.testing.provider.formats import SPEECH
from lastword.testing.provider.marks import Marks

FORMATS = ["chat", "responses", "anthropic"]


@asynccontextmanager
async def model(
    provider: Provider | Raw, format: str, *, retries: int = 0
) -> AsyncGenerator[Model]:
    """A real client of the provider, in one of the wire formats."""
    if format == "anthropic":
        async with AsyncAnthropic(
            base_url=provider.url, api_key="k", max_retries=retries
        ) as client:
            own = AnthropicProvider(anthropic_client=client)
            thinks = AnthropicModelSettings(anthropic_thinking={"type": "adaptive"})
            yield AnthropicModel("claude-opus-4-8", provider=own, settings=thinks)
        return
    url = f"{provider.url}/v1"
    async with AsyncOpenAI(base_url=url, api_key="k", max_retries=retries) as client:
        kind = OpenAIChatModel if format == "chat" else OpenAIResponsesModel
        yield kind("gpt-5", provider=OpenAIProvider(openai_client=client))


class Raw:
    """A server that answers each request with these bytes, in turn, and hangs up."""

    def __init__(self, *answers: bytes, kind: str = "text/event-stream") -> None:
        self.url = ""
        self._answers = deque(answers)
        self._head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        [length] = re.findall(rb"content-length: (\d+)", head.lower())
        await reader.readexactly(int(length))
        writer.write(self._head.encode() + self._answers.popleft())
        writer.close()


def streamed(format: str, answer: Answer, *, ended: bool = True) -> bytes:
    """An answer as its provider streams it; or one that breaks off where it ought to end."""
    told = SPEECH[cast("Format", format)].stream(answer, {"model": "gpt-5"}, Marks("raw"))
    return b"".join([told.opening, *told.chunks, told.ending if ended else b""])


class Stepped:
    """A coroutine that does something of the test's right before its k-th step."""

    def __init__(self, work: Coroutine[Any, Any, None], at: int, act: Callable[[], object]) -> None:
        self._work = work
        self._at = at
        self._act = act

    def __await__(self) -> Generator[Any, Any, None]:
        steps = 0
        send: Callable[[], Any] = lambda: self._work.send(None)  # noqa: E731 - replaced below
        while True:
            steps += 1
            if steps == self._at:
                self._act()
            try:
                waits_for = send()
            except StopIteration:
                return
            try:
                given = yield waits_for
                send = lambda given=given: self._work.send(given)  # noqa: E731
            except BaseException as error:  # noqa: BLE001 - it is handed on to the coroutine
                send = lambda error=error: self._work.throw(error)  # noqa: E731


class StopAt:
    """An engine that is stopped right before the k-th step of its first run."""

    def __init__(self, engine: Engine, at: int) -> None:
        self.sprung = False
        self.stop: Callable[[], object] = bool
        self._engine = engine
        self._at = at

    async def __call__(self, run: Run) -> None:
        work = self._engine(run)
        if run.id != "s#1":
            await work
            return
        await Stepped(_as_coroutine(work), self._at, self._spring)

    def _spring(self) -> None:
        self.sprung = True
        self.stop()


async def _as_coroutine(work: Awaitable[None]) -> None:
    await work
