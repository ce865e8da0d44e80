"""A runtime whose cells share the interpreter of the tests, and runs that leave cells standing."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lastword import Run, Runtime, Session, cells
from lastword.cells import Err, Ok, PausableCell
from lastword.cells.home import Steps
from lastword.core.cell import Ending, Frontier, Observation
from lastword.runtime.run import Engine
from lastword.stores.contract import Store
from tests.cells.programs import ASK, READ

TWO = """
import asyncio
print("before")
found = await asyncio.gather(read("a"), read("b"))
print("after")
found
"""


@asynccontextmanager
async def opened(
    engine: Engine,
    steps: Steps,
    store: str | Store = "memory:",
    **how: Any,
) -> AsyncGenerator[Runtime]:
    async with Runtime(cells.engine(engine), store=store, **how) as runtime:
        cells.run_by(runtime.processes, steps)
        yield runtime


class Leaver:
    """An engine that begins the program it is sent, and is done when that stands or has ended.

    A message that begins with "stay" leaves the run going.
    """

    def __init__(self) -> None:
        self.started: list[PausableCell] = []

    async def __call__(self, run: Run) -> None:
        source = run.message.text.removeprefix("stay")
        if source == "say":
            return
        cell = await PausableCell.start(run, source, tools=[READ, ASK])
        await cell.wait()
        self.started.append(cell)
        if source != run.message.text:
            await asyncio.sleep(3600)


async def left_standing(session: Session, source: str = TWO) -> tuple[str, Frontier]:
    """The cell that a run has left at its first frontier."""
    before = {stored.id for stored in await session.cells()}
    assert await (await session.send(source)).outcome() == "completed"
    [stored] = [one for one in await session.cells() if one.id not in before]
    assert stored.record.paused
    assert stored.record.frontier
    return stored.id, stored.record.frontier


async def look(session: Session, cell: str) -> Observation:
    async with cells.observe(session, cell) as seen:
        return seen


async def over(session: Session, cell: str) -> Ending:
    ending = await cells.wait(session, cell)
    assert isinstance(ending, Ending)
    return ending


def answers(cell: str, **given: Any) -> dict[str, Ok | Err]:
    """_0="A" answers the cell's first call."""
    return {f"{cell}:{number[1:]}": Ok(value) for number, value in given.items()}
