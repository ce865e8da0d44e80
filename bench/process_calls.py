"""What a call in a process of its own costs, and how long much that it is given holds the loop."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import operator
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.process_cost import ROUNDS, Work, in_rounds, report
from bench.turns import duration, heading
from lastword.processes import Level, Processes, Warden
from lastword.processes.isolated import call, make, prepared

CALLS = 5
MUCH = 200 << 20
SCRIPT = Path(__file__).with_name("script_with_tools.py")
SPAWN = "multiprocessing, spawn"


def nothing() -> None:
    """A tool that is found in this module, which imports a good part of lastword."""


def given_back(thing: object) -> object:
    return thing


def anybody(_: Warden) -> Callable[[], None]:
    """A nursery's warden is lent to a run until it is ready; here there is none."""
    return lambda: None


async def warm(processes: Processes, tool: Callable[[], object]) -> Warden:
    """A warden in which the tool's module is there already."""
    work = await prepared(tool, (), {}, "tool")
    nursery = await processes.nursery(work.home, work.command.order, anybody)
    if nursery is None:
        raise AssertionError(processes.nurseries.unfit)
    return await processes.warden(nursery)


async def by_multiprocessing() -> None:
    process = multiprocessing.get_context("spawn").Process(target=nothing)
    process.start()
    process.join()


def first_of_a_run(processes: Processes) -> Work:
    async def side() -> None:
        warden = await warm(processes, nothing)
        await make(warden, await prepared(nothing, (), {}, "tool"))
        await warden.stop(0)

    return side


async def calls(kept: Mapping[Level, Processes]) -> None:
    """Of a function that does nothing."""
    sides: dict[str, Work] = {
        SPAWN: by_multiprocessing,
        "asyncio.to_thread": lambda: asyncio.to_thread(operator.add, 1, 2),
    }
    wardens: list[Warden] = []

    def calling(warden: Warden, tool: Callable[..., object], *args: object) -> Work:
        wardens.append(warden)
        return lambda: call(warden, tool, args, {}, name="tool")

    for level, processes in kept.items():
        sides |= {
            f"isolated, {level}": calling(await warm(processes, nothing), nothing),
            f"the first of a run, {level}": first_of_a_run(processes),
            f"its module not fit for forks, {level}": calling(await processes.warden(), nothing),
            f"of Python's own, {level}": calling(await processes.warden(), operator.add, 1, 2),
        }
    took = await in_rounds(sides, CALLS)
    for warden in wardens:
        await warden.stop(0)
    heading(f"a call of a tool in a module ({ROUNDS} rounds of {CALLS}; goal: at most 20 ms)")
    report(took, SPAWN)


def in_a_script() -> None:
    """Of a tool in the script itself, which is run anew for this."""
    with TemporaryDirectory() as folder:
        runs = Path(folder, "runs")
        words = [sys.executable, SCRIPT, runs]
        done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 - our own
        times = len(runs.read_text(encoding="utf-8").split()) - 1  # the first was the person's
    took = json.loads(done.stdout)
    heading("calls of a tool in a script that takes half a second to run (goal: it is run once)")
    print(f"  the script was run {times} times for {took['calls']} calls")
    print(f"  the first call {duration(took['first'])}, the others {duration(took['others'])}")


async def much(processes: Processes) -> None:
    """The longest that the loop's thread was at work without a turn of the loop."""
    heading("200 MB to a tool and back: the longest that the loop was held, in its thread's time")
    things = {"in one piece": os.urandom(1 << 20) * (MUCH >> 20), "a million": [*range(1_000_000)]}
    warden = await processes.warden()
    for name, thing in things.items():
        longest, began = 0.0, time.perf_counter()
        calling = asyncio.create_task(call(warden, given_back, (thing,), {}, name="tool"))
        while not calling.done():
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)
        if calling.result() != thing:
            raise AssertionError(name)
        whole = time.perf_counter() - began
        print(f"  {name:<20}{duration(longest):>11} of {duration(whole)} in all")
    await warden.stop(0)
