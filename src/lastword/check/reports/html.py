"""A report as one page that stands alone: no script, nothing from anywhere else.

Every story is a row. One that was not kept opens, and shows what happened in order: the stop, its
answer, and what came after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from math import inf
from typing import Any

from lastword.check.reports.table import summary, told
from lastword.check.results import CheckReport, StoryResult, StoryRun

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --paper: #fff; --line: #d8dee4;
  --kept: #1a7f37; --broken: #cf222e; --unknown: #8f5f00; --late: #fff1f0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117;
  --line: #30363d; --kept: #3fb950; --broken: #ff7b72; --unknown: #d29922; --late: #2d1214; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.soft, .of { color: var(--soft); } .kept { color: var(--kept); } .broken { color: var(--broken); }
.unknown { color: var(--unknown); }
details, .row { border-top: 1px solid var(--line); padding: .35rem 0; }
.row { padding-left: 1.1rem; } summary { cursor: pointer; }
summary b, .row b { display: inline-block; min-width: 7.5rem; } code { font-size: .9em; }
table { border-collapse: collapse; margin: .5rem 0 1rem 1.1rem; font-size: .9rem; }
td { padding: .1rem .8rem .1rem 0; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.point td { font-weight: 600; border-top: 2px solid var(--ink); }
tr.late { background: var(--late); } th { font-weight: 400; color: var(--soft);
  text-align: left; } td:nth-child(2) { min-width: 9rem; } tr.point .of { font-weight: 400; }
p.rule { margin: .3rem 0 .3rem 1.1rem; }
"""
_CLASS = {"kept": "kept", "broken": "broken", "cannot tell": "unknown", "not asked": "soft"}
_ENDS = ("STOP", "KILL")
_POINTS = (*_ENDS, "ANSWER")


def text(reports: list[CheckReport]) -> str:
    """The page."""
    body = "\n".join(_target(report) for report in reports)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    title = "<title>Does it stop?</title>"
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}{title}<style>{_STYLE}</style></head>'
        f"\n<body><h1>Does it stop?</h1>\n{body}\n</body></html>\n"
    )


def _target(report: CheckReport) -> str:
    rows = "\n".join(_story(result) for result in report.results)
    machine = ", ".join(
        f"{name.replace('_', ' ')}: {what}" for name, what in report.machine.items()
    )
    return (
        f"<h2>{escape(str(report.target['name']))}</h2>\n<p>{escape(report.line)}</p>\n{rows}\n"
        f'<p class="soft">{escape(summary(report))}<br>{escape(machine)}</p>'
    )


def _story(result: StoryResult) -> str:
    kind = _CLASS[result.verdict]
    level = f" {result.story.level}" if result.verdict == "broken" else ""
    head = (
        f'<b class="{kind}">{result.verdict}{level}</b> <code>{result.story.id}</code> '
        f"{escape(told(result))}"
    )
    shown = [run for run in result.runs if run.verdict == result.verdict]
    if result.verdict in ("kept", "not asked") or not shown:
        return f'<div class="row">{head}</div>'
    rule = f'<p class="rule soft">Broken if {escape(result.story.rule)}.</p>'
    is_open = " open" if result.verdict == "broken" else ""
    return f"<details{is_open}><summary>{head}</summary>{rule}{_timeline(shown[0])}</details>"


def _timeline(run: StoryRun) -> str:
    end = _end(run.timeline)
    rows = "".join(_moment(moment, end) for moment in run.timeline)
    since = f"seconds since the {end.by.lower()}" if end.by else "seconds"
    return f'<table><tr><th colspan="3">{since}</th></tr>{rows}</table>'


@dataclass(frozen=True, slots=True)
class _End:
    """What was ended, each run with the moment after which nothing of it may come; and the one
    stop, or kill, that the clock is set by."""

    over: dict[str, float]
    by: str = ""
    at: float = 0.0

    def is_late(self, moment: dict[str, Any]) -> bool:
        return moment["at"] > self.over.get(_run(moment), inf)


def _end(timeline: list[dict[str, Any]]) -> _End:
    """By the runs that were stopped, and the answers to that: no other run's answer counts."""
    points = [moment for moment in timeline if moment["what"] in _ENDS]
    over: dict[str, float] = {}
    for point in points:
        if point["what"] == "KILL":
            begun = [_run(m) for m in timeline if m["what"] == "message" and m["at"] < point["at"]]
            over |= dict.fromkeys(begun, float(point["at"]))
        for moment in timeline:
            if moment["what"] == "ANSWER" and _run(moment) == _run(point):
                over.setdefault(_run(point), moment["at"])
    known = _End(over)
    late = {_run(moment) for moment in timeline if known.is_late(moment)}
    shown = next((point for point in points if _run(point) in late), points[-1] if points else {})
    return replace(known, by=shown.get("what", ""), at=shown.get("at", 0.0))


def _run(moment: dict[str, Any]) -> str:
    return re.split(r"[:,]", str(moment["of"]))[0]


def _moment(moment: dict[str, Any], end: _End) -> str:
    kind = ""
    if moment["what"] in _POINTS:
        kind = ' class="point"'
    elif end.is_late(moment):
        kind = ' class="late"'
    what, of = escape(str(moment["what"])), escape(str(moment["of"]))
    row = f'<td>{what}</td><td class="of">{of}</td></tr>'
    return f"<tr{kind}><td>{moment['at'] - end.at:+.3f}</td>{row}"
