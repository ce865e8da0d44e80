"""Owners that are paused, and what they do after another process has their session.

    python -m tests.crash.paused 50

tries so many rounds and counts what left after the heir's receipt; 0 is the promise. With *effects*
or *processes* behind the number, that part of the lease is left out, and something does.
"""

import asyncio
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from lastword import Receipt, Run, Runtime
from tests.crash.owner_to_pause import EFFECTS, PROCESSES

OWNER = Path(__file__).with_name("owner_to_pause.py")
LEASE = 1.5


@asynccontextmanager
async def owner(address: str, folder: Path, without: str = "") -> AsyncGenerator[Process]:
    """A process that has session *s* in that store, and is at work in it."""
    arguments = (address, str(folder), str(LEASE), without)
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(OWNER), *arguments, stdin=PIPE, stdout=PIPE
    )
    try:
        assert await line(process) == "ready"
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
            process.kill()
        await process.wait()


async def line(process: Process) -> str:
    assert process.stdout
    return (await process.stdout.readline()).decode().strip()


def pause(process: Process, address: str) -> None:
    """Pause it, but not in the middle of a write to a file: then nobody could, until it goes on."""
    kind, _, file = address.partition(":")
    while True:
        os.kill(process.pid, signal.SIGSTOP)
        if kind != "sqlite":
            return
        while not _stands_still(process.pid):
            pass
        connecting = sqlite3.connect(file, timeout=0.1, isolation_level=None)
        with closing(connecting) as db, suppress(sqlite3.OperationalError):
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
            return
        os.kill(process.pid, signal.SIGCONT)


def _stands_still(pid: int) -> bool:
    stats = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def deeds(folder: Path) -> dict[str, int]:
    """What was done so far, and how often."""
    return {file.name: file.stat().st_size for file in folder.iterdir()}


async def a_moment(seconds: float = 0.3) -> None:
    """In which something could happen that must not; nobody waits for anything by it."""
    await asyncio.sleep(seconds)


async def idle(_: Run) -> None:
    return


async def stopped(runtime: Runtime) -> Receipt:
    """The receipt of a stop, once the session can be stopped from here."""
    while True:
        receipt = await runtime.session("s").stop()
        if receipt.quiet:
            return receipt
        await asyncio.sleep(0.01)


@dataclass
class Round:
    """What came of one."""

    receipt: Receipt
    late: dict[str, int]  # effects that were let after the receipt; bytes that processes wrote
    begun: int  # effects that had been let when the pause came, and were completed after it
    outcome: str
    wrote: bool  # whether there is more in the log than when the receipt was given


async def one_round(
    folder: Path, seconds: float = 0.0, without: str = "", address: str = ""
) -> Round:
    """Pause an owner, take its session, stop it, and let the owner go on after a while."""
    (folder / "deeds").mkdir()
    address = address or f"sqlite:{folder / 'it.db'}"
    async with owner(address, folder / "deeds", without) as old:
        pause(old, address)
        async with Runtime(idle, store=address, lease=LEASE) as heir:
            receipt = await stopped(heir)
            given = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            before, log = deeds(folder / "deeds"), await heir.session("s").log()
            await a_moment(seconds)
            os.kill(old.pid, signal.SIGCONT)
            outcome = await line(old)
            after, wrote = deeds(folder / "deeds"), await heir.session("s").log() != log
    stamps = {what: (folder / "deeds" / what).read_text().split() for what in EFFECTS}
    late = {what: sum(int(let) > given for let in stamps[what]) for what in EFFECTS}
    begun = sum(after[what] > before[what] and not late[what] for what in EFFECTS)
    late |= {what: after[what] - before[what] for what in PROCESSES}
    late = {what: more for what, more in late.items() if more}
    return Round(receipt, late, begun, outcome, wrote)


async def main(rounds: int, without: str = "") -> int:
    late = begun = 0
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            seconds = random.uniform(0.0, 1.0)
            done = await one_round(Path(folder), seconds, without)
        late += sum(done.late.values())
        begun += done.begun
        print(number, done.outcome, done.late or "nothing late", flush=True)  # noqa: T201
    print(  # noqa: T201
        f"{rounds} rounds: {late} effects and bytes of processes after the heir's receipt; "
        f"{begun} that had been let before the pause were completed"
    )
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]), *sys.argv[2:])))
