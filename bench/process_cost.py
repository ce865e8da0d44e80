"""What owned processes cost beside `subprocess.run` and `asyncio.create_subprocess_exec`.

Each figure is the median of five rounds, all sides in turns in each: in wall time, and in the
processor time of all processes, the keepers' and what they started included.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TypeAlias

from bench.turns import duration, heading
from lastword.processes import Level, Processes, Warden, command
from lastword.processes.inside.family import Procfs

ROUNDS = 5
TRUE = "/bin/true"
SPAWNS = 60
FLOOD = 256 << 20
WRITER = ("/bin/dd", "if=/dev/zero", f"count={FLOOD >> 20}", "bs=1M", "status=none")
RUN, EXEC = "subprocess.run", "asyncio.create_subprocess_exec"
FORK = "subprocess.run with a preexec_fn"

Work: TypeAlias = Callable[[], Awaitable[object]]


@dataclass
class Took:
    """What one side took, a round each."""

    wall: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])


def processor_time() -> float:
    """Seconds, of this process and of all that it has started, which live or were reaped."""
    reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
    proc = Procfs()
    try:
        living = sum(_spent(kin.pid) for kin in proc.descendants(os.getpid()))
    finally:
        proc.close()
    return time.process_time() + reaped.ru_utime + reaped.ru_stime + living


def _spent(pid: int) -> float:
    """Its own, by the nanosecond, and that of those whom it has reaped."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:  # noqa: PTH123
        fields = stat.read().rpartition(")")[2].split()
    own = time.clock_gettime((~pid << 3) | 2)  # the clock of another process
    return own + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


async def in_rounds(sides: Mapping[str, Work], times: int) -> dict[str, Took]:
    """So many times over in each round, every side in turns, nobody always first."""
    took = {name: Took() for name in sides}
    order = list(sides)
    for side in sides.values():
        await side()  # whatever is made once is made now
    for _ in range(ROUNDS):
        for name in order:
            gc.collect()
            cpu, wall = processor_time(), time.perf_counter()
            for _ in range(times):
                await sides[name]()
            took[name].wall.append((time.perf_counter() - wall) / times)
            took[name].cpu.append((processor_time() - cpu) / times)
        order = [*order[1:], order[0]]
    return took


def report(took: Mapping[str, Took], *beside: str) -> None:
    """Each side by its medians, as ratios to those that are named."""
    width = max(map(len, took)) + 1
    heads = "".join(f"   beside {other}" for other in beside)
    print(f"  {'':<{width}}{'wall':>10}{'CPU':>11}{heads}")
    for name, one in took.items():
        wall, cpu = median(one.wall), median(one.cpu)
        ratios = [
            f"   {f'x{wall / median(o.wall):.2f} x{cpu / median(o.cpu):.2f} CPU':<{7 + len(other)}}"
            for other in beside
            for o in (took[other],)
        ]
        line = f"  {name:<{width}}{duration(wall):>10}{duration(cpu):>11}{''.join(ratios)}"
        print(line.rstrip())


# starting


async def run() -> None:
    subprocess.run([TRUE], stdin=subprocess.DEVNULL, capture_output=True, check=True)  # noqa: S603, ASYNC221 - what it is measured beside


async def run_by_fork() -> None:
    """As whoever has to set limits or a death signal in the child has it: the parent is forked."""
    subprocess.run(  # noqa: S603, ASYNC221 - as above
        [TRUE],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        preexec_fn=int,
    )


async def by_asyncio(*argv: str) -> bytes:
    pipe = asyncio.subprocess.PIPE
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*argv, stdin=null, stdout=pipe, stderr=pipe)
    return (await process.communicate())[0]


def spawning(warden: Warden, *argv: str) -> Work:
    async def side() -> None:
        process = await warden.spawn(command(*argv))
        await process.communicate()

    return side


async def spawns(kept: Mapping[Level, Processes], parent: str) -> None:
    """A program that does nothing: started, read to the end, and waited for."""
    wardens = {level: await processes.warden() for level, processes in kept.items()}
    sides: dict[str, Work] = {RUN: run, FORK: run_by_fork, EXEC: lambda: by_asyncio(TRUE)}
    sides |= {f"spawn, {level}": spawning(warden, TRUE) for level, warden in wardens.items()}
    took = await in_rounds(sides, SPAWNS)
    for warden in wardens.values():
        await warden.stop(0)
    heading(f"a warm spawn of {TRUE} with two pipes, {parent} ({ROUNDS} rounds of {SPAWNS})")
    report(took, RUN, FORK, EXEC)


# reading


async def plain_reads() -> None:
    """As fast as one process can read another: a buffer that is used again, and nothing kept."""
    with subprocess.Popen(WRITER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:  # noqa: S603, ASYNC220 - what it is measured beside
        if process.stdout is None:
            raise AssertionError
        buffer = bytearray(1 << 16)
        total = 0
        while count := os.readv(process.stdout.fileno(), [buffer]):
            total += count
        if total != FLOOD:
            raise AssertionError(total)


async def read_by_run() -> None:
    done = subprocess.run(WRITER, stdin=subprocess.DEVNULL, capture_output=True, check=True)  # noqa: S603, ASYNC221 - as above
    if len(done.stdout) != FLOOD:
        raise AssertionError


async def read_by_asyncio() -> None:
    if len(await by_asyncio(*WRITER)) != FLOOD:
        raise AssertionError


def kept_in_bounds(warden: Warden) -> Work:
    """Its first and last words are kept, the rest is counted."""

    async def side() -> None:
        process = await warden.spawn(command(*WRITER))
        if (await process.communicate()).cut + (1 << 20) != FLOOD:
            raise AssertionError

    return side


def read_by_iteration(warden: Warden) -> Work:
    async def side() -> None:
        process = await warden.spawn(command(*WRITER))
        async for _ in process.stdout:
            pass
        if process.stdout.total != FLOOD:
            raise AssertionError(process.stdout.total)

    return side


async def output(processes: Processes) -> None:
    """Much that one process writes."""
    warden = await processes.warden()
    plain = "plain reads, nothing kept"
    sides: dict[str, Work] = {
        plain: plain_reads,
        RUN: read_by_run,
        EXEC: read_by_asyncio,
        "spawn and communicate": kept_in_bounds(warden),
        "spawn and iterate": read_by_iteration(warden),
    }
    took = await in_rounds(sides, 1)
    await warden.stop(0)
    heading(f"output of {FLOOD >> 20} MB by dd ({ROUNDS} rounds; goal: at most x1.43 wall)")
    report(took, plain, EXEC)
    speeds = (f"{name} {FLOOD / median(one.wall) / 1e9:.2f}" for name, one in took.items())
    print(f"  GB/s: {', '.join(speeds)}")
