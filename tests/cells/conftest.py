"""One interpreter for all tests of a file: its workers are what takes time to start."""

from collections.abc import AsyncGenerator

import pytest_asyncio

from lastword.cells import Interpreter
from lastword.processes import Processes


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def processes() -> AsyncGenerator[Processes]:
    async with Processes() as started:
        yield started


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def interpreter(processes: Processes) -> AsyncGenerator[Interpreter]:
    opened = Interpreter(processes, workers=2)
    yield opened
    await opened.close()
