"""What an agent of pydantic-ai costs in processes of its own: memory, a turn, a program's start.

Its agent and its client are made when this is imported, before the fork.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bench.isolated_sides import Took, mostly, quick, timed
from lastword import Engine, FeedEvent, Outcome, Run, Runtime, Ticket
from lastword.engines.isolated import Isolated
from lastword.engines.pydantic_ai import PydanticAI
from lastword.processes.inside.family import Procfs
from lastword.testing.provider import Provider

TURNS, TIMES = 20, 5
_URL = "LASTWORD_BENCH_URL"
_ME = "bench.isolated_agent:engine"
_client = AsyncOpenAI(base_url=os.environ.get(_URL, "http://127.0.0.1:9/v1"), api_key="k")
_agent = PydanticAI(
    Agent(OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=_client)))
)


async def engine(run: Run) -> None:
    """Waits, or asks its model."""
    if run.message.text == "waits":
        await run.emit("here")
        await asyncio.Event().wait()
    await _agent(run)


def memory(pids: set[int]) -> int:
    """Bytes, each page counted once (PSS)."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


def below() -> set[int]:
    """All that descend from this process."""
    proc = Procfs()
    try:
        return {kin.pid for kin in proc.descendants(proc.me)}
    finally:
        proc.close()


class Heard:
    """What is said, as it comes."""

    def __init__(self) -> None:
        self.words = asyncio.Queue[str]()

    async def hear(self, event: FeedEvent) -> None:
        if event.kind == "text":
            self.words.put_nowait(event.text)


async def _memory(many: int) -> None:
    heard = Heard()
    async with Runtime(Isolated(_ME, warm=0), sink=heard.hear) as runtime:
        await runtime.session("first").send("waits")
        await heard.words.get()
        was = memory(below())
        for n in range(many):
            await runtime.session(f"s{n}").send("waits")
        for _ in range(many):
            await heard.words.get()
        each = (memory(below()) - was) / many
        await runtime.stop_all()
    what = f"memory of a run of pydantic-ai that waits, of {many}"
    print(f"{what:<59} {each / 2**20:9.1f} MB              goal 12")


@asynccontextmanager
async def _opened(made: Engine, heard: Heard) -> AsyncGenerator[Runtime]:
    async with Runtime(made, sink=heard.hear) as runtime:
        await (await runtime.session("first").send("hello")).outcome()
        await heard.words.get()
        yield runtime


async def _turn(runtime: Runtime, heard: Heard, name: str) -> Took:
    """From a message to the first word of the model."""

    async def first_word() -> None:
        tickets.append(await runtime.session(name).send("hello"))
        await heard.words.get()

    tickets: list[Ticket] = []
    took = await timed(first_word)
    if await tickets[0].outcome() != Outcome.COMPLETED:
        raise RuntimeError(tickets[0].error)
    await asyncio.sleep(0.3)  # until those that are kept ready are
    while not heard.words.empty():
        heard.words.get_nowait()
    return took


async def _turns(provider: Provider) -> None:
    provider.always(lambda _: "Hello.")
    heard = Heard()
    async with _opened(engine, heard) as here, _opened(Isolated(_ME), heard) as there:
        sides: tuple[list[Took], list[Took]] = ([], [])
        for n in range(TURNS):
            for runtime, side in zip((here, there), sides, strict=True):
                side.append(await _turn(runtime, heard, f"s{n}"))
    for what, of in (
        ("first word of its model, ready", quick),
        ("  with what is stood in line", mostly),
    ):
        one, two = map(of, sides)
        print(f"{what:<46} {1e3 * one:9.2f} ms {1e3 * two:9.2f} ms {two / one:7.2f} x")


def _start(imports: str) -> float:
    """Seconds of processor that a program needs until it has them."""
    took: list[float] = []
    for _ in range(TIMES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", imports], check=True)  # noqa: S603 - ours
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(took)


async def agent_costs(many: int) -> None:
    """All of it."""
    await _memory(many)
    async with Provider() as provider:
        os.environ[_URL] = f"{provider.url}/v1"
        _client.base_url = f"{provider.url}/v1"
        await _turns(provider)
    server = "import lastword.server.serve"
    with_agent = await asyncio.to_thread(_start, f"{server}, lastword.agent.assistant")
    without = await asyncio.to_thread(_start, f"{server}, lastword.engines.isolated")
    what, both = "CPU until a server has its agent, or none", (with_agent, without)
    one, two = (f"{1e3 * took:9.0f} ms" for took in both)
    print(f"{what:<46} {one} {two} {without / with_agent:7.2f} x")
