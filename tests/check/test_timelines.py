"""What happened in order: the stop and its own answer, whatever was answered before."""

from __future__ import annotations

import re

import pytest

from lastword.check.reports import html
from lastword.check.results import CheckReport
from tests.check.judging import judged, planted_acp


def rows(report: CheckReport) -> list[tuple[str, float, str]]:
    """The rows of the page's one timeline: how each is marked, when, and what."""
    found = re.findall(
        r"<tr( class=\"\w+\")?><td>([-+.\d]+)</td><td>([^<]*)</td>", html.text([report])
    )
    return [(kind[8:-1], float(at), what) for kind, at, what in found]


@pytest.mark.scenario("K17")
@pytest.mark.parametrize(
    ("fault", "story", "point"),
    [
        ("poisoned-when-idle", "idle.harmless", "STOP"),
        ("poisoned-when-idle", "idle.same-write", "STOP"),
        ("leaves-daemons", "crash.quiet", "KILL"),
    ],
)
async def test_a_stop_of_nothing_and_a_kill_are_in_the_timeline(
    fault: str, story: str, point: str
) -> None:
    report = await judged(planted_acp(fault), story, repeat=1)

    [told] = [at for kind, at, what in rows(report) if (kind, what) == ("point", point)]
    assert told == 0.0


@pytest.mark.scenario("K17")
async def test_late_is_what_comes_of_the_stopped_answer_behind_its_own_end() -> None:
    report = await judged(planted_acp("talks-on"), "text.quiet")

    found = rows(report)
    [answer] = [at for _, at, what in found if what == "ANSWER"]
    late = [(at, what) for kind, at, what in found if kind == "late"]
    assert late[0][1] == "first word AFTER the answer"
    assert all(at > answer >= 0 for at, _ in late)


@pytest.mark.scenario("K17")
async def test_the_answer_of_an_earlier_message_is_not_that_of_the_stop() -> None:
    report = await judged(planted_acp("deaf-after-a-stop"), "again.same")

    found = rows(report)
    [stop] = [at for _, at, what in found if what == "STOP"]
    following = [at for _, at, what in found if what == "message"][-1]
    assert stop == 0.0
    assert all(kind != "late" for kind, at, _ in found if at >= following)
