"""Calls that a person allows at a frontier: made once, by the run that resumes the cell."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lastword import Run, Runtime, cells
from lastword.cells import Interpreter, PausableCell, Resume
from lastword.cells.translation import result_of
from lastword.core.cell import CallResult, CellId, CellOutcome, Ending, Frontier, PendingCall
from lastword.errors import CellGone, WrongCalls
from tests.cells.programs import READ
from tests.cells.stage import Leaver, answers, left_standing, opened, over
from tests.cells.test_cell import Dying
from tests.promise.disk import Disk

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Maker:
    """Makes the calls that are allowed, when it may."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.begun, self.may = asyncio.Event(), asyncio.Event()

    async def serve(self, run: Run, asked: Resume) -> None:
        await (await cells.delivered(run, asked, self.make)).wait()

    async def make(self, calls: Sequence[PendingCall]) -> list[CallResult]:
        self.made += [call.id for call in calls]
        self.begun.set()
        await self.may.wait()
        return [result_of(call.id, cells.Ok(call.id)) for call in calls]


def with_maker(maker: Maker, steps: cells.Interpreter | Dying, store: Disk) -> Runtime:
    runtime = Runtime(cells.engine(Leaver(), serve=maker.serve), store=store)
    cells.run_by(runtime.processes, steps)
    return runtime


async def test_what_is_allowed_is_made_and_comes_with_what_was_answered(
    interpreter: Interpreter,
) -> None:
    maker = Maker()
    maker.may.set()
    async with with_maker(maker, interpreter, Disk()) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)
        with pytest.raises(WrongCalls):
            await cells.resume(session, cell, 1, answers(cell, _0="A"), allow=[f"{cell}:0"])
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A"), allow=[f"{cell}:1"])

        assert await ticket.outcome() == "completed", ticket.error
        assert (await over(session, cell)).result == f'["A", "{cell}:1"]'
        assert maker.made == [f"{cell}:1"]


async def test_what_may_have_been_made_when_the_process_died_cannot_be_allowed_again(
    interpreter: Interpreter,
) -> None:
    maker, disk = Maker(), Disk()
    async with with_maker(maker, interpreter, disk) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)
        await cells.resume(session, cell, 1, allow=[f"{cell}:0"])
        await maker.begun.wait()
        found = disk.found()
    async with with_maker(maker, interpreter, found) as runtime:
        session = runtime.session("s")
        ending = await over(session, cell)
        assert ending.outcome is CellOutcome.LOST
        assert [call.id for call in ending.may_have_executed] == [f"{cell}:0"]
        with pytest.raises(CellGone):
            await cells.resume(session, cell, 1, allow=[f"{cell}:0"])


async def test_what_was_made_and_could_not_be_delivered_is_not_given_back(
    interpreter: Interpreter,
) -> None:
    maker, steps = Maker(), Dying(interpreter)
    maker.may.set()
    async with with_maker(maker, steps, Disk()) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)
        steps.deaths = 100
        ticket = await cells.resume(session, cell, 1, allow=[f"{cell}:0"])

        assert await ticket.outcome() == "failed"
        ending = await over(session, cell)
        assert ending.outcome is CellOutcome.LOST
        assert [call.id for call in ending.may_have_executed] == [f"{cell}:0"]


async def test_where_nobody_can_make_calls_none_is_allowed(interpreter: Interpreter) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, frontier = await left_standing(session)
        ticket = await cells.resume(session, cell, 1, allow=[f"{cell}:0"])

        assert await ticket.outcome() == "failed"
        assert "bring results" in ticket.error
        assert await cells.wait(session, cell) == frontier


async def test_what_a_run_makes_for_a_frontier_is_offered_to_nobody_after_a_crash(
    interpreter: Interpreter,
) -> None:
    begun, may, disk = asyncio.Event(), asyncio.Event(), Disk()

    async def engine(run: Run) -> None:
        cell = await PausableCell.start(run, "await read('a')", tools=[READ])
        now = await cell.wait()
        assert isinstance(now, Frontier)

        async def make() -> list[CallResult]:
            begun.set()
            await may.wait()
            return [result_of(call.id, cells.Ok("A")) for call in now.pending]

        await cell.make(now.generation, now.pending, make)
        assert isinstance(await cell.wait(), Ending)

    async with opened(engine, interpreter, disk) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        await begun.wait()
        found = disk.found()
        assert await cells.paused(runtime) == ()
        may.set()
        assert await ticket.outcome() == "completed", ticket.error
    async with opened(engine, interpreter, found) as runtime:
        assert await cells.paused(runtime) == ()
        session = runtime.session("s")
        await session.loaded()
        [cell] = await session.cells()
        assert cell.record.ending
        assert [call.name for call in cell.record.ending.may_have_executed] == ["read"]


async def test_a_cell_that_is_ended_while_its_call_is_made_says_what_may_have_executed(
    interpreter: Interpreter,
) -> None:
    maker = Maker()
    async with with_maker(maker, interpreter, Disk()) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)
        await cells.resume(session, cell, 1, allow=[f"{cell}:0"])
        await maker.begun.wait()
        ending = await cells.terminate(session, cell)
        assert [call.id for call in ending.may_have_executed] == [f"{cell}:0"]
        [stored] = await session.cells()
        assert stored.record.ending == ending
        assert stored.record.frontier
        assert stored.record.frontier.dump == b""  # nobody goes on from there


async def test_a_frontier_that_cannot_be_read_has_no_call_made_for_it(
    interpreter: Interpreter,
) -> None:
    maker, disk = Maker(), Disk()
    maker.may.set()
    async with with_maker(maker, interpreter, disk) as runtime:
        session = runtime.session("s")
        cell, frontier = await left_standing(session)
        shelved = session.shelf.open[CellId(cell)].stored
        damaged = replace(frontier, dump=frontier.dump[:-1] + b"?")
        session.shelf.keep(replace(shelved, record=replace(shelved.record, frontier=damaged)))
        await session.shelf.committed()
        found = disk.found()
    async with with_maker(maker, interpreter, found) as runtime:
        session = runtime.session("s")
        ticket = await cells.resume(session, cell, 1, allow=[f"{cell}:0"])
        assert await ticket.outcome() == "failed"
        assert maker.made == []
        assert "damaged" in ticket.error
