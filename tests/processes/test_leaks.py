"""I5. A thousand spawns later there is as much of everything as there was before."""

import asyncio
import gc
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Self

import pytest

from lastword.errors import SpawnFailed
from lastword.processes import Level, Process, Processes, Warden, command
from lastword.processes.channel import Channel
from lastword.processes.input import Input
from lastword.processes.output import Output
from lastword.processes.plumbing import Plumbing
from tests.meter import open_files
from tests.processes.household import children, the_warden, zombies, zygotes
from tests.processes.strict import AT_EACH
from tests.promise.workshop import until

I5 = pytest.mark.scenario("I5", part="processes")
SPAWNS = 1000
WARDENS = 200
AT_ONCE = 20
WARM_UP = 5
LAST_WORDS = 0.06  # seconds: a terminal is listened to for a little longer
OURS = (Process, Plumbing, Output, Input, Warden, Channel)
A_LITTLE = 4 << 20  # bytes: what an allocator may keep for itself
NOTHING = command("true")


@dataclass(frozen=True, slots=True)
class Stock:
    """What is there of everything that could have been left behind."""

    fds: dict[str, int]
    threads: int
    zombies: int
    objects: dict[str, int]
    tasks: int

    @classmethod
    async def taken(cls, warden: Warden, level: Level) -> Self:
        await warden_is_idle(warden)
        pids = household(level)
        await until(lambda: not children(pids["warden"]))  # the last may be dying yet
        await until(lambda: not any(map(zombies, pids.values())))
        gc.collect()
        kinds = Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, OURS))
        return cls(
            fds={name: len(open_files(pid)) for name, pid in pids.items()},
            threads=threading.active_count(),
            zombies=sum(len(zombies(pid)) for pid in pids.values()),
            objects=dict(kinds),
            tasks=len(asyncio.all_tasks()),
        )


async def warden_is_idle(warden: Warden) -> None:
    """It has carried out all its orders, and told of every end."""
    await (await warden.spawn(NOTHING)).wait()
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def memory(level: Level) -> dict[str, int]:
    """Bytes that the host, the zygote and the warden use."""
    return {
        name: int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4096
        for name, pid in household(level).items()
    }


def household(level: Level) -> dict[str, int]:
    (zygote,) = zygotes(os.getpid())
    return {"host": os.getpid(), "zygote": zygote, "warden": the_warden(os.getpid(), level)}


async def nothing_is_left(
    level: Level, act: Callable[[Warden], Awaitable[None]], times: int, *, after: float = 0.0
) -> None:
    """Do something so many times, some at once; then there is no more of anything than before."""
    async with Processes(level) as processes:
        warden = await processes.warden()

        async def some(times: int) -> None:
            for _ in range(times // AT_ONCE):
                await asyncio.gather(*(act(warden) for _ in range(AT_ONCE)))
            await asyncio.sleep(after)

        await some(WARM_UP * AT_ONCE)
        await no_more_than_before(level, warden, partial(some, times))

    assert zygotes(os.getpid()) == []


async def no_more_than_before(
    level: Level, warden: Warden, act: Callable[[], Awaitable[None]]
) -> None:
    """What an allocator keeps it keeps once; what leaks is there again after as many more."""
    before, used = await Stock.taken(warden, level), memory(level)
    await act()
    left, uses = await Stock.taken(warden, level), memory(level)
    grown = more(uses, used)
    if grown:
        await act()
        left, after = await Stock.taken(warden, level), memory(level)
        grown = [name for name in more(after, uses) if name in grown]
    assert left == before
    assert grown == []


def more(uses: dict[str, int], used: dict[str, int]) -> list[str]:
    """Who has more memory than before, by more than a little."""
    return [name for name in used if uses[name] - used[name] > A_LITTLE]


@I5
@AT_EACH
async def test_a_thousand_spawns_in_one_warden_leave_nothing(level: Level) -> None:
    async def spawn(warden: Warden) -> None:
        process = await warden.spawn(command("echo", "hello"))
        done = await process.communicate()
        assert done.output == "hello\n"

    await nothing_is_left(level, spawn, SPAWNS)


@I5
@AT_EACH
async def test_a_thousand_spawns_that_fail_leave_nothing(level: Level) -> None:
    missing = command("no-such-program", env={"PATH": "/bin"}, stdin=b"to be read")

    async def fail(warden: Warden) -> None:
        with pytest.raises(SpawnFailed, match="command not found"):
            await warden.spawn(missing)

    await nothing_is_left(level, fail, SPAWNS)


@I5
@AT_EACH
async def test_spawns_whose_callers_gave_up_leave_nothing(level: Level) -> None:
    turns = count()

    async def give_up(warden: Warden) -> None:
        spawn = asyncio.ensure_future(warden.spawn(command("sleep", "50", stdin="pipe")))
        for _ in range(next(turns) % 5):
            await asyncio.sleep(0)
        spawn.cancel()
        (answer,) = await asyncio.gather(spawn, return_exceptions=True)
        if isinstance(answer, Process):
            await answer.end(0.0)

    await nothing_is_left(level, give_up, SPAWNS)


@I5
@AT_EACH
async def test_spawns_at_a_terminal_leave_nothing(level: Level) -> None:
    async def at_a_terminal(warden: Warden) -> None:
        process = await warden.spawn(command("true", pty=True))
        await process.wait()
        await process.stdout.finished()

    await nothing_is_left(level, at_a_terminal, SPAWNS // 5, after=LAST_WORDS)


@I5
@AT_EACH
async def test_two_hundred_wardens_leave_nothing(level: Level) -> None:
    async with Processes(level) as processes:
        first = await processes.warden()
        await wardens(processes, WARDENS // 4)
        await no_more_than_before(level, first, partial(wardens, processes, WARDENS))


async def wardens(processes: Processes, times: int) -> None:
    """One after another, each with a process; return when the zygote has seen them all off."""
    for _ in range(times):
        warden = await processes.warden()
        process = await warden.spawn(command("sleep", "50", stdin="pipe"))
        await warden.stop(grace=0.0)
        assert process.code == -9
    (zygote,) = zygotes(os.getpid())
    while len(children(zygote)) > 1:
        await asyncio.sleep(0)
