"""An engine whose command writes lines into a file, for ever; or which waits for a file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from lastword import Run

LINES = 'trap "" TERM; while :; do echo line >> "$0"; sleep 0.02; done'


async def engine(run: Run) -> None:
    text = run.message.text
    if text.startswith("go"):
        await run.spawn("sh", "-c", LINES, f"{os.environ['DEEDS']}/{run.id}")
    await run.emit(f"re: {text}")
    if text.startswith("go"):
        await asyncio.Event().wait()
    end = Path(os.environ["DEEDS"]) / "end"
    while text == "until" and not end.exists():
        await asyncio.sleep(0.02)
