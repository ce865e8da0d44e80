"""What tests of the floor share: a warden that leaves nothing behind, and ways to wait."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from lastword.processes import Level, Processes, Warden
from lastword.processes.inside.family import Procfs
from lastword.processes.output import Output
from tests.meter import open_files

ROOTS = pytest.mark.skipif(os.geteuid() != 0, reason="only root has the sealed level by default")


@asynccontextmanager
async def a_warden(level: Level = "tree") -> AsyncGenerator[Warden]:
    """A warden to start something in. When it has gone, no descriptor and no child is left."""
    files, children = open_files(), our_children()
    async with Processes(level=level) as processes:
        yield await processes.warden()
    left = open_files().items() - files.items()  # others' may have gone meanwhile
    assert not left, left
    assert our_children() == children


def our_children() -> list[int]:
    proc = Procfs()
    try:
        return proc.children(proc.me)
    finally:
        proc.close()


def state_of(pid: int) -> str:
    """One letter, as `ps` shows it; nothing once it has ended."""
    proc = Procfs()
    try:
        kin = proc.look(pid)
        return kin.state if kin else ""
    finally:
        proc.close()


def python(program: str) -> tuple[str, ...]:
    """What to start for a few lines of Python, without the packages that take long to find."""
    return (sys.executable, "-I", "-S", "-c", program)


def sh(line: str) -> tuple[str, ...]:
    """What to start for a command line."""
    return ("/bin/sh", "-c", line)


async def until(reached: Callable[[], bool]) -> None:
    """Let the loop turn until something is so."""
    async with asyncio.timeout(30):  # or a test that fails would never end
        while not reached():
            await asyncio.sleep(0)


async def heard(stream: Output, words: bytes) -> bytes:
    """What was written, up to these words and whatever came with them."""
    so_far = b""
    async for data in stream:
        so_far += data
        if words in so_far:
            return so_far
    raise AssertionError(f"it ended without saying {words!r}; it said {so_far!r}")
