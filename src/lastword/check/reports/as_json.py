"""A report for programs. `schema.json`, beside this, says what is in it."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from lastword.check.results import CheckReport, StoryResult

FORMAT = 1


def document(reports: list[CheckReport]) -> dict[str, Any]:
    """All targets of one check."""
    return {"format": FORMAT, "targets": [one(report) for report in reports]}


def one(report: CheckReport) -> dict[str, Any]:
    """One target."""
    return {
        "kit": report.kit,
        "date": report.date,
        "seconds": report.seconds,
        "summary": report.line,
        "target": report.target,
        "machine": report.machine,
        "controls": report.controls,
        "errands": report.errands,
        "stories": [_story(result) for result in report.results],
    }


def text(reports: list[CheckReport]) -> str:
    """The same, as it is written."""
    return json.dumps(document(reports), indent=1, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """The published one."""
    file = resources.files("lastword.check.reports") / "schema.json"
    return json.loads(file.read_text("utf-8"))


def _story(result: StoryResult) -> dict[str, Any]:
    story = result.story
    told: dict[str, Any] = {
        "id": story.id,
        "level": story.level,
        "words": story.words,
        "rule": story.rule,
        "verdict": result.verdict,
        "why": result.why,
        "weak": result.weak,
        "parts": {
            name: {"verdict": verdict, "why": why} for name, (verdict, why) in result.parts.items()
        },
    }
    runs: list[dict[str, Any]] = [
        {
            "verdict": run.verdict,
            "why": run.why,
            "carrier": run.carrier,
            "seen": run.seen,
            "timeline": run.timeline if run.verdict != "kept" else [],
            "evidence": run.evidence,
        }
        for run in result.runs
    ]
    return {**told, "runs": runs}
