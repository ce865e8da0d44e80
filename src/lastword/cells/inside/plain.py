"""Plain data: all that crosses between a program and the world."""

from __future__ import annotations

import math
from typing import Any, cast

_DEEPEST = 50  # lists in lists; far from where anybody's parser gives up
_LONGEST_NUMBER = 13_000  # bits: Python itself refuses to write more than 4,300 digits
_PLAIN = "None, booleans, numbers, text, lists, and dicts with text as keys"


class NotPlain(TypeError):
    """A value is no plain data."""


class TooLarge(ValueError):
    """A value is plain, and there is too much of it."""


def must_be_plain(value: object, what: str, most: int) -> int:
    """How many characters it takes, about; an error if it is no plain data, or more than `most`.

    Every occurrence counts, so a small thing that holds another a million times over is large.
    """
    size = 0
    left: list[tuple[Any, int]] = [(value, 0)]
    while left:
        found, depth = left.pop()
        size += _size(found, what, left, depth)
        if size > most:
            raise TooLarge(f"{what} is too large: more than {most:,} characters may not cross")
    return size


def _size(found: Any, what: str, left: list[tuple[Any, int]], depth: int) -> int:  # noqa: ANN401
    if depth > _DEEPEST:
        raise NotPlain(f"{what} is nested more than {_DEEPEST} deep, or holds itself")
    if isinstance(found, str):
        return len(_readable(found, what)) + 2
    if isinstance(found, bool) or found is None:
        return 5
    if isinstance(found, int | float):
        return _digits(found, what)
    if isinstance(found, list | tuple):
        items = cast("list[Any] | tuple[Any, ...]", found)
        left += [(item, depth + 1) for item in items]
        return len(items) + 2
    if isinstance(found, dict):
        pairs = cast("dict[Any, Any]", found)
        left += [(item, depth + 1) for item in pairs.values()]
        return sum(_key(key, what) for key in pairs) + 2
    raise NotPlain(
        f"{what} is or holds a {type(found).__name__}; only plain data can cross: {_PLAIN}"
    )


def _key(key: object, what: str) -> int:
    if not isinstance(key, str):
        raise NotPlain(
            f"{what} has a {type(key).__name__} as a key; only plain data can cross: {_PLAIN}"
        )
    return len(_readable(key, what)) + 4


def _readable(text: str, what: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise NotPlain(f"{what} holds half a character, which is no text") from None
    return text


def _digits(number: float, what: str) -> int:
    if isinstance(number, float):
        if not math.isfinite(number):
            raise NotPlain(f"{what} is or holds {number}, which is no number that can cross")
        return 20
    if number.bit_length() > _LONGEST_NUMBER:
        raise NotPlain(f"{what} is or holds a number of more than 3,900 digits")
    return number.bit_length() // 3 + 2
