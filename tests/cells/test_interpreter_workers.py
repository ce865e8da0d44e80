"""The processes that programs run in: they are killed or given up, and nothing is lost.

Each test has an interpreter to itself, so that it knows whose processes it sees.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from lastword.cells import Interpreter, Ok, ProgramLimits, Step, StepFinished, StepLimit
from lastword.errors import ProcessError, WorkerDied
from lastword.extras import how_to_install
from lastword.processes import Processes
from lastword.processes.inside.family import Relative
from tests.cells import host_to_kill
from tests.cells.programs import ENDLESS, READ, THREE, at_frontier, frontier, interpreters
from tests.promise.workshop import gone, until
from tests.scenarios import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="module")
EITHER = pytest.mark.parametrize("whom", ["the interpreter", "the worker"])
A_LONG_TIME = ProgramLimits(time=600)
RESULTS = {"0": Ok("A"), "1": Ok("B"), "2": Ok("C")}
DONE = StepFinished(["A", "B", "C"], "after\n")


@asynccontextmanager
async def fresh(processes: Processes, workers: int = 1) -> AsyncGenerator[Interpreter]:
    interpreter = Interpreter(processes, workers=workers)
    yield interpreter
    await interpreter.close()


@asynccontextmanager
async def endless(
    interpreter: Interpreter, dump: bytes | None = None
) -> AsyncGenerator[asyncio.Future[Step]]:
    """A program that is running, and will be until somebody ends it."""
    up = asyncio.Event()

    def hear(_: str) -> None:
        up.set()

    step = (
        interpreter.resume(dump, {"0": Ok()}, on_output=hear)
        if dump
        else interpreter.start(ENDLESS, limits=A_LONG_TIME, on_output=hear)
    )
    running = asyncio.ensure_future(step)
    await up.wait()
    yield running
    running.cancel()
    await asyncio.wait([running])


def kill(one: Relative, whom: str) -> bool:
    try:
        os.kill(one.pid if whom == "the interpreter" else one.parent, signal.SIGKILL)
    except ProcessLookupError:  # a worker between two interpreters has just let go of one
        return False
    return True


@EITHER
async def test_a_frontier_outlives_the_process_that_reached_it(
    processes: Processes, whom: str
) -> None:
    async with fresh(processes) as interpreter:
        step = await frontier(interpreter, THREE)
        for _ in range(5):  # whatever they are doing when nothing is asked of them
            await until(lambda: any(kill(one, whom) for one in interpreters()))

            assert await interpreter.resume(step.dump, RESULTS) == DONE


@EITHER
async def test_a_process_that_is_killed_while_it_runs_is_reported_and_replaced(
    processes: Processes, whom: str
) -> None:
    async with fresh(processes) as interpreter:
        step = await frontier(interpreter, f"await ask()\n{ENDLESS}", A_LONG_TIME)
        async with endless(interpreter, step.dump) as running:
            [one] = interpreters()
            kill(one, whom)

            with pytest.raises(WorkerDied):
                await running
            assert gone(one.pid)
            assert gone(one.parent)
        async with endless(interpreter, step.dump) as again:  # what was kept is as good as before
            assert not again.done()


async def test_a_program_that_is_given_up_has_gone_with_its_worker_and_no_other_has(
    processes: Processes,
) -> None:
    async with fresh(processes, workers=2) as interpreter, endless(interpreter) as running:
        [mine] = interpreters()
        async with endless(interpreter) as other:
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

            assert gone(mine.pid)
            assert gone(mine.parent)
            assert await interpreter.start("1") == StepFinished(1)
            assert not other.done()


async def test_a_program_that_is_given_up_before_it_has_a_worker_never_runs(
    processes: Processes,
) -> None:
    printed: list[str] = []
    async with fresh(processes) as interpreter, endless(interpreter) as running:
        waiting = asyncio.ensure_future(interpreter.start("print('ran')", on_output=printed.append))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        running.cancel()

        assert await interpreter.start("1") == StepFinished(1)
    assert printed == []


async def test_a_worker_that_does_not_answer_is_ended_when_the_time_is_up(
    processes: Processes,
) -> None:
    async with fresh(processes) as interpreter:
        up = asyncio.Event()
        running = asyncio.ensure_future(
            interpreter.start(ENDLESS, limits=ProgramLimits(time=0.5), on_output=lambda _: up.set())
        )
        await up.wait()
        for one in interpreters():
            os.kill(one.parent, signal.SIGSTOP)
        step = await running

        assert isinstance(step, StepLimit)
        assert step.kind == "time"
        assert await interpreter.start("1") == StepFinished(1)


async def test_twenty_cells_share_two_workers(processes: Processes) -> None:
    async with fresh(processes, workers=2) as interpreter:

        async def cell(number: int) -> list[str]:
            source = f"import asyncio\nawait asyncio.gather(read('{number}'), read('b'), read('c'))"
            step = await interpreter.start(source, tools=[READ])
            for id_ in ("2", "0", "1"):
                args = {call.id: call.args[0] for call in at_frontier(step).pending}
                step = await interpreter.resume(at_frontier(step).dump, {id_: Ok(f"<{args[id_]}>")})
            assert isinstance(step, StepFinished)
            return step.value

        found = await asyncio.gather(*map(cell, range(20)))

        assert found == [[f"<{number}>", "<b>", "<c>"] for number in range(20)]
        assert len({kin.parent for kin in interpreters()}) <= 2


async def test_nothing_of_one_cell_is_there_for_the_next(processes: Processes) -> None:
    async with fresh(processes) as interpreter:
        await interpreter.start("secret = 1\nremember('secret', 2)")
        for source in ("eval('secret')", "recall('secret')"):
            step = await interpreter.start(source)

            assert "Error: " in str(getattr(step, "error", step))


async def test_an_interpreter_that_is_closed_ends_what_runs_and_starts_nothing(
    processes: Processes,
) -> None:
    async with fresh(processes) as interpreter, endless(interpreter) as running:
        [one] = interpreters()
        await interpreter.close()

        assert gone(one.pid)
        assert gone(one.parent)
        with pytest.raises(WorkerDied):
            await running
        with pytest.raises(ProcessError, match="has been closed"):
            await interpreter.start("1")


async def test_without_the_package_it_is_said_what_to_install(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    async with fresh(processes) as interpreter:
        with pytest.raises(ProcessError, match=re.escape(how_to_install(["cells"]))):
            await interpreter.start("1")


async def test_a_worker_is_told_nothing_of_our_environment(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "of-ours")
    async with fresh(processes) as interpreter, endless(interpreter):
        [one] = interpreters()
        for pid in (one.pid, one.parent):
            with open(f"/proc/{pid}/environ", "rb") as environment:  # noqa: ASYNC230, PTH123 - at once
                assert b"of-ours" not in environment.read()


async def test_no_worker_outlives_a_host_that_is_killed() -> None:
    with a_host() as host:
        assert host.stdout is not None
        said = await asyncio.get_running_loop().run_in_executor(None, host.stdout.readline)
        pids = [int(word) for word in said.split()]
        alive = [pid for pid in pids if not gone(pid)]
        host.kill()  # first of all: it would not end by itself

        assert len(alive) >= 5  # two workers, an interpreter that is busy, and whoever watches them
        await until(lambda: all(map(gone, pids)))


def a_host() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", host_to_kill.__name__]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True)
