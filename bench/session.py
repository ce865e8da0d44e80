"""What a turn costs after many, what an idle session takes, how soon a store full of them opens."""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias, cast

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from bench.session_rest import held, idle, large, reopening
from bench.turns import heading, row
from lastword.core.entries import Began, Called, Entry, Finished, Result, Said, Summary, Text
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    RunId,
    SessionId,
    Status,
)
from lastword.engines.pydantic_ai import Compaction, PydanticAI
from lastword.engines.pydantic_ai.history import messages_of
from lastword.runtime.run import Engine, Run
from lastword.runtime.runtime import Runtime
from lastword.stores.contract import Store, Write
from lastword.stores.memory import MemoryStore
from lastword.stores.sqlite import SqliteStore

HERE = Path(__file__).parent.parent  # on the disk that the repository is on
LEAST = 10
NAME = SessionId("bench")
ROUNDS, WARM = 15, 3
FEW, MANY = 4, 2_000  # rounds of what takes seconds: the turns of an agent after so many
PROFILED = 3
CODE, FRAMEWORK = "/lastword/", "/pydantic_ai/"
OURS, BARE = "lastword", "the same agent, bare, on the same messages"

Turn: TypeAlias = Callable[[], Awaitable[object]]


async def main(turns: int = 10_000, sessions: int = 10_000) -> None:
    sizes = sorted({LEAST, min(1_000, turns), turns})
    with tempfile.TemporaryDirectory(prefix="bench-", dir=HERE) as name:
        directory = Path(name)
        for what, store in (("memory", _memory), ("SQLite", _sqlite)):
            await plain(what, store, directory, sizes)
        await agents(directory, sizes)
        await compacted(directory, sizes)
        await idle(directory)
        await large(directory)
        await reopening(directory, sessions)


# a plain engine


async def plain(what: str, make: MakeStore, directory: Path, sizes: list[int]) -> None:
    """An engine that calls a tool and says a word."""
    heading(f"CPU of a turn with a call in it, {what}; a plain engine")
    took: dict[int, float] = {}
    for turns in sizes:
        async with long_session(simple, make(directory / f"plain-{turns}.db"), turns) as turn:
            took[turns] = (await cpu({OURS: turn}))[OURS]
            longest = await held(lambda turn=turn: several(turn))
        row(f"after {turns:,} turns", took[turns], (f"after {LEAST}", took[LEAST]))
        row("  the loop was held at most", longest)


async def simple(run: Run) -> None:
    await run.call(look, "here")
    await run.emit("It rains.")


async def look(where: str) -> str:
    return f"rain {where}"


# an agent


async def agents(directory: Path, sizes: list[int]) -> None:
    """The same with pydantic-ai; what the framework itself takes is taken off."""
    heading("CPU of a turn with a call in it; a pydantic-ai agent, no compaction")
    own: dict[int, float] = {}
    agent = weather()
    for turns in sizes:
        store = _sqlite(directory / f"agent-{turns}.db")
        async with long_session(PydanticAI(agent), store, turns) as turn:
            past = list(messages_of(await turn.history()))
            sides: dict[str, Turn] = {OURS: turn, BARE: lambda past=past: bare(agent, past)}
            took = await cpu(sides, rounds=FEW if turns > MANY else ROUNDS)
            longest = await held(lambda turn=turn: several(turn))
            alone = await held(lambda past=past: several(lambda: bare(agent, past)))
            own[turns] = await in_our_code(turn)
        row(f"after {turns:,} turns: the turn", took[OURS], (BARE, took[BARE]))
        row("  of it in lastword's code", own[turns], (f"after {LEAST}; goal: 1.5", own[LEAST]))
        row("  the loop was held at most", longest, ("bare", alone))


async def compacted(directory: Path, sizes: list[int]) -> None:
    """With a summary of all but the last turns, as compaction leaves it."""
    heading("CPU of the whole turn; a pydantic-ai agent, with compaction")
    took: dict[int, float] = {}
    engine = PydanticAI(weather(), compaction=Compaction())
    for turns in sizes:
        store = _sqlite(directory / f"compacted-{turns}.db")
        async with long_session(engine, store, turns, summary=True) as turn:
            took[turns] = (await cpu({OURS: turn}))[OURS]
        row(f"after {turns:,} turns", took[turns], (f"after {LEAST}; goal: 1.5", took[LEAST]))


