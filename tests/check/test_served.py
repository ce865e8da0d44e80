"""Servers with a fault, of every kind that is judged by HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

import pytest

from lastword.check.asked import Subject
from lastword.check.contract import Target
from tests.check.judging import judged, told
from tests.scenarios import ROOT

HOST = "http://127.0.0.1:{port}"
WITNESS = ["{python}", "-I", "-S", "{witness}", "mcp", "{journal}"]
ADDRESSES = {"responses": "/v1/responses", "agui": "/agui", "v1": "/v1"}
TEXT = ("text.quiet", "text.hangs-up", "text.silent-model", "next.runs")
ON_TOOLS = ("tool.no-effect", "tool.deaf")
ASKED = {"responses": ("text.as-heard", "again.same", "next.history"), "v1": ("idle.harmless",)}
CAUGHT = {  # a fault, and what it breaks of what every server is asked
    "talks-on": {"text.quiet"},
    "keeps-the-line": {"text.hangs-up"},
    "waits-for-the-model": {"text.silent-model"},
    "deaf-after-a-stop": {"next.runs"},
    "tool-runs-on": {"tool.no-effect"},
    "waits-for-tools": {"tool.deaf"},
}


def served(kind: str, fault: str = "good") -> Callable[[], Target]:
    file = str(ROOT / "tests" / "check" / "planted" / f"as_{kind}.py")
    command = [sys.executable, file, "{port}", fault, *WITNESS]
    stop = HOST + "/stop/{threadId}" if kind == "agui" else ""
    return Subject(kind, HOST + ADDRESSES[kind], command, stop=stop).maker()


@pytest.mark.scenario("K14")
@pytest.mark.parametrize("kind", ADDRESSES)
async def test_a_server_that_stops_as_it_should_keeps_what_it_is_asked(kind: str) -> None:
    stories = (*TEXT, *ON_TOOLS, *ASKED.get(kind, ()))

    report = await judged(served(kind), *stories)

    assert told(report, "broken") == {}
    assert set(told(report, "kept")) == set(stories)


@pytest.mark.scenario("K14")
@pytest.mark.parametrize("kind", ADDRESSES)
async def test_a_fault_is_caught_behind_every_kind_of_server(kind: str) -> None:
    reports = await asyncio.gather(
        *(judged(served(kind, fault), *TEXT, *ON_TOOLS) for fault in CAUGHT)
    )

    found = {fault: set(told(one, "broken")) for fault, one in zip(CAUGHT, reports, strict=True)}
    assert found == CAUGHT
    assert [told(report, "cannot tell") for report in reports] == [{}] * len(CAUGHT)


@pytest.mark.scenario("K15", part="refused")
@pytest.mark.parametrize("kind", ADDRESSES)
async def test_a_stop_that_is_refused_is_not_answered(kind: str) -> None:
    stories = ("text.silent-model", "text.stalled", "model.no-more", "next.runs")

    report = await judged(served(kind, "refuses-stops"), *stories)

    assert set(told(report, "broken")) == set(stories)
    assert set(told(report, "broken").values()) == {"the stop was refused: 409 {'error': 'no'}"}


@pytest.mark.scenario("K15", part="no such address")
async def test_an_address_for_stops_that_there_is_not_is_held_against_no_server() -> None:
    """But where the protocol says the address, and not the person."""
    stories = ("text.silent-model", "next.runs")

    theirs, its_own = await asyncio.gather(
        judged(served("agui", "knows-no-stops"), *stories),
        judged(served("responses", "knows-no-stops"), *stories),
    )

    assert set(told(theirs, "cannot tell")) == set(stories)
    assert "is it the right address?" in told(theirs, "cannot tell")["next.runs"]
    assert set(told(its_own, "broken")) == set(stories)
