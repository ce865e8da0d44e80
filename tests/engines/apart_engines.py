"""Every kind of engine, in a process of a run's own: made there as it is made everywhere, over the
provider and with the tools of the test. Which kinds, and where those are, the environment says."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

from lastword import Run
from lastword.testing.provider import Provider
from tests.engines.far import NearPlain, tools_of
from tests.engines.told import Scripted

KINDS = "LASTWORD_TEST_KINDS"  # by name: the provider's address, and the test's
OPENED = {
    "pydantic-ai": ("subject_pydantic_ai", "pydantic_ai"),
    "sdk": ("subject_sdk", "sdk_loop"),
    "openai-agents": ("subject_agents", "openai_agents"),
    "langgraph": ("subject_langgraph", "langgraph"),
    "claude": ("subject_claude", "claude"),
}
there: dict[str, list[str]] = json.loads(os.environ.get(KINDS, "{}"))
for _family in {kind.split()[0] for kind in there} & OPENED.keys():
    importlib.import_module(f"tests.engines.{OPENED[_family][0]}")


@asynccontextmanager
async def _served(url: str) -> AsyncGenerator[Provider]:
    elsewhere: Any = SimpleNamespace(url=url, refused=[])
    yield elsewhere


async def engine(run: Run) -> None:
    """A session is named after what is to answer in it."""
    kind = run.session.split(":")[0]
    url, path = there[kind]
    family, *spoken = kind.split()
    if family not in OPENED:
        await NearPlain(kind, path).engine(run)
        return
    module, name = OPENED[family]
    opened = getattr(importlib.import_module(f"tests.engines.{module}"), name)
    context = cast("AbstractAsyncContextManager[Scripted]", opened(*spoken, served=_served(url)))
    async with context as subject:
        for tool in await tools_of(path):
            subject.tool(tool)
        await subject.engine(run)
