"""The stories of docs/scenarios.md, and the count of those that are kept.

A story is kept when each of its parts has a test that ran, and no test of the story failed. A
story that lists no parts has one, without a name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \|([^|]*)\|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Scenario:
    id: str
    story: str
    parts: frozenset[str | None]

    @property
    def letter(self) -> str:
        return self.id[0]


def read(text: str) -> dict[str, Scenario]:
    """The stories of a document, by id, in its order."""
    found: dict[str, Scenario] = {}
    for name, story, cell in _ROW.findall(text):
        parts = frozenset[str | None](part.strip() for part in cell.split(",") if part.strip())
        found[name] = Scenario(name, story, parts or frozenset({None}))
    return found


def all_scenarios() -> dict[str, Scenario]:
    return read((ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Mark:
    """`@pytest.mark.scenario(id, part=part)` on a test."""

    id: str
    part: str | None = None


STORES = {"sqlite:": "sqlite", "postgresql:": "postgres"}  # what a test runs over: which part


def marks_of(item: pytest.Item) -> Iterator[Mark]:
    """The stories that a test keeps. One that runs over several stores keeps each one's part."""
    call = getattr(item, "callspec", None)
    over = STORES.get(call.params.get("address", "")) if call else None
    for marker in item.iter_markers("scenario"):
        mark = Mark(*marker.args, **marker.kwargs)
        if over is None or mark.part not in STORES.values() or mark.part == over:
            yield mark


def marks_in(source: str) -> Iterator[Mark]:
    """Every scenario mark in a test file, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="mark"), attr="scenario"),
                args=[ast.Constant(value=str(id)), *rest],
                keywords=keywords,
            ):
                given = [*rest, *(keyword.value for keyword in keywords)]
                parts = [str(one.value) for one in given if isinstance(one, ast.Constant)]
                yield Mark(id, parts[0] if parts else None)
            case _:
                pass


@dataclass(slots=True)
class Tally:
    """What the tests of a session say of the stories."""

    scenarios: dict[str, Scenario]
    _ran: dict[str, set[str | None]] = field(default_factory=dict[str, set[str | None]])
    _broken: set[str] = field(default_factory=set[str])

    def passed(self, mark: Mark) -> None:
        self._ran.setdefault(mark.id, set()).add(mark.part)

    def failed(self, mark: Mark) -> None:
        self._ran.setdefault(mark.id, set())
        self._broken.add(mark.id)

    def missing(self, scenario: Scenario) -> list[str]:
        """The parts that no test has shown."""
        left = scenario.parts - self._ran.get(scenario.id, set())
        return sorted(part or "its test" for part in left)

    def kept(self, scenario: Scenario) -> bool:
        return scenario.id not in self._broken and not self.missing(scenario)

    def lines(self) -> list[str]:
        """The count, letter by letter; then what is partly kept. Nothing if nothing was marked."""
        if not self._ran:
            return []
        letters = dict.fromkeys(scenario.letter for scenario in self.scenarios.values())
        counts = [(letter, *self._count(letter)) for letter in letters]
        each = "  ".join(f"{letter} {kept}/{whole}" for letter, kept, whole in counts)
        kept, whole = self._count("")
        lines = [f"scenarios kept: {each}  total {kept}/{whole}"]
        if partly := self._partly():
            lines.append(f"partly kept: {', '.join(partly)}")
        if self._broken:
            lines.append(f"broken: {', '.join(sorted(self._broken))}")
        return lines

    def _count(self, letter: str) -> tuple[int, int]:
        those = [one for one in self.scenarios.values() if one.id.startswith(letter)]
        return sum(map(self.kept, those)), len(those)

    def _partly(self) -> list[str]:
        return [
            f"{scenario.id} (not {', '.join(missing)})"
            for scenario in self.scenarios.values()
            if scenario.id not in self._broken
            and self._ran.get(scenario.id)
            and (missing := self.missing(scenario))
        ]
