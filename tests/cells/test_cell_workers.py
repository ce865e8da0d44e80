"""The interpreter that a runtime makes for its cells, and shares with nobody."""

from lastword import Runtime, cells
from tests.cells.programs import interpreters
from tests.cells.stage import Leaver, left_standing
from tests.promise.workshop import until


async def test_the_workers_of_a_runtime_end_when_it_is_closed() -> None:
    async with Runtime(cells.engine(Leaver())) as runtime:
        session = runtime.session("s")
        await left_standing(session)
        await session.send("while True: pass")
        await until(lambda: session.active and len(session.shelf.open) == 2)
        await until(interpreters)
    await until(lambda: not interpreters())
