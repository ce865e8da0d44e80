"""Targets of every kind, lastword among them: through the same doors as everybody else."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from lastword.check.asked import Subject
from lastword.check.catalogue import STORIES
from lastword.check.contract import Target
from lastword.check.recipes import recipe
from lastword.check.results import CheckReport
from tests.check.judging import judged, told

LASTWORD = [sys.executable, "-m", "lastword"]
TOKEN = {"authorization": "Bearer no-key-at-all-no-key"}
HOST = "http://127.0.0.1:{port}"
FEW = ("text.quiet", "tool.no-effect", "tool.asked", "shell.tree", "next.history", "crash.quiet")


def over_acp() -> Callable[[], Target]:
    return Subject("acp", command=[*LASTWORD, *recipe("lastword").command[1:]]).maker()


def served(kind: str, path: str, stop: str = "") -> Callable[[], Target]:
    known = recipe("lastword-serve")
    subject = Subject(kind, HOST + path, recipe="lastword-serve", headers=TOKEN, stop=stop)
    return replace(subject, command=[*LASTWORD, *known.command[1:]]).maker()


KINDS = {
    "acp": over_acp,
    "agui": lambda: served("agui", "/v1/agui", HOST + "/v1/sessions/{threadId}/stop"),
    "v1": lambda: served("v1", "/v1"),
}
ASKED = {"acp": 31, "agui": 12, "v1": 25}
OF_EACH = (
    pytest.param("acp", marks=pytest.mark.scenario("K4", part="acp")),
    pytest.param("agui", marks=pytest.mark.scenario("K4", part="agui")),
    pytest.param("v1", marks=pytest.mark.scenario("K4", part="v1")),
)

BROKEN_BY_ITSELF = {
    "pydantic-ai": ("tool.deaf", "tool.thread"),
    "openai-agents": ("next.truth", "tool.thread"),
    "langgraph": ("next.history", "tool.deaf"),
}
OF_FRAMEWORKS = (
    pytest.param("pydantic-ai", marks=pytest.mark.scenario("K5", part="pydantic-ai")),
    pytest.param("openai-agents", marks=pytest.mark.scenario("K5", part="openai-agents")),
    pytest.param("langgraph", marks=pytest.mark.scenario("K5", part="langgraph")),
)


@pytest.mark.parametrize("kind", OF_EACH)
async def test_lastword_keeps_what_it_is_asked_first(kind: str) -> None:
    stories = FEW if kind == "acp" else ("text.quiet", "tool.no-effect")

    report = await judged(KINDS[kind](), *stories, repeat=1, overlap=1)

    assert set(told(report, "kept")) == set(stories)


@pytest.mark.scenario("K4", part="acp")
@pytest.mark.scenario("K4", part="agui")
@pytest.mark.scenario("K4", part="v1")
async def test_lastword_keeps_every_must_and_should_that_it_is_asked(check_repeats: int) -> None:
    reports = await asyncio.gather(
        *(judged(make(), repeat=check_repeats) for make in KINDS.values())
    )

    assert [verdicts(one) for one in reports] == [({}, {}, ASKED[kind]) for kind in KINDS]


def verdicts(report: CheckReport) -> tuple[dict[str, str], dict[str, str], int]:
    """What is broken, what nobody knows, and how much is kept."""
    return told(report, "broken"), told(report, "cannot tell"), len(told(report, "kept"))


def an_agent_of(framework: str, who: str) -> Callable[[], Target]:
    module = framework.replace("-", "_")
    return Subject("python", f"tests.check.frameworks.{module}:{who}").maker()


@pytest.mark.parametrize("framework", OF_FRAMEWORKS)
async def test_an_agent_that_breaks_a_promise_by_itself_keeps_it_in_lastword(
    framework: str,
) -> None:
    stories = BROKEN_BY_ITSELF[framework]

    bare, ours = await asyncio.gather(
        judged(an_agent_of(framework, "Bare"), *stories, overlap=1),
        judged(an_agent_of(framework, "InLastword"), *stories, overlap=1),
    )

    assert set(told(bare, "broken")) == set(stories)
    assert set(told(ours, "kept")) == set(stories)


@pytest.mark.scenario("K5", part="pydantic-ai")
@pytest.mark.scenario("K5", part="openai-agents")
@pytest.mark.scenario("K5", part="langgraph")
async def test_an_agent_in_lastwords_engine_keeps_every_story_that_python_can_be_asked() -> None:
    reports = await asyncio.gather(
        *(judged(an_agent_of(one, "InLastword"), repeat=1) for one in BROKEN_BY_ITSELF)
    )

    asked = len([one for one in STORIES if "P" in one.kinds]) - 1
    assert [verdicts(one) for one in reports] == [({}, {}, asked)] * len(reports)
