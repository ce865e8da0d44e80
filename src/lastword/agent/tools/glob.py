"""Patterns for paths, in which * and ? stay within a directory and ** does not.

A model writes them, so none may take long. All places that a path can have been followed to are
carried from one part of the pattern to the next, and nothing is tried twice: a regular expression
would try the same for ever, and Python runs nothing else meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_LONGEST = 1000  # characters of a pattern
_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")


def glob(pattern: str) -> Callable[[str], bool]:
    """Whether a path, as a whole, is as the pattern says."""
    if len(pattern) > _LONGEST:
        raise ValueError(
            f"a pattern has at most {_LONGEST:,} characters, and this one has {len(pattern):,}"
        )
    parts: list[str] = _PARTS.findall(pattern)
    return lambda path: len(path) in _ends(parts, path)


def _ends(parts: Sequence[str], path: str) -> set[int]:
    places = {0}
    for part in parts:
        if not places:
            break
        places = _after(part, path, places)
    return places


def _after(part: str, path: str, places: set[int]) -> set[int]:
    """Where a part of the pattern can lead to, from any of these places in the path."""
    match part:
        case "**":
            return set(range(min(places), len(path) + 1))
        case "**/":
            begun = range(min(places), len(path))
            return places | {at + 1 for at in begun if path[at] == "/"}
        case "*":
            return _within(path, places)
        case "?":
            return {at + 1 for at in places if at < len(path) and path[at] != "/"}
        case _:
            return {at + len(part) for at in places if path.startswith(part, at)}


def _within(path: str, places: set[int]) -> set[int]:
    reached: set[int] = set()
    for place in places:
        at = place
        while at not in reached:
            reached.add(at)
            if at < len(path) and path[at] != "/":
                at += 1
    return reached
