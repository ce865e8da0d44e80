"""Has a session in a store, and does in it whatever a run can do, until it may not any more.

Arguments: the store, a folder for what it did, the lease, and what of it to leave out, so that it
can be seen what that is good for: *effects*, *processes*, or nothing. It says *ready* when all is
going, and *over* and the outcome when its run has ended and nothing of it is left.
"""

import asyncio
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lastword import Run, Runtime, Superseded
from lastword.core.story import FeedEvent
from lastword.processes.page import PageWriter
from lastword.stores.lease import Claim

LINES = 'trap "" TERM; while :; do echo line >> "$0"; sleep 0.01; done'


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 - its answer


class Asked(threading.local):
    """When this thread was last let act. A pause may come right behind that; it is the one gap."""

    at = 0


asked, _good = Asked(), Claim.good.fget


def _good_and_when(claim: Claim) -> bool:
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    if good := bool(_good and _good(claim)):
        asked.at = now
    return good


class Deeds:
    """What leaves, each a line in a file: when it was let."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, what: str) -> None:
        with (self.folder / what).open("a") as file:
            file.write(f"{asked.at}\n")

    async def sink(self, event: FeedEvent) -> None:
        if event.kind != "said":
            self.write("delivered")

    async def tool(self) -> None:
        self.write("called")

    def sync_tool(self) -> None:
        self.write("called in a thread")

    async def speak(self, run: Run) -> None:
        while True:
            await run.emit("word ")
            await asyncio.sleep(0.01)

    async def call(self, run: Run) -> None:
        tool, sync_tool = run.gate(self.tool), run.gate(self.sync_tool)
        while True:
            await tool()
            await sync_tool()

    async def start(self, run: Run) -> None:
        while True:
            await run.shell(f"echo line >> {self.folder}/started")

    async def engine(self, run: Run) -> None:
        for folder in ("lines", "kept", "own session"):
            keep = "keep" if folder == "kept" else "end"
            setsid = ("setsid",) if folder == "own session" else ()
            line = (*setsid, "sh", "-c", LINES, str(self.folder / folder))
            await run.spawn(*line, on_stop=keep)
        for work in (self.speak, self.call, self.start):
            run.task(work(run), name=work.__name__)
        await run.child("talk", engine=self.child, keep=True)
        await asyncio.Event().wait()

    async def child(self, run: Run) -> None:
        with suppress(Superseded):
            while True:
                await run.gate(self.child_tool)()
                await asyncio.sleep(0.01)

    async def child_tool(self) -> None:
        self.write("called by a child")


EFFECTS = ("delivered", "called", "called in a thread", "called by a child", "watched")
PROCESSES = ("lines", "kept", "own session", "started")
ALL = (*EFFECTS, *PROCESSES)


class Blunt(Claim):
    """A claim that is always good."""

    @property
    def good(self) -> bool:
        asked.at = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        return True

    @property
    def ended(self) -> bool:
        return False


def leave_out(what: str) -> None:
    patch, write = pytest.MonkeyPatch(), PageWriter.set
    patch.setattr(Claim, "good", property(_good_and_when))

    def for_ever(page: PageWriter, until: float) -> None:
        write(page, max(until, 2.0**32))

    if what == "effects":
        patch.setattr("lastword.stores.sqlite.tables.Claim", Blunt)
    if what == "processes":
        patch.setattr(PageWriter, "set", for_ever)


async def watch(runtime: Runtime, deeds: Deeds) -> None:
    """What a watcher in the same process sees leaves it too."""
    async for event in runtime.session("s").events(after=0):
        if event.kind == "text":
            deeds.write("watched")


async def main(address: str, folder: Path, lease: float) -> None:
    deeds = Deeds(folder)
    runtime = Runtime(deeds.engine, store=address, lease=lease, sink=deeds.sink)
    async with runtime:
        session = runtime.session("s")
        watching = asyncio.create_task(watch(runtime, deeds))
        ticket = await session.send("go", id="go")
        while not all((folder / what).exists() for what in ALL):
            await asyncio.sleep(0.01)
        say("ready")
        outcome = await ticket.outcome()
        while session.ending or any(kept.alive for kept in session.processes):
            await asyncio.sleep(0.01)
        say("over", outcome)
        await asyncio.to_thread(sys.stdin.readline)
        watching.cancel()


if __name__ == "__main__":
    leave_out(sys.argv[4])
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])))
