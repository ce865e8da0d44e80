"""What a cell costs: to its first frontier, from one to the next, and for each call of a tool."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bench.turns import heading, in_turns, row
from lastword import Run, Runtime, Session, cells
from lastword.cells import (
    AtFrontier,
    ContinuingCell,
    Interpreter,
    Ok,
    PausableCell,
    ProgramLimits,
    Tool,
)
from lastword.core.cell import CellOutcome, Frontier
from lastword.processes import Processes

EXEC = "exec in this process"
FRESH = "a fresh `python -c`"
HERE = Path(__file__).parent.parent  # on the disk that the repository is on
NEXT = Tool("next_one", {"type": "object", "properties": {"n": {"type": "integer"}}})
STEPS = 60  # frontiers of a cell, one after the other
LONG = f"x = 0\nfor n in range({STEPS}):\n    x += await next_one(n)\nx"
MANY = "import asyncio\nsum(await asyncio.gather(*[next_one(n) for n in range({})]))"
LIMITS = ProgramLimits(time=60, calls=2000)
CALLS, CELLS = 200, 100
STARTS = 8


async def main() -> None:
    fresh = await fresh_process()
    plain = await in_turns({"exec": plain_start, "calls": plain_calls}, times=20, rounds=5)
    await of_the_interpreter(plain["exec"], fresh)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=HERE) as directory:
        for store in ("memory:", f"sqlite:{directory}/cells.db"):
            await of_cells(store, plain["exec"], fresh)
    await of_calls(plain["calls"] / CALLS, fresh)


# beside what it is put


async def plain_start(times: int) -> None:
    """The same program to its first call, with nothing between it and us."""
    for _ in range(times):
        body = "\n".join(f"    {line}" for line in LONG.splitlines()[:-1])
        scope: dict[str, Callable[[], Awaitable[None]]] = {}
        exec(f"async def program(next_one):\n{body}", scope)  # noqa: S102 - what is measured
        coroutine = scope["program"](_never)  # type: ignore[call-arg]
        coroutine.send(None)  # type: ignore[attr-defined]
        coroutine.close()  # type: ignore[attr-defined]


async def _never(_: int) -> int:
    await asyncio.sleep(0)
    return 1


async def plain_calls(times: int) -> None:
    """As many calls of a tool, by a program that nothing keeps from anything."""
    for _ in range(times):
        for _ in range(CALLS):
            await _never(1)


async def fresh_process() -> float:
    took: list[float] = []
    for _ in range(STARTS):
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
        await process.wait()
        took.append(time.perf_counter() - began)
    return median(took)


# the interpreter


async def of_the_interpreter(plain: float, fresh: float) -> None:
    heading("a program in a worker, nothing stored")
    async with Processes() as processes:
        interpreter = Interpreter(processes)
        first = await _frontier(interpreter)

        async def start(times: int) -> None:
            for _ in range(times):
                await _frontier(interpreter)

        async def load_and_dump(times: int) -> None:
            for _ in range(times):
                await interpreter.resume(first.dump, {"0": Ok(1)})

        took = await in_turns({"start": start, "resume": load_and_dump}, times=3, rounds=4)
        row("start to the first frontier", took["start"], (EXEC, plain), (FRESH, fresh))
        row("load a dump, go on, dump again", took["resume"], (EXEC, plain), (FRESH, fresh))
        print(f"  {'a frontier as it is kept':<52}{len(first.dump) / 1024:>6.1f} KiB")
        await interpreter.close()


async def _frontier(interpreter: Interpreter) -> AtFrontier:
    step = await interpreter.start(LONG, tools=[NEXT], limits=LIMITS)
    assert isinstance(step, AtFrontier), step  # noqa: S101
    return step


# cells


async def of_cells(store: str, plain: float, fresh: float) -> None:
    starts: list[float] = []
    resumes: list[float] = []

    async def engine(run: Run) -> None:
        begun = [await _begun(run, starts) for _ in range(STARTS)]
        for cell in begun[2:]:
            await cell.terminate()
        while isinstance(now := await begun[0].wait(), Frontier):  # the second is left standing
            began = time.perf_counter()
            await begun[0].resume(now.generation, {now.pending[0].id: Ok(1)})
            await begun[0].wait()
            resumes.append(time.perf_counter() - began)

    async with Runtime(cells.engine(engine), store=store) as runtime:
        session = runtime.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == "completed", ticket.error  # noqa: S101
        [standing] = await cells.paused(runtime)
        outside = await _answered(session, standing.id)
    heading(f"pausable cells, every frontier stored: {store.partition(':')[0]}")
    row("start to the first frontier", median(starts), (EXEC, plain), (FRESH, fresh))
    row("resume in a run, to the next frontier", median(resumes), (EXEC, plain), (FRESH, fresh))
    row("resume from outside: a message, its run, its end", median(outside), (FRESH, fresh))


async def _begun(run: Run, took: list[float]) -> PausableCell:
    began = time.perf_counter()
    cell = await PausableCell.start(run, LONG, tools=[NEXT], limits=LIMITS)
    await cell.wait()
    took.append(time.perf_counter() - began)
    return cell


async def _answered(session: Session, cell: str) -> list[float]:
    """Resume it from outside, again and again, until it has ended."""
    took: list[float] = []
    while isinstance(now := await cells.wait(session, cell), Frontier):
        began = time.perf_counter()
        ticket = await cells.resume(session, cell, now.generation, {now.pending[0].id: Ok(1)})
        await ticket.outcome()
        took.append(time.perf_counter() - began)
    return took


async def of_calls(plain: float, fresh: float) -> None:
    heading("calls through the gate, by continuing cells (memory store)")
    async with Runtime(cells.engine(call_all)) as runtime:
        await _asked(runtime, "warm", LONG, 1)
        one = await _asked(runtime, "one by one", LONG, 1) / STEPS
        together = await _asked(runtime, "at once", MANY.format(CALLS), 1) / CALLS
        many = await _asked(runtime, "many", MANY.format(20), CELLS) / (20 * CELLS)
    for name, took in (
        ("one cell, one call after the other", one),
        (f"one cell, {CALLS} calls at once", together),
        (f"{CELLS} cells at once, 20 calls each", many),
    ):
        row(f"{name} ({1 / took:,.0f} calls/s)", took, ("a plain call", plain), (FRESH, fresh))


async def call_all(run: Run) -> None:
    async def next_one(n: int) -> int:
        return n

    source, _, count = run.message.text.rpartition("#")

    async def one() -> None:
        cell = await ContinuingCell.start(run, source, tools=[next_one], limits=LIMITS)
        ending = await cell.wait()
        assert ending.outcome is CellOutcome.COMPLETED, ending  # noqa: S101

    await asyncio.gather(*(one() for _ in range(int(count))))


async def _asked(runtime: Runtime, name: str, source: str, count: int) -> float:
    took: list[float] = []
    for number in range(1 if count > 1 else 3):
        began = time.perf_counter()
        ticket = await runtime.session(f"{name} {number}").send(f"{source}#{count}")
        assert await ticket.outcome() == "completed", ticket.error  # noqa: S101
        took.append(time.perf_counter() - began)
    return median(took)
