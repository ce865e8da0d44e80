"""Engines that nothing but their process's end can end, and some that end it themselves.

A message names one, and the canary that it and all that it starts hold.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType

from lastword import Run

Story = Callable[[Run, int], Awaitable[None]]
_DEAF = "trap '' TERM INT HUP; printf x >&{fd}; while :; do sleep 0.05; done"


def hold(canary: str) -> int:
    fd = os.open(canary, os.O_WRONLY)
    os.set_inheritable(fd, True)
    return fd


def here(fd: int) -> None:
    os.write(fd, b"x")


async def spins(run: Run, fd: int) -> None:
    here(fd)
    while True:
        pass


async def sleeps(run: Run, fd: int) -> None:
    here(fd)
    time.sleep(1000)  # noqa: ASYNC251 - that is the point


async def matches(run: Run, fd: int) -> None:
    here(fd)
    re.match("(a+)+$", "a" * 64 + "b")


def _deaf(number: int, frame: FrameType | None) -> None: ...


async def swallows(run: Run, fd: int) -> None:
    signal.signal(signal.SIGTERM, _deaf)
    here(fd)
    while True:
        try:
            await asyncio.sleep(1000)
        except BaseException:  # noqa: BLE001, S112 - that is the point
            continue


async def daemons(run: Run, fd: int) -> None:
    deaf = _DEAF.format(fd=fd)
    again = f"setsid sh -c '{deaf.replace(chr(39), chr(34))}' &"  # its parent is gone
    for argv in (["sh", "-c", deaf], ["setsid", "sh", "-c", deaf], ["nohup", "sh", "-c", again]):
        subprocess.Popen(argv, pass_fds=[fd], stdout=subprocess.DEVNULL)  # noqa: ASYNC220 - that is the point
    await asyncio.Event().wait()


async def leaves_daemons(run: Run, fd: int) -> None:
    argv = ["setsid", "sh", "-c", _DEAF.format(fd=fd)]
    subprocess.Popen(argv, pass_fds=[fd])  # noqa: ASYNC220 - that is the point


async def forks(run: Run, fd: int) -> None:
    if os.fork() == 0:
        os.setsid()
        here(fd)
        while True:
            pass
    here(fd)
    await asyncio.Event().wait()


async def threads(run: Run, fd: int) -> None:
    """They go on for as long as they live; so do tasks that nobody owns."""

    def go_on() -> None:
        while True:
            time.sleep(0.001)

    async def go_on_too() -> None:
        while True:
            try:
                await asyncio.sleep(0.001)
            except asyncio.CancelledError:
                continue

    tasks = [asyncio.create_task(go_on_too()) for _ in range(10)]
    for _ in range(3):
        threading.Thread(target=go_on).start()
    here(fd)
    await asyncio.wait(tasks)


async def in_a_tool(run: Run, fd: int) -> None:
    def tool() -> None:
        here(fd)
        while True:
            time.sleep(0.01)

    await run.call(tool)


async def dies(run: Run, fd: int) -> None:
    async def faulty() -> None:
        here(fd)
        os.kill(os.getpid(), signal.SIGSEGV)

    await run.call(faulty)


async def leaves(run: Run, fd: int) -> None:
    here(fd)
    os._exit(7)


async def waits(run: Run, fd: int) -> None:
    here(fd)
    await asyncio.Event().wait()


async def hangs_up(run: Run, fd: int) -> None:
    """Closes all that it has to speak with, and goes on."""
    os.closerange(3, fd)
    os.closerange(fd + 1, 1000)
    here(fd)
    while True:
        time.sleep(0.01)  # noqa: ASYNC251 - that is the point


async def eats(run: Run, fd: int) -> None:
    here(fd)
    kept = bytearray(8 << 30)
    kept[0] = 1


async def holds(run: Run, fd: int) -> None:
    """So much memory that its end takes the kernel a while."""
    kept = bytearray(b"x") * (4 << 30)
    here(fd)
    while kept:
        pass


async def watches(run: Run, fd: int) -> None:
    """A thread of it says how it is told that it may not act any more."""

    def watch() -> None:
        while run.current:
            pass
        here(fd)

    here(fd)
    await asyncio.get_running_loop().run_in_executor(None, watch)


async def above(run: Run, fd: int) -> None:
    child = await run.child(run.message.text.replace("above", "spins"))
    await child.outcome()


async def answers(run: Run, fd: int) -> None:
    await run.emit("here")


async def calls(run: Run, fd: int) -> None:
    async def tool() -> str:
        return "called"

    await run.emit("new ")
    await run.emit(await run.call(tool))


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        spins,
        sleeps,
        matches,
        swallows,
        daemons,
        leaves_daemons,
        forks,
        threads,
        in_a_tool,
        dies,
        leaves,
        waits,
        hangs_up,
        eats,
        holds,
        watches,
        above,
        answers,
        calls,
    )
}


async def engine(run: Run) -> None:
    name, canary = run.message.text.split()
    await STORIES[name](run, hold(canary) if canary != "-" else -1)


def make() -> Callable[[Run], Awaitable[None]]:
    """Made in each process: whose it is can be asked of it."""
    made_in = os.getpid()

    async def made(run: Run) -> None:
        await run.emit(f"{made_in == os.getpid()} {'pytest' in sys.modules}")

    return made


def wrong() -> str:
    return "no engine"


async def writes(run: Run) -> None:
    """Calls that write files, sync and async, until somebody stops it."""
    folder = Path(run.message.text)

    def in_thread(n: str) -> str:
        (folder / n).write_text("begun")
        time.sleep(0.0005)
        (folder / n).write_text("done")
        return n

    def by_process(n: str) -> str:
        argv = ["sh", "-c", f"printf begun > {folder / n}; printf done > {folder / n}"]
        subprocess.run(argv, check=True)
        return n

    async def on_loop(n: str) -> str:
        (folder / n).write_text("begun")
        await asyncio.sleep(0)
        (folder / n).write_text("done")
        return n

    n = 0
    while True:
        tools = (in_thread, on_loop, by_process)
        made = [run.intend(tool, f"{n}-{i}") for i, tool in enumerate(tools)]
        await asyncio.gather(*(call() for call in made))
        n += 1
