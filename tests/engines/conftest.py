"""Stories that are told of every engine: where one starts a program each time, in the deep lane."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio

from lastword import Runtime
from lastword.engines.isolated import Isolated
from lastword.testing import Recorder
from tests.engines import apart
from tests.engines.contract import Place, before_tool
from tests.engines.subjects import HEAVY


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        params: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
        if params.get("kind") in HEAVY:
            item.add_marker(pytest.mark.deep("starts a program for each turn"))


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
