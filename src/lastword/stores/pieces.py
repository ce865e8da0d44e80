"""JSON in pieces, for what may be large.

The encoder that comes with Python is quick, and gives nobody else a turn until it has done. So a
long text is encoded a piece at a time: whoever does it in a thread holds nobody up, and whoever
needs only the beginning stops there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, cast

AT_ONCE = 50_000  # characters of a text, or about as many of anything else
Default: TypeAlias = Callable[[Any], Any]
_whole = json.JSONEncoder(ensure_ascii=False).encode


def is_large(value: object, most: int = AT_ONCE) -> bool:
    """Whether it has more than so many characters, about, as JSON. It looks no further."""
    left = [value]
    while left and most >= 0:
        one = left.pop()
        most -= 1
        if isinstance(one, str | bytes | bytearray):
            most -= len(one)
        elif isinstance(one, Mapping):
            pairs = cast("Mapping[Any, Any]", one)
            most -= len(pairs)
            left += [*pairs.values(), *pairs] if most >= 0 else []
        elif isinstance(one, list | tuple):
            items = cast("list[Any]", one)
            left += items if len(items) <= most else []
            most -= 0 if len(items) <= most else len(items)
    return most < 0


def pieces(
    value: object, default: Default | None = None, separators: tuple[str, str] = (", ", ": ")
) -> Iterator[str]:
    """The same as `json.dumps`, bit by bit. Raises TypeError or ValueError where that would."""
    if isinstance(value, str) and len(value) > AT_ONCE:
        yield '"'
        for start in range(0, len(value), AT_ONCE):
            yield _whole(value[start : start + AT_ONCE])[1:-1]
        yield '"'
    elif isinstance(value, str | int | float | None):
        yield _whole(value)
    elif isinstance(value, dict | list | tuple):
        yield from _all_of(cast("dict[Any, Any] | list[Any]", value), default, separators)
    elif default:
        yield from pieces(default(value), default, separators)
    else:
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _all_of(
    value: dict[Any, Any] | list[Any], default: Default | None, separators: tuple[str, str]
) -> Iterator[str]:
    keyed = isinstance(value, dict)
    yield "{" if keyed else "["
    for number, item in enumerate(value):
        yield separators[0] if number else ""
        if keyed:
            yield _key(item) + separators[1]
        yield from pieces(value[item] if keyed else item, default, separators)
    yield "}" if keyed else "]"


def _key(key: object) -> str:
    if isinstance(key, str):
        return _whole(key)
    if isinstance(key, int | float | None):
        return f'"{_whole(key)}"'
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")
