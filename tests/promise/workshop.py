"""What the stories about processes share: an engine that starts some, and whether they are gone."""

import asyncio
import os
import select
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Literal

from lastword import Receipt, Run, Runtime, Session
from lastword.processes import Level, Process

STUBBORN = "trap '' TERM INT HUP; echo up; while :; do sleep 0.05; done"
DYING_LOUDLY = "trap 'echo dying' TERM; echo up; while :; do sleep 0.05; done"
POLITE = "echo up; exec sleep 300"


def gone(pid: int) -> bool:
    """Whether there is no such process; nobody else can have its number so soon."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([pidfd], [], [], 0)[0])
    finally:
        os.close(pidfd)


async def until(happened: Callable[[], object]) -> None:
    """Return once something is so that nobody tells us of: a file, a list, a process's end."""
    pause = 0.001
    while not happened():
        await asyncio.sleep(pause)
        pause = min(1.5 * pause, 0.05)  # who waits for ever is to cost nothing, and be found idle


async def is_up(process: Process) -> None:
    """Return when it has said something."""
    async for _ in process.stdout:
        return


class Workshop:
    """An engine that starts what it is told to, and then has all the time in the world."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        self.processes: list[Process] = []
        self.up = asyncio.Event()

    async def __call__(self, run: Run) -> None:
        for line in self.lines:
            process = await run.spawn(shell=line)
            await is_up(process)
            self.processes.append(process)
        self.up.set()
        await asyncio.sleep(3600)


@asynccontextmanager
async def working(
    workshop: Workshop,
    *,
    grace: float = 0.2,
    level: Level | Literal["auto"] = "auto",
) -> AsyncGenerator[Session]:
    """A session in which all of it is up."""
    async with Runtime(workshop, grace=grace, level=level) as r:
        session = r.session("s")
        await session.send("go")
        await workshop.up.wait()
        yield session


def fates(receipt: Receipt) -> dict[str, str]:
    """What became of each command."""
    return {process.command: process.fate for process in receipt.processes}


def stop_while_stalled(
    session: Session, stalled: threading.Event, pids: list[int], woken: threading.Event
) -> tuple[bool, Receipt]:
    """Stop from another thread; whether the process died while the loop stood still."""
    stalled.wait(30)
    pidfd = os.pidfd_open(pids[0])
    stopping = session.stop_soon()
    dead, _, _ = select.select([pidfd], [], [], 20)
    os.close(pidfd)
    woken.set()
    return bool(dead), stopping.result(30)
