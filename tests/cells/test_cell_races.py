"""Observers, resumes, ends and stops of one cell, in every order that a schedule can bring."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

import pytest

from lastword import Run, Session, cells
from lastword.cells import ContinuingCell
from lastword.core.cell import CellOutcome, Ending
from lastword.core.cell import Frontier as AtRest
from lastword.errors import CellError, CellGone
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import explore
from tests.cells.stage import Leaver, answers, left_standing
from tests.cells.tape import Tape
from tests.promise.stories import a_while, runtime

Actor: TypeAlias = Callable[["Stage"], Awaitable[None]]
TURNS = 20  # of the clock in which a resume is done


class Slow(MemoryStore):
    """Takes its time, before and after."""

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(0.001)
        await super().commit(write)
        await asyncio.sleep(0.001)


class Stage:
    """One cell at its first frontier, and all that was said to those who did something to it."""

    def __init__(self, session: Session, cell: str, tape: Tape, store: MemoryStore) -> None:
        self.session, self.cell, self.tape, self.store = session, cell, tape, store
        self.seen: list[str] = []  # by observers that stayed
        self.resumed = 0  # runs that a resume was accepted for, and that completed
        self.ended = 0  # those who were told that they ended it
        self.frozen = False  # a receipt says so
        self.fenced = False  # there was a stop, or a takeover

    async def resume(self) -> None:
        with suppress(CellError):
            given = answers(self.cell, _1="A")
            ticket = await cells.resume(self.session, self.cell, 1, given)
            self.resumed += await ticket.outcome() == "completed"

    async def terminate(self) -> None:
        with suppress(CellGone):
            ending = await cells.terminate(self.session, self.cell)
            assert ending.outcome is CellOutcome.TERMINATED
            self.ended += 1

    async def observe(self) -> None:
        with suppress(CellError):
            async with cells.observe(self.session, self.cell) as seen:
                await asyncio.sleep(0)
                self.seen += seen.fresh

    async def leave_early(self) -> None:
        with suppress(CellError, ConnectionError):
            async with cells.observe(self.session, self.cell):
                await asyncio.sleep(0)
                raise ConnectionError

    async def stop(self) -> None:
        self.fenced = True
        receipt = await self.session.stop()
        self.frozen = self.frozen or self.cell in {one.cell for one in receipt.cells}
        if self.frozen:
            with pytest.raises(CellGone):
                await cells.resume(self.session, self.cell, 1, answers(self.cell, _1="A"))

    async def take_over(self) -> None:
        self.fenced = True
        ticket = await self.session.send("say")
        receipt = await ticket.receipt()
        if receipt:
            self.frozen = self.frozen or self.cell in {one.cell for one in receipt.cells}

    async def check(self) -> None:
        """What holds whatever came first."""
        await a_while()
        settled = await cells.wait(self.session, self.cell)
        [stored] = [one for one in await self.session.cells() if one.id == self.cell]
        record = stored.record
        assert record.ending == (settled if isinstance(settled, Ending) else None)
        assert self.tape.taken[b"1/1"] <= 1, "a frontier was gone on from twice"
        outcome = record.ending and record.ending.outcome
        assert (outcome is CellOutcome.TERMINATED) == (self.ended == 1)
        assert (outcome is CellOutcome.FROZEN) == self.frozen
        done = outcome is CellOutcome.COMPLETED
        assert self.resumed == done or (
            done and self.fenced
        )  # a run may be stopped when its cell is done
        assert await self.store.values(self.session.id) == ((("n", "1"),) if done else ())
        if outcome is None:
            assert isinstance(settled, AtRest)
            assert record.paused
        printed = ["out 1\n", "out 2\n"] if done else ["out 1\n"]
        if outcome is not CellOutcome.FROZEN:
            assert self.seen + list(record.output) == printed, "output was lost, or given twice"
        assert not self.session.busy


def race(schedules: int, *actors: Actor) -> None:
    """All of them at once; then all but the first begin later and later, until it is done."""
    for late in range(TURNS):
        explore(races(late * 0.001, *actors), max(schedules // (2 * TURNS), 1))


def races(late: float, *actors: Actor) -> Callable[[], Coroutine[Any, Any, None]]:
    async def act(stage: Stage, actor: Actor, *, first: bool) -> None:
        await asyncio.sleep(0 if first else late)
        await actor(stage)

    async def story() -> None:
        tape, store = Tape(), Slow()
        async with runtime(cells.engine(Leaver()), store=store) as r:
            cells.run_by(r.processes, tape)
            session = r.session("s")
            cell, _ = await left_standing(session, "1")
            stage = Stage(session, cell, tape, store)
            acting = [act(stage, actor, first=actor is actors[0]) for actor in actors]
            await asyncio.gather(*acting)
            await stage.check()
        await a_while()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    return story


@pytest.mark.scenario("F7", part="cells")
def test_an_end_and_a_completion_have_one_winner(schedules: int) -> None:
    race(schedules, Stage.resume, Stage.terminate, Stage.terminate)


@pytest.mark.scenario("F2", part="cells")
@pytest.mark.scenario("F6", part="cells")
def test_two_resumes_and_two_observers_find_one_cell(schedules: int) -> None:
    actors = (Stage.resume, Stage.resume, Stage.observe, Stage.observe, Stage.leave_early)
    race(schedules, *actors)


@pytest.mark.scenario("F8", part="cells")
def test_a_stop_has_the_last_word_on_a_cell(schedules: int) -> None:
    race(schedules, Stage.resume, Stage.observe, Stage.stop, Stage.terminate)


@pytest.mark.scenario("F8", part="cells")
def test_a_takeover_freezes_a_cell_that_is_being_resumed(schedules: int) -> None:
    race(schedules, Stage.resume, Stage.take_over, Stage.observe)


@pytest.mark.parametrize("late", [0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006])
def test_a_runtime_that_closes_leaves_a_cell_at_a_frontier(schedules: int, late: float) -> None:
    async def story() -> None:
        tape, store = Tape(), Slow()
        async with runtime(cells.engine(Leaver()), store=store) as r:
            cells.run_by(r.processes, tape)
            session = r.session("s")
            cell, _ = await left_standing(session, "2")
            await cells.resume(session, cell, 1, answers(cell, _1="A"))
            await asyncio.sleep(late)
        await a_while()
        [stored] = await store.cells(session.id)
        frontier = stored.record.frontier
        assert stored.record.paused
        assert frontier
        assert tape.taken[b"1/2"] <= 1
        async with runtime(cells.engine(Leaver()), store=store) as r:
            cells.run_by(r.processes, tape)
            assert await cells.wait(r.session("s"), cell) == frontier

    explore(story, schedules // 10)


@pytest.mark.parametrize("late", [0.004, 0.007, 0.01, 0.013])
def test_a_stop_of_a_continuing_cell_lets_no_call_begin(schedules: int, late: float) -> None:
    async def story() -> None:
        fenced, calls = [False], list[int]()

        async def ask(what: int) -> int:
            assert not fenced[0]
            calls.append(what)
            await asyncio.sleep(0.001)
            return what

        async def engine(run: Run) -> None:
            await (await ContinuingCell.start(run, "3", tools=[ask])).wait()

        async with runtime(engine, store=Slow()) as r:
            cells.run_by(r.processes, Tape())
            session = r.session("s")
            await session.send("go")

            await asyncio.sleep(late)
            answer = session.stop()
            fenced[0] = True
            await answer
            await a_while()
            for stored in await session.cells():  # if it came to that
                assert stored.record.ending
                ended = stored.record.ending.outcome
                assert ended in {CellOutcome.FROZEN, CellOutcome.COMPLETED}
                assert (ended is CellOutcome.COMPLETED) <= (len(calls) == 3)
            assert calls == [1, 2, 3][: len(calls)]

    explore(story, schedules // 4)
