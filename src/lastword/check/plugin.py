"""A Python agent, judged by pytest: a test for each story.

    pytest_plugins = ["lastword.check.plugin"]

    @pytest.mark.stops("my_agent:factory")
    def test_it_stops(story):
        story.must_be_kept()

The agent is judged once, when the first of the tests needs it. What cannot be told is skipped, and
says why; a SHOULD that is broken warns.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from lastword.check.asked import Subject
from lastword.check.catalogue import BY_ID, STORIES
from lastword.check.judge import Commission, Judge
from lastword.check.results import CheckReport, StoryResult

_REPORTS = pytest.StashKey[dict[str, CheckReport]]()
_OURS = "P"


def stops(factory: str, only: Sequence[str] = (), *, repeat: int = 0) -> CheckReport:
    """Judge the agent that `module:factory` makes: each of these stories, or all."""
    stories = [BY_ID[one] for one in only] or [one for one in STORIES if _OURS in one.kinds]
    judge = Judge(Subject("python", factory).maker(), Commission(stories, repeat=repeat))
    return asyncio.run(judge.report())


@dataclass(frozen=True, slots=True)
class JudgedStory:
    """What a test is told of one story."""

    result: StoryResult

    def must_be_kept(self) -> None:
        """Fail if a promise is broken; skip if nothing is known."""
        result = self.result
        seen = f"{result.story.id}: {result.story.words}. {result.why}"
        if result.verdict == "broken" and result.must:
            pytest.fail(f"{seen}\nBroken if {result.story.rule}.", pytrace=False)
        elif result.verdict == "broken":
            warnings.warn(f"SHOULD, and is broken: {seen}", stacklevel=2)
        elif result.verdict != "kept":
            pytest.skip(f"{result.verdict}: {seen}")


def pytest_configure(config: pytest.Config) -> None:
    """Say what the mark is."""
    config.addinivalue_line("markers", "stops(factory, only=()): judge an agent, story by story")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each story."""
    mark = metafunc.definition.get_closest_marker("stops")
    if mark and "story" in metafunc.fixturenames:
        wanted: Sequence[str] = mark.kwargs.get("only", ())
        ids = list(wanted) or [one.id for one in STORIES if _OURS in one.kinds]
        metafunc.parametrize("story", ids, indirect=True)


@pytest.fixture
def story(request: pytest.FixtureRequest) -> JudgedStory:
    """One story, as the agent of the mark keeps it."""
    mark = request.node.get_closest_marker("stops")
    factory: str = mark.args[0]
    wanted: Sequence[str] = mark.kwargs.get("only", ())
    reports = request.config.stash.setdefault(_REPORTS, {})
    key = f"{factory} {wanted}"
    if key not in reports:
        reports[key] = stops(factory, wanted)
    [found] = [one for one in reports[key].results if one.story.id == request.param]
    return JudgedStory(found)
