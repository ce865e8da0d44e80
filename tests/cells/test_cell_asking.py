"""R1. A run that has lost its session neither answers, ends nor begins a program, anywhere."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from lastword import Run, Session, Superseded, cells
from lastword.cells import ContinuingCell, Interpreter, PausableCell
from tests.cells.stage import Leaver, answers, left_standing, opened

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACTS: dict[str, Callable[[Run, Session, str], Awaitable[Any]]] = {
    "resume": lambda _, session, cell: cells.resume(
        session, cell, 1, answers(cell, _0="A", _1="B")
    ),
    "terminate": lambda _, session, cell: cells.terminate(session, cell),
    "PausableCell": lambda run, _, __: PausableCell.start(run, "1"),
    "ContinuingCell": lambda run, _, __: ContinuingCell.start(run, "1"),
}
READS = {"observe", "paused", "wait"}
# values, and what a program is made of before any run has it; `delivered` and `engine` are a run's
OTHERS = {
    *("AtFrontier", "Err", "StepFailed", "StepFinished", "Function", "Interpreter", "StepLimit"),
    *("ProgramLimits", "Ok", "StepCall", "Resume", "Step", "Tool", "arguments", "delivered"),
    *("engine", "function", "run_by", "stubs"),
}


@pytest.mark.scenario("R1")
async def test_every_public_name_of_cells_is_known_to_be_an_act_or_a_read() -> None:
    assert {*ACTS, *READS, *OTHERS} == set(cells.__all__)


@pytest.mark.scenario("R1")
@pytest.mark.parametrize("act", ACTS)
async def test_a_run_that_has_lost_its_session_touches_no_program(
    act: str, interpreter: Interpreter
) -> None:
    leaver, began, tried = Leaver(), asyncio.Event(), asyncio.Event()
    came_to: list[BaseException | None] = []
    cell = ""

    async def engine(run: Run) -> None:
        if run.message.text != "zombie":
            await leaver(run)
            return
        began.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            await ACTS[act](run, runtime.session("other"), cell)
        except BaseException as error:
            came_to.append(error)
            raise
        finally:
            tried.set()

    async with opened(engine, interpreter) as runtime:
        other = runtime.session("other")
        cell, _ = await left_standing(other)
        before = await cells.paused(runtime), other.generation, await other.log()
        await runtime.session("own").send("zombie")
        await began.wait()
        receipt = await runtime.session("own").stop()
        await tried.wait()

        assert [type(one) for one in came_to] == [Superseded]
        assert receipt.quiet
        assert (await cells.paused(runtime), other.generation, await other.log()) == before
        assert [one.id for one in before[0]] == [cell]
