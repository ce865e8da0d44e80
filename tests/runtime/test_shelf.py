"""Cells of a session outlive its runs and its process, but not a stop or a takeover."""

import asyncio
import sqlite3
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from lastword import Receipt, Run, Runtime
from lastword.core.cell import (
    CellId,
    CellOutcome,
    CellRecord,
    Ending,
    Frontier,
    PendingCall,
    PendingGeneration,
    StoredCell,
)
from lastword.core.frontier import CellMachine
from lastword.core.model import CallId, SessionId
from lastword.errors import StoreError
from lastword.runtime.session_cells import Asleep
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.promise.workshop import until

_WAITS = (PendingCall(CallId("c1:1"), "write_file"),)
_PAUSED = CellRecord(
    *(CellId("c1"), "pausable", 2, Frontier(PendingGeneration(1), _WAITS), True),
    *((), (), (), None),
)


def paused(run: str = "s#1") -> Asleep:
    stored = StoredCell(SessionId("s"), _PAUSED, "await write_file()", run=run)
    return Asleep(stored, CellMachine.restore(_PAUSED)[0])


async def leave_one(run: Run) -> None:
    """What a run does that leaves a cell at a frontier."""
    cell = paused(run.id)
    run.shelf.put(cell)
    run.shelf.keep(cell.stored)
    await run.shelf.committed()
    if run.message.text == "and go on":
        await asyncio.sleep(3600)


async def outcomes(runtime: Runtime) -> list[CellOutcome | None]:
    cells = await runtime.session("s").cells()
    return [cell.record.ending and cell.record.ending.outcome for cell in cells]


async def test_a_run_that_ends_leaves_its_cell_standing_and_a_stop_freezes_it() -> None:
    async with Runtime(leave_one) as runtime:
        session = runtime.session("s")
        await (await session.send("go")).outcome()
        assert await outcomes(runtime) == [None]
        receipt = await session.stop()
        assert receipt
        assert receipt.quiet
        assert [(cell.cell, cell.waits) for cell in receipt.cells] == [("c1", ("write_file",))]
        assert "programs frozen: c1 (waited on write_file)" in str(receipt)
        assert Receipt.from_json(receipt.to_json()) == receipt
        assert await outcomes(runtime) == [CellOutcome.FROZEN]
        assert not await session.stop()


@pytest.mark.parametrize("how", ["stop", "takeover", "run"])
async def test_a_cell_is_frozen_in_the_transaction_of_the_fence(how: str, tmp_path: Path) -> None:
    async with Runtime(leave_one, store=f"sqlite:{tmp_path / 'it.db'}") as runtime:
        session = runtime.session("s")
        await session.send("and go on")
        await until(lambda: session.shelf.open)
        if how == "takeover":
            ticket = await session.send("something else")
            receipt = await ticket.receipt()
        else:
            receipt = await session.stop(run="s#1" if how == "run" else None)
        assert receipt
        assert [cell.cell for cell in receipt.cells] == ["c1"]


async def test_a_stop_of_one_run_leaves_the_cells_of_others() -> None:
    async with Runtime(leave_one) as runtime:
        session = runtime.session("s")
        await session.send("and go on")
        await until(lambda: session.shelf.open)
        other = paused("s#0")
        elsewhere = replace(other.stored, record=replace(_PAUSED, cell=CellId("c2")))
        session.shelf.put(Asleep(elsewhere, CellMachine.restore(elsewhere.record)[0]))
        receipt = await session.stop(run="s#1")
        assert [cell.cell for cell in receipt.cells] == ["c1"]
        assert CellId("c2") in session.shelf.open


async def test_a_cell_that_comes_between_a_fence_and_the_loop_is_frozen_with_its_run() -> None:
    async def engine(run: Run) -> None:
        stops.append(session.stop_soon())  # as another thread would: the loop has not heard of it
        run.shelf.put(paused(run.id))

    stops: list[Future[Receipt]] = []
    async with Runtime(engine) as runtime:
        session = runtime.session("s")
        await (await session.send("go")).outcome()
        receipt = await asyncio.wrap_future(stops[0])
        assert [cell.cell for cell in receipt.cells] == ["c1"]
        assert session.shelf.open == {}


async def test_a_cell_outlives_the_process_and_a_stop_of_the_next_one_freezes_it(
    tmp_path: Path,
) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with Runtime(leave_one, store=store) as runtime:
        await runtime.session("s").send("and go on")
        await until(lambda: runtime.session("s").shelf.open)
    async with Runtime(leave_one, store=store) as runtime:
        assert [cell.id for cell in await runtime.cells()] == ["c1"]
        receipt = await runtime.session("s").stop()
        assert [cell.cell for cell in receipt.cells] == ["c1"]
    async with Runtime(leave_one, store=store) as runtime:
        assert await runtime.cells() == ()


async def test_a_cell_that_ran_when_its_process_died_is_lost(tmp_path: Path) -> None:
    running = replace(_PAUSED, paused=False, doubtful=_WAITS)

    async def engine(run: Run) -> None:
        run.shelf.keep(StoredCell(SessionId("s"), running, "", run=run.id))
        await run.shelf.committed()

    store = f"sqlite:{tmp_path / 'it.db'}"
    async with Runtime(engine, store=store) as runtime:
        await (await runtime.session("s").send("go")).outcome()
    async with Runtime(engine, store=store) as runtime:
        session = runtime.session("s")
        await session.loaded()
        assert session.shelf.open == {}
        [cell] = await session.cells()
        assert cell.record.ending
        assert cell.record.ending.outcome is CellOutcome.LOST
        assert cell.record.ending.may_have_executed == _WAITS


async def test_a_cell_that_cannot_be_read_keeps_nobody_from_anything(tmp_path: Path) -> None:
    path = tmp_path / "it.db"
    async with Runtime(leave_one, store=f"sqlite:{path}") as runtime:
        await (await runtime.session("s").send("go")).outcome()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE cells SET body = json_set(body, '$.newer', 1)")
    db.close()
    async with Runtime(leave_one, store=f"sqlite:{path}") as runtime:
        assert await runtime.cells() == ()
        assert await (await runtime.session("s").send("again")).outcome() == "completed"


async def test_what_a_completion_wanted_remembered_is_stored_with_it_or_never() -> None:
    class Failing(MemoryStore):
        failures = 0

        async def commit(self, write: Write) -> None:
            if write.values and self.failures:
                self.failures -= 1
                raise StoreError("the disk is full")
            await super().commit(write)

    store = Failing()

    async def engine(run: Run) -> None:
        done = replace(_PAUSED, paused=False, ending=Ending(CellOutcome.COMPLETED))
        run.shelf.keep(StoredCell(SessionId("s"), done, "", run=run.id), (("paid", "42"),))
        with pytest.raises(StoreError):
            await run.shelf.committed()

    async with Runtime(engine, store=store) as runtime:
        store.failures = 1
        await (await runtime.session("s").send("go")).outcome()
        assert await runtime.session("s").cells() == ()
        assert await store.values(SessionId("s")) == ()
