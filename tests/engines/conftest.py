"""Where stories of engines take place: in this process, and in one of their own."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from lastword import Runtime
from lastword.engines.isolated import Isolated
from lastword.testing import Recorder
from tests.engines import apart
from tests.engines.contract import Place, before_tool
from tests.engines.stage_isolated import Stage, staged


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["here", "isolated"])
async def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Place]:
    heard = Recorder()
    isolated = Isolated("tests.engines.apart:engine")
    engine = apart.engine if request.param == "here" else isolated
    store = f"sqlite:{tmp_path_factory.mktemp('store') / 'lastword.db'}"
    async with Runtime(engine, store=store, sink=heard, before_tool=before_tool) as runtime:
        if request.param == "isolated":
            assert await isolated.why_slow() == ""
        yield Place(runtime, heard)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened_stage() -> AsyncGenerator[Stage]:
    async with staged() as one:
        yield one


@pytest.fixture
def stage(opened_stage: Stage) -> Stage:
    """With nothing left of the test before."""
    opened_stage.begin_anew()
    return opened_stage
