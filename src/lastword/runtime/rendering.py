"""What a call was given, and what it gave, as the transcript keeps it: JSON if it can be, and cut
if it is long. No more of it is put into words than is kept."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable

from lastword.runtime.checks import encodable
from lastword.stores.pieces import is_large, pieces

LONGEST = 20_000  # characters of an argument list or a result that the transcript keeps
_MORE = f"… (more than {LONGEST} characters)"
_encode = json.JSONEncoder(ensure_ascii=False).encode


def rendered(value: object) -> str:
    """A value in words."""
    if isinstance(value, str):
        return cut(value)
    if is_large(value, LONGEST):
        return _beginning(value)
    try:
        return cut(_encode(value))
    except (TypeError, ValueError, RecursionError):
        return cut(_named(value, repr))


def cut(text: str) -> str:
    """A text, or its beginning and how long it is."""
    if len(text) <= LONGEST or _is_cut(text):
        return encodable(text)
    return f"{encodable(text[:LONGEST])}… ({len(text)} characters)"


def _is_cut(text: str) -> bool:
    return len(text) <= LONGEST + len(_MORE) and text.endswith(_MORE)


def _beginning(value: object) -> str:
    text, room = list[str](), LONGEST
    try:
        for piece in pieces(value):
            text.append(piece)
            room -= len(piece)
            if room < 0:
                break
    except (TypeError, ValueError, RecursionError):
        return cut(_named(value, _short.repr))
    whole = "".join(text)
    if room >= 0:
        return encodable(whole)
    return encodable(whole[:LONGEST]) + _MORE


def _named(value: object, name: Callable[[object], str]) -> str:
    try:
        return name(value)
    except Exception:  # noqa: BLE001 - a tool's own class must not be able to break the record
        return f"<{type(value).__name__}>"


class _Short(reprlib.Repr):
    """The beginning of what has no JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 10
        self.maxstring = self.maxother = self.maxlong = LONGEST
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = LONGEST // 20

    def repr_bytes(self, value: bytes, level: int) -> str:  # noqa: ARG002 - as reprlib has it
        return repr(value[:LONGEST])

    repr_bytearray = repr_bytes


_short = _Short()
