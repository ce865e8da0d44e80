"""A report for a terminal: a line for each story, and one for all."""

from __future__ import annotations

from lastword.check.results import CheckReport, StoryResult

_WIDTH = 20


def row(result: StoryResult) -> str:
    """One story."""
    verdict: str = result.verdict
    if verdict == "broken":
        verdict = f"BROKEN {'MUST' if result.must else 'SHOULD'}"
    return f"{result.story.id:<{_WIDTH}} {verdict:<13} {told(result)}".rstrip()


def told(result: StoryResult) -> str:
    """What there is to say of it."""
    words = result.story.words
    if result.verdict == "not asked":
        return result.why
    if result.verdict != "kept":
        count = f" ({result.count} runs)" if result.count else ""
        parts = [f"{name}" for name, (verdict, _) in result.parts.items() if verdict == "broken"]
        named = f" [{', '.join(parts)}]" if parts else ""
        return f"{words}: {result.why}{named}{count}"
    notes = [f"answered in {result.slowest} ms"] if result.slowest is not None else []
    notes += [f"{result.count} runs"] if result.count else []
    notes += [f"named as going on: {', '.join(result.named)}"] if result.named else []
    notes += [result.weak] if result.weak else []
    return words + (f"  ({', '.join(notes)})" if notes else "")


def summary(report: CheckReport) -> str:
    """The last lines."""
    counts = [
        f"{len(report.having(verdict))} {verdict}"
        for verdict in ("kept", "broken", "cannot tell", "not asked")
    ]
    about = f"{report.target['name']}, check {report.kit}, {report.date}, {report.seconds:.0f} s"
    old = report.target.get("old")
    return " · ".join(counts) + f"      {about}" + (f"\nOld: {old}." if old else "")
