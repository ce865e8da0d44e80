"""One of several, picked with the arrow keys; what is typed meanwhile says which are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_ROWS = 10


class Choosable(NamedTuple):
    """One of them: what it is, and how it is shown."""

    name: str
    line: str


class Picker:
    """What is picked from, and where the person stands."""

    def __init__(self, rows: Sequence[Choosable]) -> None:
        self._rows = rows
        self._words = ""
        self._at = 0

    def filter(self, words: str) -> None:
        """Show those that have these words."""
        if words != self._words:
            self._words, self._at = words, 0

    def move(self, by: int) -> None:
        """Up or down."""
        self._at = max(0, min(self._at + by, len(self._fitting) - 1))

    @property
    def picked(self) -> str | None:
        """Where the person stands."""
        fitting = self._fitting
        return fitting[self._at].name if fitting else None

    @property
    def _fitting(self) -> list[Choosable]:
        words = self._words.casefold().split()
        return [one for one in self._rows if all(word in one.line.casefold() for word in words)]

    def lines(self) -> list[tuple[str, str]]:
        """It, as it is drawn."""
        fitting, first = self._fitting, max(0, self._at - _ROWS + 1)
        shown: list[tuple[str, str]] = []
        for number, one in enumerate(fitting[first : first + _ROWS], first):
            here = number == self._at
            shown.append(("bold" if here else "", f"{'>' if here else ' '} {one.line}"))
        more = len(fitting) - len(shown)
        told = f"; {more} more" if more else ""
        none = "" if fitting else "None has these words. "
        hint = f"{none}Up, Down, Enter goes there; words choose which are shown; Esc closes{told}"
        return [*shown, ("fg:ansibrightblack", hint)]
