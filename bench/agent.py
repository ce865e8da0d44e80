"""A stop, a takeover and a token of an agent that streams, beside bare pydantic-ai."""

from __future__ import annotations

import asyncio
import gc
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import Protocol, TypeAlias

from openai import AsyncOpenAI
from pydantic_ai import Agent, CancellationToken
from pydantic_ai.exceptions import RunCancelled
from pydantic_ai.messages import (
    ModelMessage,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bench.talker import EVERY, FLOOD, Reports, talker
from bench.turns import heading, quantile, row
from lastword.core.story import FeedEvent
from lastword.engines.pydantic_ai import PydanticAI
from lastword.runtime.runtime import Runtime
from lastword.runtime.session import Session

TRIES = 200
HEARD = 5  # tokens, before somebody has heard enough
ROUNDS = 5  # of the best of three
STARTS = 15
OURS, BARE = "lastword", "bare pydantic-ai"
MOST = {"p50": 0.5, "p99": 0.99}


async def main() -> None:
    async with (
        talker() as (url, provider),
        AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client,
    ):
        agent = Agent(OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client)))
        async with Runtime(PydanticAI(agent), sink=hear) as runtime:
            numbers = count()
            sides: dict[str, Make] = {
                OURS: lambda: Ours(runtime.session(f"s{next(numbers)}")),
                BARE: lambda: Bare(agent),
            }
            await stops(sides, provider)
            await takeovers(sides, provider)
        await tokens(agent)
    starts()


# the two sides


class Heard:
    """What came out, word by word, and when."""

    def __init__(self) -> None:
        self.words: list[tuple[float, str]] = []
        self._more = asyncio.Event()

    def __call__(self, word: str) -> None:
        self.words.append((time.monotonic(), word))
        self._more.set()

    async def enough(self, of: str, times: int) -> float:
        """When so many of these had been heard."""
        while len(when := [at for at, word in self.words if word == of]) < times:
            self._more.clear()
            await self._more.wait()
        return when[times - 1]

    def after(self, moment: float) -> int:
        return sum(at > moment for at, _ in self.words)


class Talk(Protocol):
    """One conversation, in which an answer is being streamed."""

    heard: Heard

    async def begin(self) -> None: ...

    async def stop(self) -> None: ...

    async def take_over(self) -> None: ...


Make: TypeAlias = Callable[[], Talk]
talks: dict[str, Heard] = {}


def hear(event: FeedEvent) -> None:
    if event.kind == "text":
        talks[event.session](event.text)


class Ours:
    """A session."""

    def __init__(self, session: Session) -> None:
        self.heard = talks[session.id] = Heard()
        self._session = session

    async def begin(self) -> None:
        await self._session.send("talk")

    async def stop(self) -> None:
        receipt = await self._session.stop()
        if not (receipt.runs and receipt.quiet):
            raise AssertionError(receipt)

    async def take_over(self) -> None:
        await self._session.send("again")


@dataclass
class Bare:
    """The same by hand: a task, a token for it, and what it had said when it was cancelled."""

    agent: Agent[None, str]
    heard: Heard = field(default_factory=Heard)
    token: CancellationToken = field(default_factory=CancellationToken)
    task: asyncio.Task[None] | None = None
    said: list[ModelMessage] = field(default_factory=list[ModelMessage])

    async def begin(self) -> None:
        self._start("talk")

    async def stop(self) -> None:
        self.token.cancel()
        try:
            if self.task:
                await self.task
        except RunCancelled as cancelled:
            self.said = cancelled.all_messages()

    async def take_over(self) -> None:
        await self.stop()
        self._start("again")

    def _start(self, text: str) -> None:
        self.token = CancellationToken()
        self.task = asyncio.create_task(
            by_hand(self.agent, text, self.heard, token=self.token, said=self.said)
        )


async def by_hand(
    agent: Agent[None, str],
    text: str,
    hear: Callable[[str], object],
    *,
    token: CancellationToken | None = None,
    said: Iterable[ModelMessage] = (),
) -> None:
    """What the engine does, with none of the promise."""
    async with agent.iter(text, message_history=[*said], cancellation_token=token) as run:
        node = run.next_node
        while not Agent.is_end_node(node):
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as events:
                    async for event in events:
                        match event:
                            case (
                                PartStartEvent(part=TextPart(content=word))
                                | PartDeltaEvent(delta=TextPartDelta(content_delta=word))
                            ) if word:
                                hear(word)
                            case _:
                                pass
            node = await run.next(node)


# a stop


Took: TypeAlias = dict[str, list[float]]


def nothing_yet(sides: Mapping[str, object]) -> Took:
    return {name: [] for name in sides}


async def streaming(make: Make) -> Talk:
    talk = make()
    await talk.begin()
    await talk.heard.enough("old ", HEARD)
    await asyncio.sleep(EVERY * 10 * random.random())  # noqa: S311 - no secret
    return talk


