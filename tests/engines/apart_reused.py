"""Engines whose process may do another run of the same session. A message says what it does, and
names a file or a canary."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time
from pathlib import Path

from lastword import Run

runs: list[Run] = []  # of this process


def later(at: str, old: Run) -> None:
    """Goes on in the event loop, and tries what it can in the name of a run that is over."""
    with Path(at).open("a") as told:
        told.write("x" if not old.current or len(runs) < 2 else "acts")
    old.loop.create_task(old.emit("from an old run")) if len(runs) > 1 else None
    old.loop.call_later(0.001, later, at, old)


async def engine(run: Run) -> None:  # noqa: PLR0912 - one thing each
    runs.append(run)
    way, _, at = run.message.text.partition(" ")
    if way == "fails":
        raise ValueError("on purpose")
    if way == "calls_later":
        later(at, run)
    if way == "leaves_a_task":
        run.kept = asyncio.create_task(asyncio.sleep(1000))  # pyright: ignore[reportAttributeAccessIssue] - or it would be collected
    if way == "leaves_a_thread":
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    if way == "leaves_work":
        run.loop.run_in_executor(None, time.sleep, 1000)
    if way == "leaves_a_process":
        subprocess.Popen(["/bin/sleep", "1000"])  # noqa: ASYNC220 - that is the point
    if way == "threads":
        await asyncio.to_thread(time.sleep, 0)
        await run.call(time.sleep, 0)
    await run.emit(f"{len(runs)} ")
    if way in ("waits", "holds"):
        os.write(os.open(at, os.O_WRONLY), b"x")  # and it stays open
    if way == "waits":
        await asyncio.Event().wait()
