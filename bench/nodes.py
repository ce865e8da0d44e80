"""What it costs that a session is at another server, beside the same where it is."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from statistics import median

from bench.turns import heading, row
from lastword.runtime.run import Run
from tests.database import empty, started
from tests.server.client import Client, upto
from tests.server.nodes import node

ROUNDS = 40
WORDS = 100


async def waits(run: Run) -> None:
    await run.emit("working on it")
    await asyncio.Event().wait()


async def main() -> None:
    with started() as cluster:
        if isinstance(cluster, str):
            raise SystemExit(cluster)
        async with empty(cluster) as address, AsyncExitStack() as stack:
            one = await stack.enter_async_context(node(address, waits, rest=600.0))
            other = await stack.enter_async_context(node(address, waits, rest=600.0))
            alone = await stack.enter_async_context(node(address, waits, rest=600.0, placed=False))
            await stops(one, other, alone)
            await words(one, other)


async def stops(one: Client, other: Client, alone: Client) -> None:
    """In turns: at the server that has the run, at one that forwards, at one that cannot."""
    heading(f"A stop over HTTP, of a run at another server ({ROUNDS} each)")
    took: dict[str, list[float]] = {"here": [], "forwarded": [], "by a row": []}
    for turn in range(ROUNDS):
        for how, client in (("here", one), ("forwarded", other), ("by a row", alone)):
            await one.send(f"s{turn % 8}", "go", on_message="queue")
            began = time.perf_counter()
            receipt = await client.stop(f"s{turn % 8}")
            took[how].append(time.perf_counter() - began)
            if not receipt["quiet"] or not receipt["runs"]:
                raise AssertionError(receipt["words"])
    here = median(took["here"])
    for how, some in took.items():
        row(how, median(some), ("of one here", here))


async def words(one: Client, other: Client) -> None:
    """When what happens is heard: a message is sent, and its first word comes."""
    heading(f"From a message to its first word, to who watches ({WORDS} each)")
    took: dict[str, list[float]] = {"here": [], "at another server": []}
    await one.send("w", "begin")
    for how, client in (("here", one), ("at another server", other)):
        async with client.events("w") as watching:
            await upto(watching, "snapshot")
            for _ in range(WORDS):
                began = time.perf_counter()
                sending = asyncio.create_task(one.send("w", "again"))
                await upto(watching, "text")
                took[how].append(time.perf_counter() - began)
                await sending
    here = median(took["here"])
    for how, some in took.items():
        row(how, median(some), ("of one here", here))
