"""No session's programs keep those of another waiting."""

import asyncio
from collections.abc import Mapping

from lastword import Run, Runtime, cells
from lastword.cells import Err, Ok, PausableCell, Step, StepFinished
from tests.promise.workshop import until


class Busy:
    """Programs called "hog" run until they may end; others are done at once."""

    def __init__(self) -> None:
        self.running = 0
        self.may = asyncio.Event()

    async def start(self, source: str, **_: object) -> Step:
        if source == "hog":
            self.running += 1
            await self.may.wait()
        return StepFinished(1)

    def must_read(self, dump: bytes) -> None:
        raise NotImplementedError

    async def resume(self, dump: bytes, results: Mapping[str, Ok | Err], **_: object) -> Step:
        raise NotImplementedError


async def test_one_session_has_only_some_of_the_workers() -> None:
    async def engine(run: Run) -> None:
        begun = [PausableCell.start(run, run.message.text) for _ in range(5)]
        for cell in await asyncio.gather(*begun):
            await cell.wait()

    async with Runtime(cells.engine(engine)) as runtime:
        busy = Busy()
        cells.run_by(runtime.processes, busy)
        hogs = await runtime.session("hogs").send("hog")
        await until(lambda: busy.running == 2)
        other = await runtime.session("other").send("quick")
        assert await other.outcome() == "completed", other.error
        assert busy.running == 2
        busy.may.set()
        assert await hogs.outcome() == "completed", hogs.error
        assert busy.running == 5
