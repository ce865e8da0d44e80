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
from lastword.runtime.framework import run_inside
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


class Steps:
    """How many steps there were, and what is done right before the k-th."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self._left = at
        self._act = act

    def one(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._act()


class Stepped:
    """A coroutine whose steps are counted."""

    def __init__(self, work: Coroutine[Any, Any, Any], steps: Steps) -> None:
        self._work = work
        self._steps = steps

    def __await__(self) -> Generator[Any, Any, Any]:
        send: Callable[[], Any] = lambda: self._work.send(None)  # noqa: E731 - replaced below
        while True:
            self._steps.one()
            try:
                waits_for = send()
            except StopIteration as ended:
                return ended.value
            try:
                given = yield waits_for
                send = lambda given=given: self._work.send(given)  # noqa: E731
            except BaseException as error:  # noqa: BLE001 - it is handed on to the coroutine
                send = lambda error=error: self._work.throw(error)  # noqa: E731


class StopAt:
    """An engine that is stopped right before the k-th step of its first run.

    A framework may do its work in `tasks` of its own: then theirs are counted too.
    """

    def __init__(self, engine: Engine, at: int, *, tasks: bool = False) -> None:
        self.sprung = False
        self.stop: Callable[[], object] = bool
        self._engine = engine
        self._steps = Steps(at, self._spring)
        self._tasks = tasks

    async def __call__(self, run: Run) -> None:
        work = _as_coroutine(self._engine(run))
        if run.id != "s#1":
            await work
            return
        loop = asyncio.get_running_loop()
        if self._tasks:
            loop.set_task_factory(self._started)
        try:
            await Stepped(work, self._steps)
        finally:
            loop.set_task_factory(None)

    def _started(self, loop: Any, work: Any, **kwargs: Any) -> asyncio.Task[Any]:
        run = run_inside()
        if not isinstance(run, Run) or run.id != "s#1":
            return asyncio.Task(work, loop=loop, **kwargs)
        stepped = _awaited(Stepped(work, self._steps))
        task: asyncio.Task[Any] = asyncio.Task(stepped, loop=loop, **kwargs)
        task.add_done_callback(lambda _: work.close())  # if it was cancelled before its first step
        return task

    def _spring(self) -> None:
        self.sprung = True
        self.stop()


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


async def _as_coroutine(work: Awaitable[None]) -> None:
    await work
