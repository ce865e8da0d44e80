"""Workers and whole processes are killed -9 at random, and every frontier is found as it was.

One database lives through all of it. The seed is printed; `--rounds N` and `--seed N` repeat or
prolong: in a round a worker is killed, in every fifth the process too.
"""

import asyncio
import json
import logging
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from lastword import cells
from lastword.cells import Interpreter, Ok
from lastword.core.cell import CellOutcome, Ending, Frontier, StoredCell
from lastword.stores.sqlite import SqliteStore
from tests.cells.stage import Leaver, opened
from tests.cells.victim import STILL, seen
from tests.promise.workshop import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
WORKERS = 4  # that die for every process that does


class Told:
    """What the victims were told, all in all."""

    def __init__(self) -> None:
        self.stands: dict[str, str] = {}  # cell: the frontier that it was last seen at
        self.moving: set[str] = set()  # somebody has begun to resume it since
        self.offered: dict[tuple[str, str], set[int]] = {}
        self.resumed: Counter[tuple[str, str]] = Counter()
        self.ended: dict[str, str] = {}
        self.killed = 0

    def hear(self, line: str) -> None:
        match line.split(" ", 3):
            case ["stands", cell, generation, rest]:
                self.stands[cell] = f"{generation} {rest}"
                self.moving.discard(cell)
            case ["resuming", cell, generation, token]:
                self.moving.add(cell)
                self.offered.setdefault((cell, generation), set()).add(int(token))
            case ["resumed", cell, generation, _]:
                self.resumed[cell, generation] += 1
            case ["ended", cell, outcome, rest]:
                self.stands.pop(cell, None)
                self.ended[cell] = f"{outcome} {rest}"
            case ["killed"]:
                self.killed += 1
            case _:
                pass


def live_and_die(database: Path, seed: int, told: Told) -> None:
    """Let a victim live until some of its workers are dead, and a moment more."""
    choose = random.Random(seed)
    argv = [sys.executable, "-m", "tests.cells.victim", str(database), str(seed), str(WORKERS)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        enough = told.killed + WORKERS
        for line in victim.stdout:
            told.hear(line.strip())
            if told.killed >= enough:
                break
        time.sleep(choose.random() * 0.05)  # lastword: any instant will do
        victim.kill()
        for line in victim.stdout.read().splitlines(keepends=True):
            if line.endswith("\n"):
                told.hear(line.strip())
    assert told.killed >= enough, "it ended by itself"


def is_as_told(found: dict[str, StoredCell], told: Told, where: str) -> None:
    for cell, frontier in told.stands.items():
        record = found[cell].record
        if cell in told.moving:
            continue  # paused here or further on, lost, or ended: all of them are true
        assert record.paused, f"{cell} does not stand any more: {where}"
        assert record.frontier
        assert f"{record.frontier.generation} {seen(record.frontier)}" == frontier, where
    assert all(count == 1 for count in told.resumed.values()), f"resumed twice: {where}"
    for cell in found.values():
        if (ending := cell.record.ending) and ending.outcome is CellOutcome.COMPLETED:
            got_what_was_offered(cell.id, ending, told, where)
        elif ending:
            assert ending.outcome is CellOutcome.LOST, f"{cell.id} {ending}: {where}"


def got_what_was_offered(cell: str, ending: Ending, told: Told, where: str) -> None:
    for number, token in enumerate(json.loads(ending.result), start=1):
        assert token in told.offered[cell, str(number)], f"{cell} got another's: {where}"


@pytest.mark.scenario("F4", part="cells")
@pytest.mark.scenario("F12", part="cells")
async def test_every_frontier_is_the_same_however_often_workers_and_processes_die(
    tmp_path: Path, rounds: int, seed: int, interpreter: Interpreter
) -> None:
    logging.getLogger(__name__).warning("seed %d", seed)  # shown if it fails
    database, told = tmp_path / "lastword.db", Told()
    for number in range(max(rounds // (WORKERS + 1), 1)):
        await asyncio.to_thread(live_and_die, database, seed + number, told)
        is_as_told(await stored(database), told, f"seed {seed}, death {number}")
    async with opened(Leaver(), interpreter, f"sqlite:{database}") as runtime:
        standing = await cells.paused(runtime)
        assert sum(cell.session == STILL for cell in standing) >= 3
        for cell in standing:
            session = runtime.session(cell.session)
            await session.loaded()
            await session.resume()  # a resume that had been accepted when a process died waits
            await until(lambda session=session: not session.busy)
            while isinstance(now := await cells.wait(session, cell.id), Frontier):
                [pending] = now.pending
                answer = {pending.id: Ok(now.generation)}
                ticket = await cells.resume(session, cell.id, now.generation, answer)
                assert await ticket.outcome() == "completed", ticket.error
            assert now.outcome is CellOutcome.COMPLETED
            assert len(json.loads(now.result)) == 3
        assert await cells.paused(runtime) == ()


async def stored(database: Path) -> dict[str, StoredCell]:
    """What a process finds that was not there."""
    store = SqliteStore(str(database))
    await store.open()
    try:
        found = [await store.cells(session) for session in await store.sessions()]
    finally:
        await store.close()
    return {cell.id: cell for of_session in found for cell in of_session}
