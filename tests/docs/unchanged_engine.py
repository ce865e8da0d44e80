"""The agent of docs/compare.md that nobody has changed: what it does, it does past the run."""

from __future__ import annotations

import asyncio
import os

from lastword import Run


async def engine(run: Run) -> None:
    """Holds the pipe that it is told of, with a process of its own, and goes on when stopped."""
    pipe = os.open(run.message.text, os.O_WRONLY)
    await asyncio.create_subprocess_exec("sleep", "3600", pass_fds=[pipe])
    try:
        await run.emit("begun")
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        os.write(pipe, b"one more thing")
