"""Cells belong to their session: what becomes of them when runs, workers and processes end."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lastword import Run, Runtime, cells
from lastword.cells import Interpreter, PausableCell
from lastword.cells.steps import Err, Ok, Step
from lastword.core.cell import CellId, CellOutcome, Frontier
from lastword.errors import (
    AlreadyRunning,
    CellGone,
    NotDelivered,
    NotPausable,
    Superseded,
    WorkerDied,
)
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from tests.cells.programs import READ
from tests.cells.stage import TWO, Leaver, answers, left_standing, look, opened, over
from tests.promise.disk import Disk
from tests.promise.workshop import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
F4 = pytest.mark.scenario("F4", part="cells")
F5 = pytest.mark.scenario("F5", part="cells")
F8 = pytest.mark.scenario("F8", part="cells")


class Dying:
    """An interpreter whose workers die of the next so many resumes."""

    def __init__(self, real: Interpreter) -> None:
        self.real = real
        self.deaths = 0

    async def start(self, source: str, **how: Any) -> Step:
        return await self.real.start(source, **how)

    def must_read(self, dump: bytes) -> None:
        self.real.must_read(dump)

    async def resume(self, dump: bytes, results: Mapping[str, Ok | Err], **how: Any) -> Step:
        if self.deaths:
            self.deaths -= 1
            raise WorkerDied("the worker went away")
        return await self.real.resume(dump, results, **how)


@F4
async def test_a_resume_that_cannot_be_delivered_fails_and_leaves_the_frontier(
    interpreter: Interpreter,
) -> None:
    steps = Dying(interpreter)
    async with opened(Leaver(), steps) as runtime:
        session = runtime.session("s")
        cell, frontier = await left_standing(session)
        steps.deaths = 100
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A"))

        assert await ticket.outcome() == "failed"
        assert "was not resumed, and still stands at frontier 1" in ticket.error
        assert await cells.wait(session, cell) == frontier
        assert [stored.id for stored in await cells.paused(runtime)] == [cell]

        steps.deaths = 1  # of one worker that dies, nobody has to know
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A", _1="B"))
        assert await ticket.outcome() == "completed", ticket.error
        assert (await over(session, cell)).result == '["A", "B"]'


@F4
async def test_a_run_is_told_that_its_resume_did_not_arrive(interpreter: Interpreter) -> None:
    steps = Dying(interpreter)

    async def engine(run: Run) -> None:
        cell = await PausableCell.start(run, TWO, tools=[READ])
        frontier = await cell.wait()
        steps.deaths = 100
        with pytest.raises(NotDelivered, match="the worker went away"):
            await cell.resume(1, answers(cell.id, _0="A"))
        assert await cell.wait() == frontier

    async with opened(engine, steps) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == "completed", ticket.error


@F5
async def test_a_frontier_that_nobody_saw_survives_waits_and_restarts(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with opened(Leaver(), interpreter, store) as runtime:
        session = runtime.session("s")
        cell, frontier = await left_standing(session)
        for _ in range(3):
            assert await cells.wait(session, cell) == frontier
    for _ in range(2):
        async with opened(Leaver(), interpreter, store) as runtime:
            [found] = await cells.paused(runtime)
            assert (found.id, found.record.frontier) == (cell, frontier)
            assert await cells.wait(runtime.session("s"), cell) == frontier
    async with opened(Leaver(), interpreter, store) as runtime:
        session = runtime.session("s")
        assert (await look(session, cell)).fresh == ("before\n",)
        await (await cells.resume(session, cell, 1, answers(cell, _0=1, _1=2))).outcome()
        assert (await over(session, cell)).result == "[1, 2]"
        assert await cells.paused(runtime) == ()


@F8
@pytest.mark.parametrize("how", ["stop", "takeover"])
async def test_a_cell_whose_run_was_fenced_is_frozen_and_its_handles_are_refused(
    interpreter: Interpreter, how: str
) -> None:
    leaver, tried = Leaver(), list[type[BaseException]]()

    async def engine(run: Run) -> None:
        if run.message.text.startswith("stay"):
            await leaver(run)
            return
        try:
            PausableCell.taken_up(run, leaver.started[0].id)
        except CellGone as error:
            tried.append(type(error))

    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        await session.send(f"stay{TWO}")
        await until(lambda: leaver.started)
        [old] = leaver.started
        frozen = await session.stop() if how == "stop" else None
        ticket = await session.send("something else")
        receipt = frozen or await ticket.receipt()

        assert receipt
        assert [(one.cell, one.waits) for one in receipt.cells] == [(old.id, ("read", "read"))]
        await ticket.outcome()
        assert tried == [CellGone]
        with pytest.raises(Superseded):
            await old.resume(1, answers(old.id, _0="A"))
        with pytest.raises(CellGone, match="frozen"):
            await cells.resume(session, old.id, 1, answers(old.id, _0="A"))
        with pytest.raises(CellGone, match="frozen"):
            await look(session, old.id)
        assert await cells.paused(runtime) == ()


async def test_a_stop_freezes_a_cell_that_runs_and_ends_its_worker(
    interpreter: Interpreter,
) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        await session.send("while True: pass")
        await until(lambda: session.shelf.open)
        receipt = await session.stop()

        assert receipt.quiet
        [report] = receipt.cells
        [stored] = await session.cells()
        assert stored.record.ending
        assert (stored.id, stored.record.ending.outcome) == (report.cell, CellOutcome.FROZEN)


async def test_a_stop_of_the_run_that_resumed_a_cell_freezes_it(interpreter: Interpreter) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        other, frontier = await left_standing(session)
        cell, _ = await left_standing(session, "await read('a')\nwhile True: pass")
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A"))
        await ticket.started()
        await until(lambda: session.shelf.open[CellId(cell)].stored.run == ticket.run)
        receipt = await session.stop(run=ticket.run)

        assert receipt.quiet
        assert [one.cell for one in receipt.cells] == [cell]
        assert await cells.wait(session, other) == frontier


async def test_a_resume_that_waits_in_the_queue_can_be_removed_and_asked_for_again(
    interpreter: Interpreter,
) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, frontier = await left_standing(session)
        busy = await session.send(f"stay{TWO}")
        await busy.started()
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A"))
        assert ticket.placed == "queued"
        with pytest.raises(AlreadyRunning):
            await cells.resume(session, cell, 1, answers(cell, _0="A"))

        await session.remove(ticket.message.id)
        assert await ticket.outcome() == "withdrawn"
        assert await cells.wait(session, cell) == frontier
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A", _1="B"))
        await session.stop(run=busy.run)
        assert await ticket.outcome() == "completed", ticket.error
        assert (await over(session, cell)).result == '["A", "B"]'


async def test_a_stop_takes_a_resume_that_waits_with_it_and_freezes_the_cell(
    interpreter: Interpreter,
) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)
        await (await session.send(f"stay{TWO}")).started()
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A"))
        receipt = await session.stop()

        assert await ticket.outcome() == "stopped"
        assert cell in {one.cell for one in receipt.cells}
        with pytest.raises(CellGone):
            await cells.resume(session, cell, 1, answers(cell, _0="A"))


async def test_a_resume_that_waited_when_the_process_died_is_delivered_by_the_next(
    interpreter: Interpreter,
) -> None:
    disk = Disk()
    async with opened(Leaver(), interpreter, disk) as runtime:
        session = runtime.session("s")
        cell, frontier = await left_standing(session)
        await session.send(f"stay{TWO}")
        asked = await cells.resume(session, cell, 1, answers(cell, _0="A", _1="B"))
        assert asked.placed == "queued"
        found = disk.found()
    async with opened(Leaver(), interpreter, found) as runtime:
        session = runtime.session("s")
        assert await cells.wait(session, cell) == frontier
        with pytest.raises(AlreadyRunning):
            await cells.resume(session, cell, 1, answers(cell, _0="other"))
        await session.resume()
        await until(lambda: not session.busy)
        assert (await over(session, cell)).result == '["A", "B"]'


async def test_a_cell_that_still_runs_when_its_run_ends_is_lost(
    interpreter: Interpreter,
) -> None:
    async def engine(run: Run) -> None:
        await PausableCell.start(run, "while True: pass", tools=[READ])

    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        await (await session.send("go")).outcome()
        [stored] = await session.cells()
        ending = await over(session, stored.id)
        assert ending.outcome is CellOutcome.LOST


async def test_a_completion_that_could_not_be_stored_commits_no_value(
    interpreter: Interpreter,
) -> None:
    class Sore(MemoryStore):
        fails = False

        async def commit(self, write: Write) -> None:
            if write.values and self.fails:
                raise OSError("the disk is full")
            await super().commit(write)

    store = Sore()
    async with Runtime(cells.engine(Leaver()), store=store) as runtime:
        cells.run_by(runtime.processes, interpreter)
        session = runtime.session("s")
        cell, _ = await left_standing(session, "await read('a')\nremember('n', 1)")
        store.fails = True
        await (await cells.resume(session, cell, 1, answers(cell, _0="A"))).outcome()
        store.fails = False

        ending = await over(session, cell)
        assert ending.outcome is CellOutcome.FAILED
        assert "none was committed" in ending.error
        assert await store.values(session.id) == ()


async def test_a_cell_can_be_ended_once(interpreter: Interpreter) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)

        assert (await cells.terminate(session, cell)).outcome is CellOutcome.TERMINATED
        with pytest.raises(CellGone):
            await cells.terminate(session, cell)
        seen = await look(session, cell)
        assert seen.ending
        assert seen.fresh == ("before\n",)
        assert await cells.paused(runtime) == ()
        assert session.shelf.open == {}


async def test_what_is_ended_while_it_runs_is_let_go_at_once(interpreter: Interpreter) -> None:
    class Endless(Dying):
        up = False

        async def start(self, source: str, **how: Any) -> Step:
            self.up = True
            try:
                await asyncio.sleep(3600)
            finally:
                self.up = False
            return await super().start(source, **how)

    steps = Endless(interpreter)

    async def engine(run: Run) -> None:
        cell = await PausableCell.start(run, "1")
        await until(lambda: steps.up)
        await cell.terminate()
        await until(lambda: not steps.up)

    async with opened(engine, steps) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == "completed", ticket.error


async def test_a_program_that_ends_after_a_stop_from_a_thread_commits_nothing() -> None:
    class Stopped(Dying):
        async def start(self, source: str, **how: Any) -> Step:
            session.stop_soon()  # the fence is there, and the loop has not heard of it yet
            return cells.StepFinished(source, remembered={"n": len(how)})

        def __init__(self) -> None: ...

    store = MemoryStore()
    async with opened(Leaver(), Stopped(), store) as runtime:
        session = runtime.session("s")
        ticket = await session.send("1")
        assert await ticket.outcome() == "stopped"
        receipt = await session.stop()
        assert receipt.quiet
        [stored] = await session.cells()
        assert stored.record.ending
        assert stored.record.ending.outcome is CellOutcome.FROZEN
        assert await store.values(session.id) == ()


async def test_a_resume_of_another_runs_cell_goes_on_for_the_run_that_resumes_it(
    interpreter: Interpreter,
) -> None:
    leaver = Leaver()

    async def engine(run: Run) -> None:
        if run.message.text != "go on":
            await leaver(run)
            return
        cell = PausableCell.taken_up(run, leaver.started[0].id)
        await cell.resume(1, answers(cell.id, _0="A"))
        assert isinstance(await cell.wait(), Frontier)
        assert cell.begun_by == run.id

    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        await left_standing(session)
        ticket = await session.send("go on")
        assert await ticket.outcome() == "completed", ticket.error


async def test_a_continuing_cell_is_not_for_others_to_answer(interpreter: Interpreter) -> None:
    waits = asyncio.Event()

    async def read(path: str) -> str:
        await waits.wait()
        return path

    async def engine(run: Run) -> None:
        await (await cells.ContinuingCell.start(run, "await read('a')", tools=[read])).wait()

    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        await session.send("go")
        await until(lambda: session.shelf.open)
        [on_shelf] = session.shelf.open.values()
        with pytest.raises(NotPausable):
            await cells.resume(session, on_shelf.stored.id, 1, {})
        waits.set()
        assert (await over(session, on_shelf.stored.id)).result == '"a"'
