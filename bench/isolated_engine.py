"""What the bench of isolated runs measures: nothing is imported but what a run needs."""

from __future__ import annotations

import asyncio

from lastword import Run

CALLS, WORDS = 200, 20_000


async def _tool() -> str:
    return "done"


async def engine(run: Run) -> None:
    """Does what its message says."""
    match run.message.text:
        case "words":
            for _ in range(WORDS):
                await run.emit("word ", soon=True)
        case "calls":
            for _ in range(CALLS):
                await run.call(_tool)
        case "spins":
            await run.emit("here")
            while True:
                pass
        case "waits":
            await run.emit("here")
            await asyncio.Event().wait()
        case _:
            await run.emit("here")
