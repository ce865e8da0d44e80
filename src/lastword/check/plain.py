"""What a target says, in words that can be shown: in a terminal, in a page, in a file.

It may say anything: sequences that steer a terminal, letters that turn the line around, half of a
letter, a name of three megabytes. All that goes into a report has been through here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, TypeVar, cast

LONGEST = 500  # letters of one text
_STEERS = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_Told = TypeVar("_Told")


def plain(told: _Told, longest: int = LONGEST) -> _Told:
    """The same, in one line each, with a mark for what steers and is not seen."""
    match told:
        case str():
            return cast("_Told", _text(told, longest))
        case Mapping():
            items = cast("Mapping[Any, Any]", told).items()
            return cast("_Told", {plain(key): plain(one, longest) for key, one in items})
        case list():
            return cast("_Told", [plain(one, longest) for one in cast("list[Any]", told)])
        case _:
            return told


def _text(text: str, longest: int) -> str:
    cut = " ".join(text[: 4 * longest].split())
    shown = "".join("\N{REPLACEMENT CHARACTER}" if _steers(one) else one for one in cut)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _steers(letter: str) -> bool:
    return unicodedata.category(letter) in _STEERS
