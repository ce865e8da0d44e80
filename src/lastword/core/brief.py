"""Texts of others, kept short where they would stand for ever.

What is in a note is shown in every later turn. So whatever anybody says goes into one only so far.
"""

from __future__ import annotations

NOTED = 4000  # letters of a note
NAMED = 200  # letters of a name in one
_MARK = 40  # letters, about, of the mark of what is missing


def cut(text: str, most: int) -> str:
    """A long text without its middle, and how much of it is missing."""
    if len(text) <= most:
        return text
    kept = max(most - _MARK, _MARK)
    head = kept * 2 // 3
    missing = len(text) - kept
    return f"{text[:head]}\n[… {missing} characters left out …]\n{text[head - kept :]}"


def without_middle(text: str, longest: int = 80) -> str:
    """Its beginning and its end, if it is longer than that: what a path ends with is the file."""
    if len(text) <= longest:
        return text
    first = longest // 3
    return f"{text[:first]}…{text[first + 1 - longest :]}"
