"""A child's session ends with its run: nothing is left standing there."""

import pytest

from lastword import Run, Runtime, cells
from lastword.cells import PausableCell
from tests.cells.tape import Tape


async def test_a_child_leaves_no_cell_that_nobody_could_answer() -> None:
    refused: list[str] = []

    async def child(run: Run) -> None:
        with pytest.raises(ValueError, match="use a ContinuingCell") as error:
            await PausableCell.start(run, "1")
        refused.append(str(error.value))

    async def engine(run: Run) -> None:
        assert await (await run.child("go", engine=child)).outcome() == "completed"

    async with Runtime(cells.engine(engine)) as runtime:
        cells.run_by(runtime.processes, Tape())
        ticket = await runtime.session("s").send("go")
        assert await ticket.outcome() == "completed", ticket.error
        assert len(refused) == 1
        assert await runtime.cells() == ()
