"""Continuing cells: each call of theirs is a call of the run, asked for, written down, stopped."""

import asyncio
from typing import Any

import pytest

from lastword import Run, Status, cells
from lastword.cells import ContinuingCell, Interpreter, ProgramLimits
from lastword.core.cell import CellOutcome, Ending
from lastword.core.entries import Called, Result
from lastword.errors import Superseded
from lastword.runtime.call import Call
from tests.cells.stage import opened, over
from tests.promise.workshop import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
GATHER = """
import asyncio
async def both(name):
    return await double(await double(name))
await asyncio.gather(both("a"), both("b"), double("c"))
"""


class Runs:
    """An engine that runs the program it is sent over these tools; how each ended."""

    def __init__(self, *tools: Any) -> None:
        self.tools = tools
        self.endings: list[Ending] = []

    async def __call__(self, run: Run) -> None:
        cell = await ContinuingCell.start(run, run.message.text, tools=self.tools)
        self.endings.append(await cell.wait())


async def test_calls_are_made_side_by_side_and_their_results_come_back_in_any_order(
    interpreter: Interpreter,
) -> None:
    together = asyncio.Barrier(3)
    first = ["a", "b", "c"]

    async def double(text: str) -> str:
        if text in first:
            await together.wait()  # all three are under way
        return text * 2

    engine = Runs(double)
    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        ticket = await session.send(GATHER)
        assert await ticket.outcome() == "completed", ticket.error
        assert engine.endings[0].result == '["aaaa", "bbbb", "cc"]'
        log = await session.log()
        assert sum(isinstance(entry, Called) for entry in log) == 5
        assert {e.status for e in log if isinstance(e, Result)} == {Status.COMPLETED}


async def test_a_call_that_is_not_allowed_or_fails_is_an_exception_in_the_program(
    interpreter: Interpreter,
) -> None:
    async def forbidden() -> None: ...
    async def broken(n: int) -> None:
        raise ValueError(f"no {n}")

    def before_tool(call: Call[Any]) -> None:
        if call.name == "forbidden":
            raise PermissionError("forbidden was not called: the person did not allow it")

    source = """
said = []
for call in (forbidden, lambda: broken(3)):
    try:
        await call()
    except RuntimeError as error:
        said.append(str(error))
said
"""
    engine = Runs(forbidden, broken)
    async with opened(engine, interpreter, before_tool=before_tool) as runtime:
        session = runtime.session("s")
        await (await session.send(source)).outcome()
        assert engine.endings[0].result == (
            '["forbidden was not called: the person did not allow it", "ValueError: no 3"]'
        )
        results = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert [one.status for one in results] == [Status.NOT_STARTED, Status.COMPLETED]


async def test_a_tool_that_is_called_wrongly_is_not_called(interpreter: Interpreter) -> None:
    called: list[int] = []

    async def add(a: int, b: int, by: object = asyncio.sleep, *, sign: int = 1) -> int:
        called.append(a * sign * bool(by))
        return a + b

    source = """
from typing import Any
wrong: Any = add
try:
    await wrong(1)
except RuntimeError as error:
    print(error)
await add(1, 2)
"""
    engine = Runs(add)
    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        await (await session.send(source)).outcome()
        assert engine.endings == [Ending(CellOutcome.COMPLETED, "3")]
        assert called == [1]
        [stored] = await session.cells()
        assert stored.record.output == ("add needs b\n",)


async def test_a_stop_ends_the_calls_and_its_receipt_says_what_may_have_executed(
    interpreter: Interpreter,
) -> None:
    up, gone = asyncio.Event(), list[str]()

    async def slow(name: str) -> None:
        up.set()
        try:
            await asyncio.sleep(3600)
        finally:
            gone.append(name)

    async with opened(Runs(slow), interpreter) as runtime:
        session = runtime.session("s")
        await session.send("await slow('a')")
        await up.wait()
        receipt = await session.stop()

        assert receipt.quiet
        assert gone == ["a"]
        assert [(one.name, one.status) for one in receipt.calls] == [
            ("slow", Status.MAY_HAVE_EXECUTED)
        ]
        [report] = receipt.cells
        assert report.waits == ("slow",)
        [stored] = await session.cells()
        assert stored.record.ending
        assert stored.record.ending.outcome is CellOutcome.FROZEN
        assert [call.name for call in stored.record.ending.may_have_executed] == ["slow"]


async def test_what_is_ended_ends_its_calls_and_the_run_goes_on(interpreter: Interpreter) -> None:
    up, gone = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        up.set()
        try:
            await asyncio.sleep(3600)
        finally:
            gone.set()

    async def engine(run: Run) -> None:
        cell = await ContinuingCell.start(run, "await slow()", tools=[slow])
        await up.wait()
        ending = await cell.terminate()
        assert ending.outcome is CellOutcome.TERMINATED
        await gone.wait()
        await run.emit("still here")

    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == "completed", ticket.error
        [result] = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert result.status is Status.MAY_HAVE_EXECUTED


async def test_a_cell_ends_with_the_run_that_makes_its_calls(interpreter: Interpreter) -> None:
    up = asyncio.Event()

    async def slow() -> None:
        up.set()
        await asyncio.sleep(3600)

    async def engine(run: Run) -> None:
        await ContinuingCell.start(run, "await slow()", tools=[slow])
        await up.wait()

    async with opened(engine, interpreter) as runtime:
        session = runtime.session("s")
        await (await session.send("go")).outcome()
        [stored] = await session.cells()
        ending = await over(session, stored.id)
        assert ending.outcome is CellOutcome.TERMINATED
        assert [call.name for call in ending.may_have_executed] == ["slow"]


async def test_a_stop_from_another_thread_lets_nothing_of_a_cell_begin(
    interpreter: Interpreter,
) -> None:
    late: list[str] = []
    held: list[Run] = []

    async def first() -> None:
        session = runtime.session("s")
        receipt = asyncio.get_running_loop().run_in_executor(None, session.stop_soon)
        await receipt

    async def second() -> None:
        late.append("second")

    async def engine(run: Run) -> None:
        held.append(run)
        cell = await ContinuingCell.start(
            run, "await first()\nawait second()", tools=[first, second]
        )
        await cell.wait()

    async with opened(engine, interpreter) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == "stopped"
        await until(lambda: not runtime.session("s").ending)
        assert late == []
        with pytest.raises(Superseded):
            await ContinuingCell.start(held[0], "1")


async def test_limits_hold_for_a_cell_and_are_told(interpreter: Interpreter) -> None:
    async def engine(run: Run) -> None:
        cell = await ContinuingCell.start(run, "while True: pass", limits=ProgramLimits(time=0.1))
        ending = await cell.wait()
        assert "longer than 0.1 seconds" in ending.error

    async with opened(engine, interpreter) as runtime:
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == "completed", ticket.error


async def test_it_is_watched_while_it_goes_on(interpreter: Interpreter) -> None:
    up, waits = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        up.set()
        await waits.wait()

    async with opened(Runs(slow), interpreter) as runtime:
        session = runtime.session("s")
        await session.send("print('on it')\nawait slow()")
        await up.wait()
        [cell] = session.shelf.open.values()
        async with cells.observe(session, cell.stored.id) as seen:
            assert (seen.standing, seen.fresh) == ("running", ("on it\n",))
            assert [call.name for call in seen.pending] == ["slow"]
        waits.set()
        assert (await over(session, cell.stored.id)).outcome is CellOutcome.COMPLETED
