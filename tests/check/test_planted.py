"""The kit is judged by agents whose faults are known."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from lastword.check.catalogue import BY_ID, STORIES
from lastword.check.contract import Target
from lastword.check.judge import Commission, Judge
from lastword.check.results import StoryResult
from tests.check.judging import judged, planted_acp, planted_python, told
from tests.check.planted.core import FAULTS
from tests.check.planted.formats import FORMATS
from tests.check.planted.manners import MANNERS

BESIDE = 12  # of them side by side: they wait much and do little
NAMES = sorted(FAULTS)
MUSTS = [story.id for story in STORIES if story.level != "SHOULD"]
GROUPS = [NAMES[at : at + BESIDE] for at in range(0, len(NAMES), BESIDE)]
OF_A_FAULT = 3  # repeats at most, where who stops as it should has as many as are said
OF_THE_FORMAT = (
    "text.quiet",
    "text.hangs-up",
    "text.thinking",
    "text.as-heard",
    "model.no-retry",
    "tool.no-effect",
    "tool.once",
    "next.history",
    "next.truth",
)
REFUSED_IN = {
    "chat": "[chat.no_result]",
    "anthropic": "[anthropic.no_result]",
    "responses": "[responses.no_output]",
    "gemini": "[gemini.no_result]",
}
ONLY_IN_PYTHON = {"hides-threads", "names-another-thread"}


def with_fault(fault: str) -> Callable[[], Target]:
    return planted_python(fault) if fault in ONLY_IN_PYTHON else planted_acp(fault)


def mixed(result: StoryResult) -> bool:
    """Whether a way of calling our tools had one verdict, and then another."""
    told_by = {(run.carrier, run.verdict) for run in result.runs}
    return len(told_by) > len({carrier for carrier, _ in told_by})


def test_every_story_has_a_fault_that_it_catches() -> None:
    assert set().union(*FAULTS.values()) == set(BY_ID)


@pytest.mark.scenario("K2", part="own")
@pytest.mark.parametrize("faults", GROUPS, ids=lambda faults: faults[0])
async def test_a_planted_fault_is_caught_by_its_own_story(
    faults: list[str], check_repeats: int
) -> None:
    times = min(check_repeats, OF_A_FAULT)

    async def verdicts(fault: str) -> dict[str, str]:
        report = await judged(with_fault(fault), *FAULTS[fault], repeat=times)
        return {
            result.story.id: "now so, now so" if mixed(result) else result.verdict
            for result in report.results
        }

    found = await asyncio.gather(*map(verdicts, faults))

    assert dict(zip(faults, found, strict=True)) == {
        one: dict.fromkeys(FAULTS[one], "broken") for one in faults
    }


@pytest.mark.scenario("K2", part="matrix")
@pytest.mark.parametrize("faults", GROUPS, ids=lambda faults: faults[0])
async def test_a_planted_fault_breaks_no_story_that_it_has_nothing_to_do_with(
    faults: list[str], check_musts: int, seed: int
) -> None:
    async def accused(fault: str) -> tuple[dict[str, str], dict[str, str]]:
        others = [one for one in MUSTS if one not in FAULTS[fault]]
        chosen = random.Random(f"{seed} {fault}").sample(others, min(check_musts, len(others)))
        report = await judged(with_fault(fault), *chosen, repeat=1)
        return told(report, "broken"), told(report, "cannot tell")

    found = await asyncio.gather(*map(accused, faults))

    assert dict(zip(faults, found, strict=True)) == {one: ({}, {}) for one in faults}


@pytest.mark.scenario("K12")
async def test_how_an_agent_cuts_its_words_changes_no_verdict() -> None:
    stories = (
        "text.stalled",
        "text.thinking",
        "text.as-heard",
        "shell.background",
        "next.no-stop",
    )

    found = await asyncio.gather(*(judged(planted_acp(one), *stories) for one in MANNERS))

    assert [set(told(report, "kept")) for report in found] == [set(stories)] * len(MANNERS)


@pytest.mark.scenario("K12")
async def test_a_shell_that_puts_nothing_into_the_background_is_not_asked_about_it() -> None:
    report = await judged(planted_acp("refuses-the-background"), "shell.background", "shell.pipe")

    assert set(told(report, "not asked")) == {"shell.background"}
    assert set(told(report, "kept")) == {"shell.pipe"}


@pytest.mark.scenario("K19", part="kept")
async def test_an_agent_that_stops_as_it_should_does_so_in_every_format_of_a_model() -> None:
    found = await asyncio.gather(
        *(judged(planted_acp(spoken=one), *OF_THE_FORMAT, repeat=1) for one in FORMATS)
    )

    kept = [set(told(report, "kept")) for report in found]
    assert dict(zip(FORMATS, kept, strict=True)) == {one: set(OF_THE_FORMAT) for one in FORMATS}


@pytest.mark.scenario("K19", part="broken")
async def test_a_history_that_a_provider_refuses_is_found_in_every_format() -> None:
    found = await asyncio.gather(
        *(judged(planted_acp("forgets-results", one), "next.history") for one in FORMATS)
    )

    rules = [told(report, "broken")["next.history"].rpartition(" ")[2] for report in found]
    assert dict(zip(FORMATS, rules, strict=True)) == REFUSED_IN


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("acp", marks=pytest.mark.scenario("K1", part="acp")),
        pytest.param("python", marks=pytest.mark.scenario("K1", part="python")),
    ],
)
async def test_an_agent_that_stops_as_it_should_keeps_every_story(
    kind: str, check_repeats: int
) -> None:
    make = planted_acp() if kind == "acp" else planted_python()

    report = await judged(make, repeat=check_repeats, overlap=BESIDE)

    assert told(report, "broken") == {}
    assert told(report, "cannot tell") == {}
    assert len(told(report, "kept")) == (31 if kind == "acp" else 21)


STARVED = ("text.quiet", "tool.no-effect", "shell.tree", "next.history", "next.runs", "crash.quiet")
SPIN = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"


@asynccontextmanager
async def busy_neighbours() -> AsyncGenerator[None]:
    """Two for each core; they end with this process, too."""
    argv = [sys.executable, "-I", "-S", "-c", SPIN]
    count = 2 * (os.cpu_count() or 1)
    busy = [await asyncio.create_subprocess_exec(*argv) for _ in range(count)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            await one.wait()


@pytest.mark.scenario("K3")
async def test_beside_busy_neighbours_nothing_is_said_to_be_broken_that_is_not(
    check_repeats: int,
) -> None:
    stories = [BY_ID[one] for one in STARVED]
    async with busy_neighbours():
        report = await Judge(planted_acp(), Commission(stories, repeat=check_repeats)).report()

    assert told(report, "broken") == {}
    assert {result.verdict for result in report.results} <= {"kept", "cannot tell"}
