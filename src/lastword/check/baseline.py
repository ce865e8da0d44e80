"""What a team knows is broken: by story or part, one a line, with why and since when.

    shell.tree/daemon  # docker is started by hand, since 2026-11-18

A story that is broken and not listed fails a check, and so does one that is listed and has healed:
the list shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lastword.check.results import CheckReport, StoryResult
from lastword.check.story import Verdict


@dataclass(frozen=True, slots=True)
class Differences:
    """Between what is broken and what is listed."""

    new: list[str]
    healed: list[str]


def read(file: Path) -> list[str]:
    """The ids and parts of a file. Raises ValueError for one that there is not."""
    lines = [line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines()]
    return [line for line in lines if line]


def differences(reports: Iterable[CheckReport], listed: list[str]) -> Differences:
    """What is broken and not in the list; and what is in it, is kept, and is broken, or not to be
    told, of no other target."""
    results = [result for report in reports for result in report.results]
    new = [one for result in results for one in _new(result, listed)]
    kept = {one for result in results for one in _having(result, "kept")}
    doubtful = {
        one
        for result in results
        for verdict in ("broken", "cannot tell")
        for one in _having(result, verdict)
    }
    return Differences(list(dict.fromkeys(new)), sorted((kept - doubtful) & set(listed)))


def _new(result: StoryResult, listed: list[str]) -> list[str]:
    if result.verdict != "broken" or not result.must or result.story.id in listed:
        return []
    broken = [f"{result.story.id}/{n}" for n, (v, _) in result.parts.items() if v == "broken"]
    return [one for one in broken or [result.story.id] if one not in listed]


def _having(result: StoryResult, verdict: Verdict) -> set[str]:
    """The story and the parts of it that have this verdict."""
    whole = {result.story.id} if result.verdict == verdict else set[str]()
    return whole | {f"{result.story.id}/{n}" for n, (v, _) in result.parts.items() if v == verdict}
