"""What the tests of the kit share: targets, and a judge of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lastword.check.asked import Subject
from lastword.check.catalogue import BY_ID, STORIES
from lastword.check.contract import Target
from lastword.check.judge import Commission, Judge
from lastword.check.results import CheckReport
from lastword.check.story import Verdict
from tests.scenarios import ROOT

PLANTED = str(ROOT / "tests" / "check" / "planted" / "as_acp.py")
BUSY = "the machine was too busy"
_AGAIN = 6


def planted_acp(fault: str = "", spoken: str = "chat") -> Callable[[], Target]:
    return Subject("acp", command=[sys.executable, PLANTED, fault, spoken]).maker()


def planted_python(fault: str = "good") -> Callable[[], Target]:
    name = fault.replace("-", "_")
    return Subject("python", f"tests.check.planted.as_python:{name}").maker()


async def judged(make: Callable[[], Target], *ids: str, **wanted: Any) -> CheckReport:
    """A report of these stories, or of all; where nothing is known because the machine was too busy
    with other tests, they are told again."""
    stories = [BY_ID[one] for one in ids] or STORIES
    report = await Judge(make, Commission(stories, **wanted)).report()
    for _ in range(_AGAIN):
        busy = [one for one in report.results if one.why.startswith(BUSY)]
        if not busy:
            break
        again = await Judge(make, Commission([one.story for one in busy], **wanted)).report()
        told = {one.story.id: one for one in again.results}
        report.results = [told.get(one.story.id, one) for one in report.results]
    return report


def told(report: CheckReport, verdict: Verdict) -> dict[str, str]:
    """The stories with this verdict, each with why."""
    return {result.story.id: result.why for result in report.having(verdict)}
