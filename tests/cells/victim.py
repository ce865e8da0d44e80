"""A program with cells at frontiers, to be killed at any moment. It says what it was told.

    python -m tests.cells.victim DATABASE SEED KILLS

A line is said when it is certain: what stands, is found standing after the end, however it came.
Meanwhile it kills so many of its own workers.
"""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from hashlib import blake2b

from lastword import Run, Runtime, Session, cells
from lastword.cells import Ok, PausableCell
from lastword.core.cell import Ending, Frontier
from lastword.errors import CellError
from tests.cells.programs import ASK, interpreters

SESSIONS = 3
STILL = "still"  # the session whose cells nobody resumes
PROGRAM = """
got = []
for n in range(3):
    print(n)
    got.append(await ask(n))
got
"""


_said = [0]  # lines


def say(*words: object) -> None:
    _said[0] += 1
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def seen(frontier: Frontier) -> str:
    """All of a frontier, in a word."""
    calls = ",".join(call.id for call in frontier.pending)
    whole = blake2b(repr(frontier).encode() + frontier.dump, digest_size=8).hexdigest()
    return f"{calls} {whole}"


async def begin(run: Run) -> None:
    """Leave a cell standing."""
    cell = await PausableCell.start(run, PROGRAM, tools=[ASK])
    tell(cell.id, await cell.wait())


def tell(cell: str, now: Frontier | Ending) -> None:
    if isinstance(now, Frontier):
        say("stands", cell, now.generation, seen(now))
    else:
        say("ended", cell, now.outcome, now.result or now.error)


async def life(runtime: Runtime, session: Session, choose: random.Random) -> None:
    while True:
        await asyncio.sleep(choose.random() * 0.01)
        standing = [one for one in await cells.paused(runtime) if one.session == session.id]
        if len(standing) < 2 or choose.random() < 0.2:
            await (await session.send("begin", on_message="queue")).outcome()
        else:
            stored = choose.choice(standing)
            if stored.record.frontier:
                await go_on(session, stored.id, stored.record.frontier, choose)


async def go_on(session: Session, cell: str, frontier: Frontier, choose: random.Random) -> None:
    [pending] = frontier.pending
    token = choose.randrange(1 << 30)
    say("resuming", cell, frontier.generation, token)
    try:
        asked = cells.resume(session, cell, frontier.generation, {pending.id: Ok(token)})
        outcome = await (await asked).outcome()
    except CellError as error:
        say("refused", cell, frontier.generation, type(error).__name__)
        return
    say("resumed" if outcome == "completed" else "failed", cell, frontier.generation, token)
    tell(cell, await cells.wait(session, cell))


async def kill_workers(choose: random.Random, times: int) -> None:
    """Each after a while in which something was done."""
    for _ in range(times):
        enough = _said[0] + choose.randrange(4, 20)
        while _said[0] < enough or not (there := interpreters()):
            await asyncio.sleep(0.001)
        with suppress(ProcessLookupError):
            os.kill(choose.choice(there).pid, signal.SIGKILL)
        say("killed")


async def main(database: str, seed: int, kills: int) -> None:
    choose = random.Random(seed)
    engine = cells.engine(begin)
    async with Runtime(engine, store=f"sqlite:{database}", on_restart="run") as runtime:
        say("ready")
        still = runtime.session(STILL)
        while len([one for one in await still.cells() if one.record.paused]) < 3:
            await (await still.send("begin", on_message="queue")).outcome()
        sessions = [runtime.session(f"s{number}") for number in range(SESSIONS)]
        lives = [life(runtime, one, random.Random(choose.random())) for one in sessions]
        await asyncio.gather(kill_workers(choose, kills), *lives)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
