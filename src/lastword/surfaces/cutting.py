"""As much of a text as a person is shown: its beginning and its end, and how much is between them.

It is cut before anything else is done with it, so that what is long takes no longer.
"""

from __future__ import annotations

from collections.abc import Sequence

from lastword.core.changes import Line
from lastword.core.value import value

_FIRST, _LAST = 15_000, 5_000  # characters


@value
class Cut:
    """What is shown, and how many characters that are, of how many."""

    lines: tuple[Line, ...]
    size: int
    given: int


def cut_text(text: str) -> Cut:
    """Over the lines it has; only a newline ends one."""
    if len(text) <= _FIRST + _LAST:
        return Cut(tuple(_split(text)), len(text), len(text))
    between = text[_FIRST:-_LAST]
    told = _not_shown(len(between), between.count("\n"))
    lines = *_split(text[:_FIRST]), told, *_split(text[-_LAST:])
    return Cut(lines, len(text), _FIRST + _LAST)


def cut_lines(lines: Sequence[Line]) -> Cut:
    """Of lines that there are, the first and the last."""
    size = sum(len(text) for _, text in lines)
    if size + len(lines) <= _FIRST + _LAST:
        return Cut(tuple(lines), size, size)
    first, last = _up_to(lines, _FIRST), _up_to(lines[::-1], _LAST, end=True)[::-1]
    given = sum(len(text) for _, text in (*first, *last))
    many = max(len(lines) - len(first) - len(last), 0)
    return Cut((*first, _not_shown(size - given, many), *last), size, given)


def _up_to(lines: Sequence[Line], most: int, *, end: bool = False) -> list[Line]:
    found, left = list[Line](), most
    for mark, text in lines:
        if len(text) >= left:
            part = text[len(text) - left :] if end else text[:left]
            return [*found, (mark, part)] if part else found
        left -= len(text) + 1
        found.append((mark, text))
    return found


def _split(text: str) -> list[Line]:
    return [(" ", line) for line in text.split("\n")]


def _not_shown(characters: int, lines: int) -> Line:
    over = f" in {lines:,} lines" if lines > 1 else ""
    return "@", f"{characters:,} more characters{over}, which are not shown"
