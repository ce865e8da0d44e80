"""What of a run's speech reached the person.

Speech is stored before it is shown, so a log may have more of it than ever left. What did not leave
is told by an `Unshown`, counted back from the end of what its run had said by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from lastword.core.entries import Entry, Text, Thinking, Unshown

T = TypeVar("T")


class Spoken:
    """What one run has said and thought, by the character, and what of it nobody saw."""

    __slots__ = ("_cuts", "_said")

    def __init__(self) -> None:
        self._said = {"text": 0, "thinking": 0}
        self._cuts: dict[str, list[tuple[int, int]]] = {}

    def take(self, entry: Text | Thinking | Unshown) -> None:
        """What was logged next."""
        if isinstance(entry, Unshown):
            start = self._said[entry.of] - entry.back
            self._cuts.setdefault(entry.of, []).append((start, start + entry.length))
        else:
            self._said[_kind(entry)] += len(entry.text)

    def reader(self) -> Callable[[T], T]:
        """Give it what the run said, piece by piece from the beginning: it gives what was seen."""
        at = {"text": 0, "thinking": 0}

        def read(item: T) -> T:
            if not isinstance(item, Text | Thinking):
                return item
            kind = _kind(item)
            start = at[kind]
            at[kind] += len(item.text)
            return replace(item, text=_without(item.text, start, self._cuts.get(kind, [])))

        return read


def seen(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """A session's log as the people in it saw it, entry for entry."""
    entries = tuple(entries)
    spoken = {entry.run: Spoken() for entry in entries if isinstance(entry, Unshown)}
    if not spoken:
        return entries  # as almost always: a long log is not gone through for nothing
    for entry in entries:
        if isinstance(entry, Text | Thinking | Unshown) and entry.run in spoken:
            spoken[entry.run].take(entry)
    readers = {run: one.reader() for run, one in spoken.items()}
    return tuple(
        readers[entry.run](entry)
        if isinstance(entry, Text | Thinking) and entry.run in readers
        else entry
        for entry in entries
    )


def _kind(entry: Text | Thinking) -> str:
    return "text" if isinstance(entry, Text) else "thinking"


def _without(text: str, start: int, cuts: list[tuple[int, int]]) -> str:
    """The text, which begins at that character of all that was said, less what was cut."""
    for first, end in sorted(cuts, reverse=True):
        begin, stop = max(first - start, 0), max(end - start, 0)
        text = text[:begin] + text[stop:]
    return text
