"""A team's own engine, as `lastword serve --engine` finds it."""

from __future__ import annotations

import asyncio
import logging
import os

from lastword import Run


async def engine(run: Run) -> None:
    """Answers; some questions keep it for ever, and some make it deaf to being cancelled."""
    first = run.message.text.partition(" ")[0]
    if first == "warn":
        logging.getLogger("somebody.elses").warning("this is so")
    await run.emit(f"re: {run.message.text}")
    if first == "where":
        await run.emit(f" in {os.getpid()}")
    while first == "spin":
        pass
    while first in {"wait", "deaf"}:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if first == "wait":
                raise


NOT_AN_ENGINE = "a text"