def weather() -> Agent[None, str]:
    """An agent whose model looks once, and then says what it saw."""

    async def answer(
        messages: list[ModelMessage], _: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        last = messages[-1]
        if isinstance(last, ModelRequest) and isinstance(last.parts[-1], UserPromptPart):
            yield {0: DeltaToolCall("look", '{"where": "here"}', tool_call_id=f"c{len(messages)}")}
        else:
            yield "It rains."

    agent = Agent(FunctionModel(stream_function=answer))
    agent.tool_plain(look)
    return agent


async def bare(agent: Agent[None, str], past: list[ModelMessage]) -> None:
    asked = ModelRequest([UserPromptPart("And now?")])
    async with agent.iter(message_history=[*past, asked]) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as events:
                    async for _ in events:
                        pass


# the turns


class LongSession:
    """One more turn, each time it is called."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def __call__(self) -> None:
        ticket = await self._runtime.session(NAME).send("And now?")
        if await ticket.outcome() != Outcome.COMPLETED:
            raise AssertionError(ticket.error)

    async def history(self) -> Any:  # noqa: ANN401 - whatever a model is shown
        return await self._runtime.session(NAME).history()


MakeStore: TypeAlias = Callable[[Path], Store]


def _memory(_: Path) -> Store:
    return MemoryStore()


def _sqlite(path: Path) -> Store:
    return SqliteStore(path)


@asynccontextmanager
async def long_session(
    engine: Engine, store: Store, turns: int, *, summary: bool = False
) -> AsyncGenerator[LongSession]:
    async with Runtime(engine, store=store, stall_after=None) as runtime:
        await store.load(NAME)
        entries = [entry for number in range(1, turns + 1) for entry in turn_of(number)]
        if summary:
            entries.append(Summary("It rained.", RunId(f"{NAME}#{turns - LEAST // 2}")))
        write = Write(
            session=NAME, generation=Generation(2 * turns), serial=turns, entries=tuple(entries)
        )
        await store.commit(write)
        session = LongSession(runtime)
        for _ in range(WARM):
            await session()
        yield session


def turn_of(number: int) -> list[Entry]:
    run, message = RunId(f"{NAME}#{number}"), MessageId(f"m{number}")
    call = CallId(f"{run}.1")
    return [
        Said(Message(message, "What is the weather like?"), run),
        Began(run, Generation(number), (message,)),
        Called(run, call, "look", '{"where": "here"}'),
        Result(run, call, Status.COMPLETED, "rain here"),
        Text(run, "It rains, as it did yesterday."),
        Finished(run, Outcome.COMPLETED, (message,), started=True),
    ]


def stats_of(profile: cProfile.Profile) -> dict[Any, Any]:
    return cast("Any", pstats.Stats(profile)).stats


async def in_our_code(turn: Turn) -> float:
    """CPU seconds a time, on the loop, in lastword's functions and what they call of Python's.

    What a whole turn takes less what it takes bare would say the same, if both were not a hundred
    times as much after many turns. A profiler slows calls down; both sizes alike.
    """
    profile = cProfile.Profile(time.thread_time)
    for _ in range(PROFILED):
        profile.enable()
        await turn()
        profile.disable()
    took = 0.0
    for (file, _, _), (_, _, spent, _, callers) in stats_of(profile).items():
        if CODE in file:
            took += spent
        elif FRAMEWORK not in file:
            took += sum(edge[2] for (caller, _, _), edge in callers.items() if CODE in caller)
    return took / PROFILED


async def several(turn: Turn) -> None:
    for _ in range(WARM):
        await turn()


async def cpu(sides: dict[str, Turn], *, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds of CPU a time, all threads included: the median, in turns."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, turn in sides.items():
            began = time.process_time()
            await turn()
            await asyncio.sleep(0)
            took[name].append(time.process_time() - began)
    return {name: median(each) for name, each in took.items()}
