"""Engines that the stories over HTTP share: they do what a test lets them, when it lets them."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from lastword import Run


class Talker:
    """Says a word whenever it is let, for as long as it may."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.runs: list[Run] = []

    async def __call__(self, run: Run) -> None:
        self.runs.append(run)
        await run.emit(f"about {run.message.text}: ")
        await self.go.wait()
        while True:
            await run.emit("word ")
            await asyncio.sleep(0)


class Doors:
    """Answers each message behind a door of its own, which a test opens."""

    def __init__(self, *open: str) -> None:
        self.order: list[str] = []
        self.runs: dict[str, Run] = {}
        self._doors: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.let(*open)

    def let(self, *texts: str) -> None:
        """Let the answers to these come to their end."""
        for text in texts:
            self._doors[text].set()

    async def __call__(self, run: Run) -> None:
        text = run.message.text
        self.order.append(text)
        self.runs[text] = run
        await run.emit(f"re: {text}")
        await self._doors[text].wait()


async def echo(run: Run) -> None:
    """Answers, and that is all."""
    await run.emit(f"re: {run.message.text}")
