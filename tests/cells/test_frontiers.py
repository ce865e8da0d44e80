"""Clause 10, end to end: looking never moves a cell, and a frontier is resumed at most once."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from lastword import Run, cells
from lastword.cells import Err, Interpreter, Ok, PausableCell
from lastword.core.cell import CellOutcome, Ending, Frontier
from lastword.errors import (
    AlreadyRunning,
    CellGone,
    FutureGeneration,
    ObserverBusy,
    StaleGeneration,
    UnknownCell,
    WrongCalls,
)
from tests.cells.programs import READ
from tests.cells.stage import TWO, Leaver, answers, left_standing, look, opened, over

pytestmark = pytest.mark.asyncio(loop_scope="module")
ONE_BY_ONE = "a = await read('a')\nprint('then')\nb = await read(a)\na + b"


@pytest.mark.scenario("F1", part="cells")
async def test_looking_five_times_shows_the_same_and_runs_nothing(
    interpreter: Interpreter,
) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)
        seen = [await look(session, cell) for _ in range(5)]

        assert [one.generation for one in seen] == [1] * 5
        assert {tuple(call.id for call in one.pending) for one in seen} == {
            (f"{cell}:0", f"{cell}:1")
        }
        assert {one.output for one in seen} == {"before\n"}
        assert [one.fresh for one in seen] == [("before\n",), (), (), (), ()]
        [stored] = await session.cells()
        assert stored.record.frontier
        assert stored.record.frontier.generation == 1


@pytest.mark.scenario("F2", part="cells")
async def test_a_frontier_is_resumed_once_and_every_other_number_is_refused(
    interpreter: Interpreter,
) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session, ONE_BY_ONE)

        with pytest.raises(FutureGeneration):
            await cells.resume(session, cell, 2, answers(cell, _0="A"))
        ticket = await cells.resume(session, cell, 1, answers(cell, _0="A"))
        with pytest.raises(AlreadyRunning):
            await cells.resume(session, cell, 1, answers(cell, _0="other"))
        assert await ticket.outcome() == "completed"
        with pytest.raises(StaleGeneration) as stale:
            await cells.resume(session, cell, 1, answers(cell, _0="A"))
        assert stale.value.current == 2
        ticket = await cells.resume(session, cell, 2, answers(cell, _1="B"))
        await ticket.outcome()
        assert (await over(session, cell)).result == '"AB"'
        with pytest.raises(CellGone):
            await cells.resume(session, cell, 2, answers(cell, _1="B"))


@pytest.mark.scenario("F2", part="cells")
async def test_of_many_who_resume_at_once_one_wins(interpreter: Interpreter) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session, "await read('a')")

        asked = [cells.resume(session, cell, 1, answers(cell, _0=n)) for n in range(5)]
        got = await asyncio.gather(*asked, return_exceptions=True)
        tickets = [one for one in got if not isinstance(one, BaseException)]

        assert len(tickets) == 1
        assert sum(isinstance(one, AlreadyRunning) for one in got) == 4
        winner = got.index(tickets[0])
        await tickets[0].outcome()
        assert (await over(session, cell)).result == str(winner)


@pytest.mark.scenario("F3", part="cells")
async def test_one_answer_of_two_gives_the_next_frontier_with_the_other(
    interpreter: Interpreter,
) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, first = await left_standing(session)
        await look(session, cell)

        await (await cells.resume(session, cell, 1, answers(cell, _1="B"))).outcome()
        second = await cells.wait(session, cell)
        assert isinstance(second, Frontier)
        assert second.generation == 2
        assert second.pending == first.pending[:1]
        assert second.output == ""
        assert (await look(session, cell)).fresh == ()

        await (await cells.resume(session, cell, 2, answers(cell, _0="A"))).outcome()
        assert (await over(session, cell)).result == '["A", "B"]'
        assert (await look(session, cell)).fresh == ("after\n",)


@pytest.mark.scenario("F6", part="cells")
async def test_output_is_given_once_and_goes_back_if_the_observer_left(
    interpreter: Interpreter,
) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session)

        with suppress(ConnectionError):
            async with cells.observe(session, cell, "ann") as seen:
                assert seen.fresh == ("before\n",)
                with pytest.raises(ObserverBusy, match="ann"):
                    await look(session, cell)
                raise ConnectionError
        assert (await look(session, cell)).fresh == ("before\n",)
        assert (await look(session, cell)).fresh == ()


@pytest.mark.scenario("F6", part="cells")
async def test_what_was_given_before_a_restart_is_not_given_after_it(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with opened(Leaver(), interpreter, store) as runtime:
        seen, _ = await left_standing(runtime.session("s"))
        unseen, _ = await left_standing(runtime.session("s"))
        await look(runtime.session("s"), seen)
    async with opened(Leaver(), interpreter, store) as runtime:
        assert (await look(runtime.session("s"), seen)).fresh == ()
        assert (await look(runtime.session("s"), unseen)).fresh == ("before\n",)


@pytest.mark.scenario("F10", part="cells")
async def test_a_wait_that_nobody_can_settle_is_an_error(interpreter: Interpreter) -> None:
    class Stuck:
        """An interpreter whose program waits on what was answered already."""

        async def start(self, source: str, **_: object) -> cells.Step:
            return await interpreter.start(source, tools=[READ])

        async def resume(self, dump: bytes, _: object) -> cells.Step:
            return cells.AtFrontier(dump, (cells.StepCall("0", "read", ("a",)),), "")

    async with opened(Leaver(), Stuck()) as runtime:  # type: ignore[arg-type]
        session = runtime.session("s")
        cell, _ = await left_standing(session, "await read('a')")
        await (await cells.resume(session, cell, 1, answers(cell, _0="A"))).outcome()

        ending = await over(session, cell)
        assert ending.outcome is CellOutcome.FAILED
        assert "nobody can settle" in ending.error


@pytest.mark.scenario("F10", part="cells")
@pytest.mark.scenario("F11", part="cells")
async def test_answers_that_do_not_fit_are_refused_whole(interpreter: Interpreter) -> None:
    async with opened(Leaver(), interpreter) as runtime:
        session = runtime.session("s")
        cell, frontier = await left_standing(session)
        other, _ = await left_standing(session)
        good = (f"{cell}:0", Ok("A"))

        for wrong in (
            (),
            (good, ("c0:9", Ok(1))),
            (good, (f"{cell}:2", Ok(1))),
            (good, (f"{other}:1", Ok(1))),
            (good, good),
            (good, (f"{cell}:0", Err("no"))),
        ):
            with pytest.raises(WrongCalls):
                await cells.resume(session, cell, 1, wrong)
        with pytest.raises(TypeError, match="plain data"):
            await cells.resume(session, cell, 1, {f"{cell}:0": Ok(object())})
        with pytest.raises(UnknownCell):
            await cells.resume(session, "c0", 1, [good])

        assert session.queue == ()
        assert await cells.wait(session, cell) == frontier
        await (await cells.resume(session, cell, 1, answers(cell, _0="A", _1="B"))).outcome()
        assert (await over(session, cell)).result == '["A", "B"]'


async def test_a_run_answers_its_own_cell(interpreter: Interpreter) -> None:
    async def engine(run: Run) -> None:
        cell = await PausableCell.start(run, TWO, tools=[READ])
        first = await cell.wait()
        assert isinstance(first, Frontier)
        await cell.resume(first.generation, answers(cell.id, _0="A"))
        with pytest.raises(StaleGeneration):
            await cell.resume(first.generation - 1, answers(cell.id, _1="B"))
        second = await cell.wait()
        assert isinstance(second, Frontier)
        await cell.resume(second.generation, {f"{cell.id}:1": Err("no such file")})
        ending = await cell.wait()
        assert isinstance(ending, Ending)
        await run.emit(f"{ending.outcome}: {ending.error.splitlines()[-1]}")

    async with opened(engine, interpreter) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == "completed", ticket.error
        history = await runtime.session("s").history()
        assert history[-1].text == "failed: RuntimeError: no such file"


async def test_what_is_remembered_is_there_for_later_cells_once_the_cell_completed(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    store = f"sqlite:{tmp_path / 'it.db'}"
    async with opened(Leaver(), interpreter, store) as runtime:
        session = runtime.session("s")
        cell, _ = await left_standing(session, "remember('n', 1)\nawait read('a')")
        await (await session.send("print(recall('n'))")).outcome()
        failed = (await session.cells())[-1].record.ending
        assert failed
        assert "nothing is remembered as 'n'" in failed.error
        await (await cells.resume(session, cell, 1, answers(cell, _1="A"))).outcome()
        assert (await over(session, cell)).outcome is CellOutcome.COMPLETED
        ended, _ = await left_standing(session, "remember('n', 2)\nawait read('a')")
        await cells.terminate(session, ended)
    async with opened(Leaver(), interpreter, store) as runtime:
        session = runtime.session("s")
        await (await session.send("recall('n')")).outcome()
        last = (await session.cells())[-1].record.ending
        assert last
        assert last.result == "1"