async def in_turns(sides: Mapping[str, Make], once: Callable[[str, Talk], Awaitable[None]]) -> None:
    """Each side has its try, one after the other, nobody always first."""
    gc.collect()
    for number in range(TRIES):
        for name in sorted(sides, reverse=bool(number % 2)):
            await once(name, await streaming(sides[name]))


async def stops(sides: Mapping[str, Make], provider: Reports) -> None:
    closed, over, sent, late, gaps = (nothing_yet(sides) for _ in range(5))

    async def once(name: str, talk: Talk) -> None:
        began = time.monotonic()
        await talk.stop()
        over[name].append(time.monotonic() - began)
        left = await provider()
        closed[name].append(left.closed_at - began)
        sent[name].append(left.sent_after(began))
        late[name].append(talk.heard.after(began))
        gaps[name].append((left.sent_at[-1] - left.sent_at[0]) / (len(left.sent_at) - 1))

    await in_turns(sides, once)
    rate = 1 / median(gaps[OURS])
    heading(f"a stop of an agent whose provider sends {rate:.0f} tokens a second ({TRIES} each)")
    beside("to the provider's connection closed", closed)
    beside("to the receipt; bare, to the end of its task", over)
    for name in sides:
        many = f"{mean(sent[name]):.2f} (p99 {quantile(sent[name], 0.99):.0f})"
        number(f"tokens sent after it, on average: {name}", many)
    for name in sides:
        number(f"tokens heard after it, in all: {name}", f"{sum(late[name]):.0f}")


def beside(what: str, took: Took) -> None:
    for part, value in MOST.items():
        bare = quantile(took[BARE], value)
        row(f"{part} {what}", quantile(took[OURS], value), (BARE, bare))
        row(f"{part} the same: {BARE}", bare)


def number(name: str, value: str) -> None:
    print(f"  {name:<52}{value:>16}")


async def takeovers(sides: Mapping[str, Make], provider: Reports) -> None:
    first, late = nothing_yet(sides), nothing_yet(sides)

    async def once(name: str, talk: Talk) -> None:
        began = time.monotonic()
        await talk.take_over()
        first[name].append(await talk.heard.enough("new ", 1) - began)
        late[name].append(sum(at > began and word == "old " for at, word in talk.heard.words))
        await talk.stop()
        for _ in range(2):
            await provider()

    await in_turns(sides, once)
    heading(f"a takeover ({TRIES} each)")
    beside("to the first token of the new answer", first)
    for name in sides:
        number(f"tokens of the old answer heard after it: {name}", f"{sum(late[name]):.0f}")


# a token


async def no_sink(_event: FeedEvent) -> None:
    pass


async def tokens(agent: Agent[None, str]) -> None:
    """What this process does for each token, from the socket on."""
    async with AsyncExitStack() as stack:
        feed = await stack.enter_async_context(Runtime(PydanticAI(agent)))
        sink = await stack.enter_async_context(Runtime(PydanticAI(agent), sink=no_sink))
        sides: dict[str, Callable[[], Awaitable[object]]] = {
            BARE: lambda: by_hand(agent, "flood", list[str]().append),
            "lastword, into the feed": lambda: flooded(feed),
            "lastword, to an async sink": lambda: flooded(sink),
        }
        took = nothing_yet(sides)
        for _ in range(ROUNDS):
            tries = [{name: await worked(side) for name, side in sides.items()} for _ in range(3)]
            for name in sides:
                took[name].append(min(one[name] for one in tries))
    heading(
        f"a token of an answer of {FLOOD:,}: processor time, from the socket to whoever hears it"
    )
    for name in sides:
        row(name, median(took[name]), (BARE, median(took[BARE])))


async def worked(side: Callable[[], Awaitable[object]]) -> float:
    """Seconds for each token, of all threads here; the provider has a process of its own."""
    gc.collect()
    began = time.process_time()
    await side()
    return (time.process_time() - began) / FLOOD


async def flooded(runtime: Runtime) -> None:
    session = runtime.session(f"s{random.random()}")  # noqa: S311 - no secret
    ticket = await session.send("flood")
    if await ticket.outcome() != "completed":
        raise AssertionError(ticket.error)


# the first moment


def starts() -> None:
    """From nothing: Python, and then whatever it imports."""
    python, nothing = sys.executable, "python -c pass"
    commands = {
        nothing: [python, "-c", "pass"],
        "python -c 'import lastword'": [python, "-c", "import lastword"],
        "lastword --help": [str(Path(python).with_name("lastword")), "--help"],
        "python -c 'import pydantic_ai'": [python, "-c", "import pydantic_ai"],
    }
    took: Took = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            began = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
            took[name].append(time.monotonic() - began)
    heading(f"from nothing ({STARTS} each, the median)")
    for name in commands:
        row(name, median(took[name]), (nothing, median(took[nothing])))
