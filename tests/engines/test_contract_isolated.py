"""The contract of engines, of engines that live in processes of their own: unchanged, and the same
stories as everywhere."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio

from lastword import FeedEvent, Runtime
from lastword.engines.isolated import Isolated
from lastword.testing.provider import Provider
from tests.engines.apart_engines import KINDS
from tests.engines.contract_stories import STORIES, Talk
from tests.engines.far import FarPlain, FarSide
from tests.engines.subject_claude import claude_told
from tests.engines.subjects import HEAVY, PLAIN, SUBJECTS
from tests.engines.told import Scripted, Subject

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.scenario("Z22")]
Talks = dict[str, Talk]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Talks]:
    """Of each kind that is asked for: all of them live in one runtime."""
    items: list[Any] = [item for item in request.session.items if item.path == request.path]
    kinds: list[str] = sorted({item.callspec.params["kind"] for item in items})
    heard: list[FeedEvent] = []
    engine = Isolated("tests.engines.apart_engines:engine")
    async with AsyncExitStack() as stack:
        subjects = {kind: await _subject(stack, kind, tmp_path_factory) for kind in kinds}
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv(KINDS, json.dumps({kind: where for kind, (_, where) in subjects.items()}))
        runtime = await stack.enter_async_context(Runtime(engine, sink=heard.append))
        assert await engine.why_slow() == ""
        yield {kind: Talk(one, runtime, heard, kind) for kind, (one, _) in subjects.items()}


async def _subject(
    stack: AsyncExitStack, kind: str, folders: pytest.TempPathFactory
) -> tuple[Subject, tuple[str, str]]:
    side = await stack.enter_async_context(FarSide(folders.mktemp("far") / "side"))
    if kind in PLAIN:
        return FarPlain(kind, side), ("", str(side.path))
    provider = await stack.enter_async_context(Provider())
    return FarScripted(kind, provider, side), (provider.url, str(side.path))


class FarScripted(Scripted):
    """The test's end of an engine that asks a provider."""

    def __init__(self, kind: str, provider: Provider, side: FarSide) -> None:
        in_tasks = kind.split(maxsplit=1)[0] in ("langgraph", "openai-agents")
        super().__init__(provider, _nowhere, side.add, in_tasks=in_tasks)
        self._kind = kind

    @property
    def steered(self) -> list[str]:
        return claude_told(self.provider) if self._kind in HEAVY else super().steered


async def _nowhere(run: object) -> None:
    """It is where its runs are."""


@pytest.mark.parametrize("kind", SUBJECTS)
@pytest.mark.parametrize("story", STORIES)
async def test_an_engine_is_isolated_unchanged(talks: Talks, kind: str, story: str) -> None:
    await STORIES[story](talks[kind])
