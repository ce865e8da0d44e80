"""Many isolated runs, stopped at random: what they write, and what they leave.

How many is said: `--stops 100` stops a thousand runs in each store, `--rounds 5000` runs as many.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from lastword import Outcome, Runtime, Session
from lastword.core.entries import Called, Result
from lastword.engines.isolated import Isolated
from lastword.processes.inside.family import Procfs
from tests.meter import open_files
from tests.processes.artists import Canary
from tests.promise.workshop import until

STUCK = "tests.engines.apart_stuck"
_MAY_GROW = 16 << 20  # bytes: what pools keep, and how a page is shared, vary by less


@pytest.mark.scenario("Z10")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_no_tool_writes_after_a_receipt_whenever_the_stop_comes(
    tmp_path: Path, stops: int, kind: str
) -> None:
    rng = random.Random(stops)
    store = "memory:" if kind == "memory" else f"sqlite:{tmp_path / 'lastword.db'}"
    async with Runtime(Isolated(f"{STUCK}:writes"), store=store, grace=0.3) as runtime:
        for n in range(10 * stops):
            folder = tmp_path / f"{n}"
            folder.mkdir()
            session = runtime.session(f"s{n}")
            await session.send(str(folder))
            many = rng.randrange(20)
            await until(lambda many=many, folder=folder: len(list(folder.iterdir())) >= many)
            for _ in range(rng.randrange(20)):
                await asyncio.sleep(0)
            receipt = await session.stop()
            written = in_folder(folder)

            assert receipt.quiet, receipt
            statuses = await told(session)
            for name, status in statuses.items():
                assert name in written or status != "completed"
                assert name not in written or status != "not started"
            assert written.keys() <= statuses.keys()
            done = [name for name, status in statuses.items() if status == "completed"]
            assert all(written[name] == "done" for name in done)
            await another_is_answered(runtime, tmp_path)  # whoever could still write had the time
            assert in_folder(folder) == written


def in_folder(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


async def another_is_answered(runtime: Runtime, folder: Path) -> None:
    other = runtime.session("other")
    await other.send(str(folder / "another"))
    (folder / "another").mkdir(exist_ok=True)
    await until(lambda: any((folder / "another").iterdir()))
    await other.stop()


async def told(session: Session) -> dict[str, str]:
    """What the log says of each call, by its argument."""
    log = await session.log()
    status = {one.call: one.status.value for one in log if isinstance(one, Result)}
    called = [one for one in log if isinstance(one, Called)]
    return {one.arguments.split('"')[3]: status[one.call] for one in called}


@pytest.mark.scenario("Z13")
async def test_runs_and_stops_leave_no_process_descriptor_task_or_memory(
    tmp_path: Path, rounds: int
) -> None:
    store = f"sqlite:{tmp_path / 'lastword.db'}"
    engine = Isolated(f"{STUCK}:engine", warm=1)
    async with Runtime(engine, store=store, grace=0.3, rest=0.1) as runtime:

        async def some(many: int, name: str) -> None:
            for n in range(many):
                session = runtime.session(f"{name}{n}")
                ticket = await session.send("answers -")
                assert await ticket.outcome() == Outcome.COMPLETED
                with Canary(tmp_path) as canary:
                    await session.send(f"{('spins', 'waits')[n % 2]} {canary.path}")
                    await canary.ready(1)
                    assert (await session.stop()).quiet

        await some(4, "first")
        files, family, tasks = len(open_files()), len(descendants()), len(asyncio.all_tasks())
        memory = in_memory()
        await some(rounds, "then")
        await until(lambda: len(descendants()) <= family)
        await until(lambda: len(open_files()) <= files)
        await until(lambda: len(asyncio.all_tasks()) <= tasks)
        grown = in_memory() - memory

    assert grown < _MAY_GROW, f"{grown:,} bytes after {2 * rounds} runs"


def descendants() -> list[int]:
    proc = Procfs()
    try:
        return [kin.pid for kin in proc.descendants(proc.me)]
    finally:
        proc.close()


def in_memory() -> int:
    """Bytes of this process and all below it, each page counted once (PSS)."""
    total = 0
    for pid in ("self", *map(str, descendants())):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has just left, or is none of ours to look into
            continue
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total
