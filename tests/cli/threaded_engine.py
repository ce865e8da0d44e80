"""An engine whose module no fork may have: importing it starts a thread."""

from __future__ import annotations

import threading

from lastword import Run

threading.Thread(target=threading.Event().wait, daemon=True).start()


async def engine(run: Run) -> None:
    """Says that it is there."""
    await run.emit("here")
