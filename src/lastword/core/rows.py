"""An account as rows: what a person is told of a stop, worded once, for wherever they read it.

A row is one thing to know. A surface decides how a row looks and never what it says, so what is
new in a receipt is told everywhere as soon as it has a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from lastword.core.value import value

Tone: TypeAlias = Literal["fine", "news", "doubt"]
RowKind: TypeAlias = Literal[
    "head",
    "quiet",
    "beyond",
    "ending",
    "doubtful",
    "uncalled",
    "called",
    "files",
    "answers",
    "processes",
    "programs",
    "children",
    "dropped",
    "waiting",
    "lost",
    "refused",
    "unstored",
    "unseen",
]
_AT_A_GLANCE = 3  # as many are named as a person takes in
_LONGEST = 60  # characters of a name, a command line or a message, where it is only mentioned


@value
class Row:
    """One thing to know of a stop."""

    kind: RowKind
    label: str  # empty for the head, and for whether all is quiet, which is said right behind it
    words: str
    brief: str  # the same as a person takes it in: few names, and not how processes are held
    tone: Tone  # as it should be; worth hearing; not known to be over
    names: tuple[str, ...]  # what it speaks of, one by one, with ids


def row(
    kind: RowKind,
    label: str,
    names: Iterable[str],
    tone: Tone = "fine",
    *,
    words: str | None = None,
    brief: str | None = None,
    without_ids: Iterable[str] | None = None,
) -> Row | None:
    """A row about all of these; its words name them, if they are not given. None about nothing."""
    every = tuple(names)
    if not (every if words is None else words):
        return None
    if words is not None:
        return Row(kind, label, words, words if brief is None else brief, tone, every)
    told = every if without_ids is None else tuple(without_ids)
    return Row(kind, label, ", ".join(told), some(told, _AT_A_GLANCE), tone, every)


def headline(rows: Sequence[Row]) -> str:
    """What was ended, and whether all is quiet."""
    return f"{', '.join(row.words for row in rows if not row.label)}."


def at_length(rows: Sequence[Row]) -> str:
    """All of it, a line for each row."""
    return "\n  ".join(
        [headline(rows), *(f"{one.label}: {one.words}" for one in rows if one.label)]
    )


def in_brief(rows: Sequence[Row]) -> list[str]:
    """In at most two lines: what was ended and is worth hearing; and what is in doubt."""
    told = [_sentence(one) for one in rows if one.label and one.tone == "news"]
    doubts = [_sentence(one) for one in rows if one.label and one.tone == "doubt"]
    lines = [" ".join([headline(rows), *told]), " ".join(doubts)]
    return [line for line in lines if line]


def noteworthy(rows: Sequence[Row]) -> bool:
    """Whether a person who only wanted to say something else should hear of it."""
    return any(one.tone != "fine" for one in rows)


def some(names: Sequence[str], most: int) -> str:
    """The first of them, and how many more there are."""
    more = len(names) - most
    named = ", ".join(names[:most])
    return f"{named} and {more} more" if more > 0 else named


def count(number: int, what: str) -> str:
    """So many of it."""
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def short(text: str) -> str:
    """A text in one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _sentence(one: Row) -> str:
    return f"{one.label[0].upper()}{one.label[1:]}: {one.brief}."
