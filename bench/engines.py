"""What a stop leaves of each framework, with its engine and without; and what a turn costs."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench import engines_claude, engines_start
from bench.engines_sides import SIDES, Pair
from bench.engines_trials import Ends, columns, trials
from bench.talker import CALLS, WORDS, talker
from bench.turns import heading, row
from lastword import Runtime
from tests.engines.subjects import HEAVY, SCRIPTED
from tests.scenarios import ROOT

ENDS, FEW = Ends(200, 50), Ends(22, 8)  # of each engine; of one that starts a program each time
TURNS, ROUNDS = 10, 7


async def main(*sizes: int, only: Collection[str] = ()) -> None:
    """`only` are names, or their beginnings, of engines, or `stops`, `costs` and `start`."""
    parts = {"stops": ended, "costs": costs, "start": engines_start.main}
    chosen = [name for name in parts if name in only] or [*parts]
    names = [one for one in only if one not in parts]
    for part in chosen:
        await parts[part](*sizes, only=names)


def is_one(name: str, only: Collection[str]) -> bool:
    """Whether it is asked for; all are, if none is named."""
    return not only or any(name.lower().startswith(one.lower()) for one in only)


async def ended(stops: int = 0, takeovers: int = 0, *, only: Collection[str] = ()) -> None:
    """Each engine is ended at random, and what a team writes without one."""
    heading("ended at random: stops and takeovers of each")
    columns()
    for name, opens in {**SCRIPTED, **HEAVY}.items():
        if is_one(name, only):
            usual = FEW if name in HEAVY else ENDS
            await trials(name, opens, Ends(stops, takeovers) if stops else usual)
    # by themselves in a process of their own: where an engine is, its framework is held
    for name in (*SIDES, "claude"):
        if is_one(name, only):
            usual = FEW if name in HEAVY else ENDS
            ends = Ends(stops, takeovers) if stops else usual
            argv = (sys.executable, "-m", "bench.engines_alone", name, *map(str, ends))
            alone = await asyncio.create_subprocess_exec(*argv)
            await alone.wait()


async def costs(turns: int = TURNS, _: int = 0, *, only: Collection[str] = ()) -> None:
    """Processor time of this process for a turn; the provider has one of its own."""
    heading(f"a turn of {WORDS} tokens and {CALLS} calls: processor time")
    async with talker() as (url, _reports):
        for name, opens in SIDES.items():
            if is_one(name, only):
                async with opens(url) as pair:
                    await cost(name, pair, turns)
    if is_one("claude", only):
        await engines_claude.main()


async def cost(name: str, pair: Pair, turns: int) -> None:
    with TemporaryDirectory(dir=ROOT / ".venv") as folder:
        async with AsyncExitStack() as stack:
            memory = await stack.enter_async_context(Runtime(pair.engine))
            store = f"sqlite:{Path(folder) / 'bench.db'}"
            sqlite = await stack.enter_async_context(Runtime(pair.engine, store=store))
            sides: dict[str, Callable[[], Awaitable[object]]] = {
                "alone": pair.alone,
                "held, memory": lambda: turn(memory),
                "held, SQLite": lambda: turn(sqlite),
            }
            took = await in_turns(sides, turns)
    for side, seconds in took.items():
        row(f"{name}, {side}", seconds, ("alone", took["alone"]))


async def in_turns(
    sides: Mapping[str, Callable[[], Awaitable[object]]], turns: int
) -> dict[str, float]:
    took: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        await side()  # the first is dearer, for everybody
    for number in range(ROUNDS):
        for name in sorted(sides, reverse=bool(number % 2)):
            began = time.process_time()
            for _ in range(turns):
                await sides[name]()
            took[name].append((time.process_time() - began) / turns)
    return {name: median(each) for name, each in took.items()}


async def turn(runtime: Runtime) -> None:
    session = runtime.session(f"s{random.random()}")  # noqa: S311 - no secret
    ticket = await session.send("work")
    if await ticket.outcome() != "completed":
        raise AssertionError(ticket.error)


if __name__ == "__main__":
    asyncio.run(main())
