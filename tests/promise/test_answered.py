"""A stop that was answered is in the log, whatever happens to the process in the next instant."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lastword import Outcome, Receipt, Run, Session
from lastword.core.entries import Entry, Finished
from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.contract import Write
from lastword.stores.sqlite import SqliteStore
from lastword.testing.seeded import Choices, explore, play
from tests.promise.disk import Disk
from tests.promise.stories import Latch, runtime, talk

VICTIM = Path(__file__).with_name("stopped_victim.py")
WAYS = ("stop", "fence", "run", "soon", "takeover", "slow")


async def _soon(session: Session) -> Receipt:
    return await asyncio.wrap_future(session.stop_soon())


async def _takeover(session: Session) -> Receipt:
    receipt = await (await session.send("no, this")).receipt()
    assert receipt
    return receipt


_ASK: dict[str, Callable[[Session], Awaitable[Receipt]]] = {
    "stop": lambda session: session.stop(),
    "run": lambda session: session.stop(run=session.active),
    "soon": _soon,
    "takeover": _takeover,
}


def _receipts(entries: tuple[Entry, ...]) -> list[Receipt]:
    return [entry for entry in entries if isinstance(entry, Receipt)]


@pytest.mark.scenario("R26", part="sqlite")
@pytest.mark.parametrize("way", _ASK)
def test_a_receipt_that_says_durable_is_in_the_log_when_it_is_answered(
    way: str, schedules: int
) -> None:
    async def story() -> None:
        disk, stubborn = Disk(), Latch()

        async def engine(run: Run) -> None:
            try:
                await talk(run)
            finally:
                await asyncio.sleep(0)
                stubborn.came.set()

        async with runtime(engine, store=disk) as r:
            session = r.session("s")
            await (await session.send("go")).started()
            receipt = await _ASK[way](session)
            found = await disk.found().entries(SessionId("s"))

            assert receipt.durable
            assert _receipts(found) == [replace(receipt, later=None)]

    explore(story, schedules // 5)


class Counting(Disk):
    writes = 0

    async def commit(self, write: Write) -> None:
        self.writes += 1
        await super().commit(write)


def test_what_has_ended_by_then_is_in_the_fences_own_commit() -> None:
    async def story() -> None:
        disk, latch = Counting(), Latch()
        async with runtime(lambda _: latch.wait(), store=disk) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            before = disk.writes
            await session.stop()

            assert disk.writes == before + 1

    play(story, Choices())  # in the loop's own order, and its time stands still


class Full(Disk):
    after: int | None = None

    async def commit(self, write: Write) -> None:
        if self.after is not None:
            self.after -= 1
            if self.after < 0:
                raise StoreError("the disk is full")
        await super().commit(write)


@pytest.mark.parametrize("stored", [0, 1])
async def test_a_receipt_whose_account_could_not_be_stored_says_so(stored: int) -> None:
    disk, latch = Full(), Latch()

    async def engine(run: Run) -> None:
        try:
            await latch.wait()
        finally:
            await asyncio.sleep(0.05)  # longer than the fence's commit waits

    async with runtime(engine, store=disk) as r:
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        disk.after = stored
        receipt = await session.stop()

        assert not receipt.durable
        assert _receipts(await disk.found().entries(SessionId("s"))) == []
        disk.after = None
        await (await session.send("again")).started()  # which is stored with what is left
        [late] = _receipts(await disk.found().entries(SessionId("s")))
        assert late == replace(receipt, durable=True, later=None)


@pytest.mark.scenario("R26", part="sqlite")
@pytest.mark.scenario("R27", part="sqlite")
@pytest.mark.parametrize("way", WAYS)
async def test_a_stop_that_was_answered_survives_kill_9_at_the_answer(
    way: str, tmp_path: Path
) -> None:
    file = tmp_path / "lastword.db"
    argv = [sys.executable, str(VICTIM), str(file), way]
    died = await asyncio.to_thread(subprocess.run, argv, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()

    store = SqliteStore(file)
    await store.open()
    entries = await store.entries(SessionId("s"))
    await store.close()
    stopped = [e for e in entries if isinstance(e, Finished)]
    wanted = Outcome.SUPERSEDED if way == "takeover" else Outcome.STOPPED
    assert ("s#1", wanted) in [(e.run, e.outcome) for e in stopped]
    if way != "fence":
        assert len(_receipts(entries)) == 1

    ran: list[str] = []

    async def engine(run: Run) -> None:
        ran.append(run.message.text)

    async with runtime(engine, store=f"sqlite:{file}", on_restart="run") as r:
        await (await r.session("s").send("and now?")).outcome()
    assert "go" not in ran
    assert "queued" not in ran
