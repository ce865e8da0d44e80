"""What a change does to a text, line by line, so that a person can see it before it is made.

The time it takes grows with the length of the two texts: what begins and ends alike is put aside,
and between, the shortest way is looked for only as far as it is short. A longer one is told as all
old lines going and all new ones coming, which is true as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from lastword.core.value import value

Mark: TypeAlias = Literal[" ", "-", "+", "@"]
Line: TypeAlias = tuple[Mark, str]
_AROUND = 3  # lines that are shown before and after a change
_FURTHEST = 100  # lines by which two texts may differ before the shortest way is given up
_MOST = 2_000  # lines that are shown: the first half of them and the last
_UNENDED = "no newline at the end"


@value
class Change:
    """Old lines that go, new lines that come, and a few around them."""

    new: bool  # there was nothing before
    gone: int
    come: int
    lines: tuple[Line, ...]
    left_out: int = 0  # lines of it that go or come and are not among those
    hidden: str = ""  # what was there, in words, if it is not shown
    against: str = ""  # the mark of what was there


def change(before: str | None, after: str) -> Change:
    """From what is there, None if nothing is, to what would be."""
    old, new = _split(before or ""), _split(after)
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    old_end, new_end = len(old) - end, len(new) - end
    middle = _between(old[start:old_end], new[start:new_end])
    every = [*_same(old[:start]), *middle, *_same(old[old_end:])]
    gone, come = (sum(mark == one for mark, _ in middle) for one in "-+")
    told, left_out = _told(list(_near(every)))
    return Change(before is None, gone, come, told, left_out)


def _split(text: str) -> list[str]:
    """Its lines with their ends; only a newline ends one."""
    *ended, last = text.split("\n")
    return [*(f"{line}\n" for line in ended), *([last] if last else [])]


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines they have in common from the beginning."""
    return next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
                min(len(one), len(other)))  # fmt: skip


def _same(lines: list[str]) -> list[Line]:
    return [(" ", line) for line in lines]


def _between(old: list[str], new: list[str]) -> list[Line]:
    steps = _shortest(old, new)
    if steps is None:
        return [*(("-", line) for line in old), *(("+", line) for line in new)]
    return steps


def _shortest(old: list[str], new: list[str]) -> list[Line] | None:
    """Myers' way: for each number of differences, how far one can get on each diagonal."""
    furthest, trail = {1: 0}, list[dict[int, int]]()
    for differences in range(_FURTHEST + 1):
        trail.append(dict(furthest))
        for diagonal in range(-differences, differences + 1, 2):
            down = diagonal == -differences or (
                diagonal != differences
                and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            while x < len(old) and 0 <= x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return _walked(old, new, trail)
    return None


def _walked(old: list[str], new: list[str], trail: list[dict[int, int]]) -> list[Line]:
    """The way back from the end, turned round."""
    x, y, back = len(old), len(new), list[Line]()
    for differences in range(len(trail) - 1, -1, -1):
        furthest, diagonal = trail[differences], x - y
        down = diagonal == -differences or (
            diagonal != differences
            and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
        )
        came = diagonal + 1 if down else diagonal - 1
        start = furthest.get(came, 0)
        while x > max(start, 0) and y > max(start - came, 0):
            if (x == start + (not down)) and (y == start - came + down):
                break
            x, y = x - 1, y - 1
            back.append((" ", old[x]))
        if differences:
            back.append(("+", new[y - 1]) if down else ("-", old[x - 1]))
            x, y = start, start - came
    return back[::-1]


def _near(lines: list[Line]) -> Iterator[Line]:
    """The changes and what is around them; what is left out is counted."""
    near = set[int]()
    for number, (mark, _) in enumerate(lines):
        if mark != " ":
            near.update(range(number - _AROUND, number + _AROUND + 1))
    left = 0
    for number, line in enumerate(lines):
        if number not in near:
            left += 1
            continue
        if left:
            yield "@", _unchanged(left)
            left = 0
        yield line
    if left:
        yield "@", _unchanged(left)


def _told(near: list[Line]) -> tuple[tuple[Line, ...], int]:
    """The first and the last of many, and how many changed ones are left out between them."""
    if len(near) <= _MOST:
        return tuple(_ends(near)), 0
    half = _MOST // 2
    changed = sum(mark in "-+" for mark, _ in near[half:-half])
    what = "1 more changed line is" if changed == 1 else f"{changed:,} more changed lines are"
    return (*_ends(near[:half]), ("@", f"{what} not shown"), *_ends(near[-half:])), changed


def _ends(lines: list[Line]) -> list[Line]:
    """Lines without their ends; that one which goes or comes has none is said."""
    told: list[Line] = []
    for mark, text in lines:
        told.append((mark, text.removesuffix("\n")))
        if mark in "-+" and not text.endswith("\n"):
            told.append(("@", _UNENDED))
    return told


def _unchanged(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
