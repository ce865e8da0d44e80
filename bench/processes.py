"""What an owned process costs to start, and how soon a stop has seen the last one off."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import IO, TypeAlias

from bench import process_calls, process_cost
from bench.turns import heading, quantile, row, seconds
from lastword.errors import ProcessError
from lastword.processes import Level, Processes, Warden, command

TRUE = "/bin/true"
FIRSTS, STARTS = 60, 12
GIGABYTE = 1 << 30
PAGE = 4096
GRACE = 0.1
LONG = 10.0  # a grace that nobody is meant to need
POPEN = "Popen and wait"
MOST = {"p50": 0.5, "p99": 0.99}

Once: TypeAlias = Callable[[], Awaitable[object]]
Kept: TypeAlias = dict[Level, Processes]
Took: TypeAlias = dict[str, list[float]]


async def main() -> None:
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    async with levels() as kept:
        await process_cost.spawns(kept, "a small parent")
        touched = bytearray(GIGABYTE)
        touched[::PAGE] = b"\1" * len(range(0, GIGABYTE, PAGE))
        await process_cost.spawns(kept, "a parent of 1 GB")
        del touched
        some = next(iter(kept.values()))
        await process_cost.output(some)
        await process_calls.calls(kept)
        process_calls.in_a_script()
        await process_calls.much(some)
        await firsts(kept)
        await starts(list(kept))
        for tree in TREES:
            await deaths(kept, tree)
    print(f"load average {os.getloadavg()[0]:.1f}")


@asynccontextmanager
async def levels() -> AsyncGenerator[Kept]:
    """Those of the strict levels that can be had here."""
    kept: Kept = {}
    names: tuple[Level, ...] = ("sealed", "cgroup", "tree")
    for level in names:
        processes = Processes(level)
        try:
            await processes.start()
        except ProcessError as error:
            print(f"{level} is not measured: {error}")
            await processes.close()
        else:
            kept[level] = processes
    try:
        yield kept
    finally:
        for processes in kept.values():
            await processes.close()


async def interleaved(sides: Mapping[str, Once], times: int) -> Took:
    """Every single time that each side took, one after the other, nobody always first."""
    took: Took = {name: [] for name in sides}
    order = list(sides)
    for side in sides.values():
        await side()  # whatever is made once is made now
    gc.collect()
    for _ in range(times):
        for name in order:
            took[name].append(await seconds(sides[name]()))
        order = [*order[1:], order[0]]
    return took


def report(took: Mapping[str, list[float]], parts: Mapping[str, float], *beside: str) -> None:
    """Everything in a table, each beside whatever is named."""
    for part, value in parts.items():
        others = [(name, quantile(took[name], value)) for name in beside]
        for name, times in took.items():
            ratios = (other for other in others if other[0] != name)
            row(f"{part} {name}", quantile(times, value), *ratios)


# starting


def by_popen(*argv: str) -> Once:
    def started_and_waited_for() -> None:
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL) as process:  # noqa: S603 - our own
            process.wait()

    async def side() -> None:
        started_and_waited_for()

    return side


def spawning(warden: Warden) -> Once:
    async def side() -> None:
        process = await warden.spawn(command(TRUE))
        await process.wait()

    return side


async def firsts(kept: Kept) -> None:
    """The first process of a run, which has its warden made."""
    opened: list[Warden] = []

    def opening(processes: Processes, *, spawn: bool) -> Once:
        async def side() -> None:
            warden = await processes.warden()
            opened.append(warden)
            if spawn:
                await spawning(warden)()

        return side

    sides: dict[str, Once] = {POPEN: by_popen(TRUE)}
    for level, processes in kept.items():
        sides[f"a warden: {level}"] = opening(processes, spawn=False)
        sides[f"a warden, and a spawn in it: {level}"] = opening(processes, spawn=True)
    took = await interleaved(sides, FIRSTS)
    leaving = [await seconds(warden.stop(0)) for warden in opened]
    heading(f"the first process of a run ({FIRSTS} of each)")
    report(took, MOST, POPEN)
    row("p50 a warden with nothing in it leaves", quantile(leaving, 0.5))


async def starts(names: list[Level]) -> None:
    """The zygote and the self-test, once in the life of a runtime."""
    opened: list[Processes] = []

    def starting(level: Level) -> Once:
        async def side() -> None:
            processes = Processes(level)
            opened.append(processes)
            await processes.start()

        return side

    python = "python -I -S -c pass"
    sides: dict[str, Once] = {python: by_popen(sys.executable, "-I", "-S", "-c", "pass")}
    sides |= {f"zygote and self-test: {level}": starting(level) for level in names}
    took = await interleaved(sides, STARTS)
    leaving = [await seconds(processes.close()) for processes in opened]
    heading(f"before the first process of all ({STARTS} of each)")
    report(took, {"p50": 0.5}, python)
    row("p50 a zygote leaves", quantile(leaving, 0.5))


# ending


class Tree:
    """A shell that starts others; each says so on a pipe that all of them hold."""

    def __init__(self, name: str, size: int, script: str, *, rounds: int, grace: float) -> None:
        self.name = name
        self.size = size
        self.script = script
        self.rounds = rounds
        self.grace = grace
        self.obeys = "trap" not in script

    @property
    def least(self) -> float:
        """Seconds that cannot be spared: those that were granted, and used up."""
        return 0.0 if self.obeys else self.grace


FAMILY = "sleep 60 & sleep 60 & sleep 60 & echo; wait"
BRANCH = f"sh -c '{'sleep 60 & ' * 10}echo; wait' & "
TREES = (
    Tree("4 processes that obey", 4, FAMILY, rounds=120, grace=LONG),
    Tree("4 processes that ignore TERM", 4, f"trap '' TERM; {FAMILY}", rounds=50, grace=GRACE),
    Tree("100 processes that obey", 100, f"{BRANCH * 9}wait", rounds=30, grace=LONG),
    Tree(
        "100 processes that ignore TERM",
        100,
        f"trap '' TERM; {BRANCH * 9}wait",
        rounds=30,
        grace=GRACE,
    ),
)


async def deaths(kept: Kept, tree: Tree) -> None:
    """Stop one at each level, end one by hand, and so on in turns."""
    by_hand = "killpg by hand"
    took: Took = {f"stop, to the proof: {level}": [] for level in kept}
    took[by_hand] = []
    incomplete = 0
    for _ in range(tree.rounds):
        for level, processes in kept.items():
            seconds, named = await stopped(processes, tree)
            took[f"stop, to the proof: {level}"].append(seconds - tree.least)
            incomplete += named < tree.size
        took[by_hand].append(ended_by_hand(tree) - tree.least)
    over = "" if tree.obeys else f", beyond the grace of {tree.grace} s; goal: at most 20 ms"
    heading(f"{tree.name}: from the stop to the last one dead ({tree.rounds} of each{over})")
    report(took, {**MOST, "worst": 1.0}, by_hand)
    print(f"  reports that did not name everybody: {incomplete}")


async def stopped(processes: Processes, tree: Tree) -> tuple[float, int]:
    """How long it took, and how many were named."""
    warden = await processes.warden()
    process = await warden.spawn(command(shell=tree.script))
    said, wanted = 0, tree.script.count("echo")
    async for words in process.stdout:
        said += len(words)
        if said == wanted:
            break
    began = time.perf_counter()
    ending = await warden.stop(tree.grace)
    took = time.perf_counter() - began
    if not ending.proven:
        raise AssertionError(ending)
    return took, len(ending.processes)


def ended_by_hand(tree: Tree) -> float:
    """As everybody does: a group, TERM, a sleep, KILL; its pipe tells when the last has gone."""
    with subprocess.Popen(  # noqa: S603 - our own
        ["/bin/sh", "-c", tree.script], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        pipe = process.stdout
        if pipe is None:
            raise AssertionError
        read_some(pipe, tree.script.count("echo"))
        began = time.perf_counter()
        os.killpg(process.pid, signal.SIGTERM)
        if not tree.obeys:
            time.sleep(tree.grace)
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        pipe.read()
        return time.perf_counter() - began


def read_some(pipe: IO[bytes], count: int) -> None:
    if len(pipe.read(count)) != count:
        raise AssertionError
