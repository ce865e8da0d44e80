"""A program with workers for cells, one that never ends its work and one that has none.

It prints the numbers of all processes that came from it, and waits to be killed.
"""

import asyncio

from lastword.cells import Interpreter, ProgramLimits
from lastword.processes import Processes
from tests.cells.programs import ENDLESS, THREE, descendants, frontier, interpreters
from tests.promise.workshop import until


async def main() -> None:
    interpreter = Interpreter(await _processes(), workers=2)
    up = asyncio.Event()
    endless = asyncio.ensure_future(
        interpreter.start(ENDLESS, limits=ProgramLimits(time=600), on_output=lambda _: up.set())
    )
    await up.wait()
    await frontier(interpreter, THREE)
    await until(lambda: len(interpreters()) == 2)
    print(*(kin.pid for kin in descendants()), flush=True)  # noqa: T201 - its answer
    await endless


async def _processes() -> Processes:
    processes = Processes()
    await processes.start()
    return processes


if __name__ == "__main__":
    asyncio.run(main())
