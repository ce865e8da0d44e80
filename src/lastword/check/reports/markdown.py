"""A report as a table of Markdown, below the one line that fits into a README."""

from __future__ import annotations

from lastword.check.reports.table import told
from lastword.check.results import CheckReport, StoryResult


def text(reports: list[CheckReport]) -> str:
    """All targets."""
    return "\n".join(_one(report) for report in reports)


def _one(report: CheckReport) -> str:
    rows = [
        f"| `{r.story.id}` | {r.story.level} | {_verdict(r)} | {_cell(r)} |" for r in report.results
    ]
    head = ["| story | level | verdict | |", "|---|---|---|---|"]
    old = report.target.get("old")
    lines = [f"## {report.target['name']}", "", report.line, ""]
    return "\n".join([*lines, *([f"Old: {old}.", ""] if old else []), *head, *rows, ""])


def _verdict(result: StoryResult) -> str:
    return f"**{result.verdict}**" if result.verdict == "broken" else result.verdict


def _cell(result: StoryResult) -> str:
    return told(result).replace("|", "\\|").replace("\n", " ")
