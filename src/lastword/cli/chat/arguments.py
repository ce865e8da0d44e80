"""What a tool is called with, in a line."""

from __future__ import annotations

import json
from typing import cast

from lastword.cli.chat.words import short

_LONGEST = 100  # characters


def arguments_line(arguments: str) -> str:
    """Arguments in one line: the first as it is, the others by name."""
    try:
        plain: object = json.loads(arguments)
    except (ValueError, RecursionError):
        plain = arguments  # as a model gave them
    if not isinstance(plain, dict):
        return short(_value(plain), _LONGEST)
    named = list(cast("dict[str, object]", plain).items())
    rest = (f"{name}={_value(value)}" for name, value in named[1:])
    return short(", ".join([*(_value(value) for _, value in named[:1]), *rest]), _LONGEST)


def is_about(arguments: str, text: str) -> bool:
    """Whether this is one of them, to the letter, and so in their line."""
    try:
        plain: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and text in cast("dict[str, object]", plain).values()


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
