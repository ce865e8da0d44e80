"""One of several processes over one database, which are killed, paused and cut off from it.

Arguments: the store, a name for what processes write, the lease, the port of who judges; and
*no-lease* if whoever lets a word leave is not to heed it, *no-deadman* if whoever holds processes
is not. It does what its input says, a line each, and answers with the number of the line first:
`7 send s m1`, `8 stop s`. Whatever leaves is a datagram: the session, and the run.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
from typing import Any

import pytest

from lastword import LastwordError, Run, Runtime
from lastword.core.entries import Text
from lastword.core.story import FeedEvent, Progress
from lastword.processes.page import PageWriter
from lastword.stores import lease


def heedless(_: object) -> bool:
    return True


class Deeds:
    """Each word that leaves goes to whoever judges; when it did, the kernel says."""

    def __init__(self, port: int) -> None:
        self._to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._to.connect(("127.0.0.1", port))

    async def sink(self, event: FeedEvent) -> None:
        if isinstance(event.fact, Text | Progress):
            self._to.send(f"{event.session} {event.fact.run}".encode())
            await asyncio.sleep(0.02)  # so that more stands behind it, and has not left


LINES = 'trap "" TERM; while :; do echo line >> "$0"; sleep 0.03; done'


async def engine(run: Run) -> None:
    await run.spawn("sh", "-c", LINES, f"{sys.argv[2]}.{run.id}.lines")
    for _ in range(15):
        await run.emit("word ")  # which the store has to take first
        for line in "on and on":  # which only the lease keeps from leaving
            await run.progress(line)


async def done(runtime: Runtime, words: list[str]) -> dict[str, Any]:
    what, name, *rest = words
    try:
        if what == "send":
            await runtime.session(name).send("go on", id=rest[0])
            return {"accepted": rest[0]}
        receipt = await runtime.session(name).stop()
    except LastwordError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    stopped = {"quiet": receipt.quiet, "durable": receipt.durable, "at": receipt.fenced_at}
    return {"runs": [*receipt.runs, *receipt.lost], **stopped}


async def main(address: str, seconds: float, port: int) -> None:
    deeds = Deeds(port)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )

    async def one(number: str, words: list[str]) -> None:
        answer = await done(runtime, words)
        os.write(1, (json.dumps({"number": int(number), **answer}) + "\n").encode())

    runtime = Runtime(engine, store=address, lease=seconds, sink=deeds.sink, on_restart="run")
    async with runtime:
        os.write(1, b'{"number": 0}\n')
        tasks = set[asyncio.Task[None]]()
        while line := (await reader.readline()).decode().split():
            tasks.add(asyncio.create_task(one(line[0], line[1:])))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(10):
                await asyncio.gather(*tasks)


def for_ever(page: PageWriter, _: float) -> None:
    _set(page, 2.0**32)


_set = PageWriter.set


if __name__ == "__main__":
    patch = pytest.MonkeyPatch()
    if "no-lease" in sys.argv:
        patch.setattr(lease.Claim, "good", property(heedless))
    if "no-deadman" in sys.argv:
        patch.setattr(PageWriter, "set", for_ever)
    asyncio.run(main(sys.argv[1], float(sys.argv[3]), int(sys.argv[4])))
