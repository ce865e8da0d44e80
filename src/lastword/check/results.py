"""What is known of a target: by story, by part, by run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lastword.check.story import EDITION, Story, Verdict

_WORST: tuple[Verdict, ...] = ("broken", "cannot tell", "kept", "not asked")


@dataclass(slots=True)
class StoryRun:
    """One run of a story, or of one carrier's part of it."""

    verdict: Verdict
    why: str = ""
    carrier: str = ""
    seen: dict[str, Any] = field(default_factory=dict[str, Any])
    parts: dict[str, str] = field(default_factory=dict[str, str])
    timeline: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    evidence: str = ""  # the folder, if it was asked for
    starved: str = ""  # why it may be the machine's fault that something did not come


@dataclass(slots=True)
class StoryResult:
    """A story, and all of its runs. One broken run is broken, and kept is kept in every run."""

    story: Story
    runs: list[StoryRun] = field(default_factory=list[StoryRun])
    weak: str = ""
    why_not: str = ""  # it was not asked

    @property
    def verdict(self) -> Verdict:
        if self.why_not:
            return "not asked"
        return worst(run.verdict for run in self.runs)

    @property
    def why(self) -> str:
        if self.why_not:
            return self.why_not
        found = next((run for run in self.runs if run.verdict == self.verdict), None)
        return found.why if found else ""

    @property
    def must(self) -> bool:
        """Whether breaking it breaks a promise. What only informs does so, too, if it is broken."""
        return self.story.level != "SHOULD"

    @property
    def count(self) -> str:
        """How many of how many, where several runs were made."""
        same = sum(run.verdict == self.verdict for run in self.runs)
        return f"{same}/{len(self.runs)}" if len(self.runs) > 1 else ""

    @property
    def parts(self) -> dict[str, tuple[Verdict, str]]:
        """Each part of it: a carrier, or one of those that had to be gone."""
        found: dict[str, tuple[Verdict, str]] = {}
        for name in dict.fromkeys(run.carrier for run in self.runs if run.carrier):
            mine = [run for run in self.runs if run.carrier == name]
            verdict = worst(run.verdict for run in mine)
            found[name] = verdict, next(run.why for run in mine if run.verdict == verdict)
        for run in self.runs:
            for name, why in run.parts.items():
                if why or name not in found:
                    found[name] = ("broken" if why else "kept"), why
        return found

    @property
    def named(self) -> list[str]:
        """What goes on, and is excused because the answer to the stop said so."""
        return sorted({name for run in self.runs for name in run.seen.get("named", [])})

    @property
    def slowest(self) -> int | None:
        """The slowest answer to a stop, in milliseconds."""
        told = [run.seen["answered_ms"] for run in self.runs if "answered_ms" in run.seen]
        return max(told, default=None)


@dataclass(slots=True)
class CheckReport:
    """Everything about one target."""

    target: dict[str, Any]
    machine: dict[str, Any]
    controls: dict[str, str]
    results: list[StoryResult]
    errands: int
    date: str
    seconds: float
    kit: int = EDITION

    def having(self, verdict: Verdict) -> list[StoryResult]:
        return [result for result in self.results if result.verdict == verdict]

    @property
    def line(self) -> str:
        """One line, fit for a README."""
        asked = len(self.results) - len(self.having("not asked"))
        told = asked - len(self.having("cannot tell"))
        broken = self.having("broken")
        must = sum(result.must for result in broken)
        parts = [f"stops: {told} of {asked} told"]
        parts += [f"{must} MUST broken"] if must else ["every MUST told is kept"]
        if should := len(broken) - must:
            parts.append(f"{should} SHOULD broken")
        return " · ".join([*parts, f"lastword check {self.kit}, {self.date}"])


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several, the one that counts."""
    found = set(verdicts)
    for one in _WORST:
        if one in found:
            return one
    return "cannot tell"
