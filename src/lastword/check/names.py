"""What an answer names as not ended yet, and whom that excuses.

A name excuses what it names and nothing else: the process whose number is in it, or the call whose
tool or run is. One name is one call, however many of the same tool there are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from lastword.check.deeds import Deed

_GOING = ("unconfirmed", "still_going", "stillGoing", "kept")
_OURS = "lw_"  # what our tools are called begins with this


def still_going(meta: Mapping[str, Any]) -> list[str]:
    """What an answer names as not ended yet: each thing that is listed under such a word."""
    found: list[str] = []
    for key, value in meta.items():
        if key in _GOING and value:
            several = cast("list[object]", value if isinstance(value, list) else [value])
            found += [one if isinstance(one, str) else json.dumps(one) for one in several]
        elif isinstance(value, Mapping):
            found += still_going(cast("Mapping[str, Any]", value))
    return found


def unnamed(names: Sequence[str], deeds: Iterable[Deed]) -> tuple[list[Deed], list[str]]:
    """Of these deeds, those that nobody named; and for each of the others, by which name."""
    left, found, calls = list(names), list[Deed](), dict[tuple[str, object], str]()
    told: list[str] = []
    for deed in deeds:
        call = (str(deed["tool"]), deed.get("n"))
        name = next((one for one in names if _number(deed["pid"], one)), "") or calls.get(call, "")
        if not name and (name := next((one for one in left if _call(deed, one)), "")):
            left.remove(name)
            calls[call] = name
        if name:
            told.append(f"{name} (pid {deed['pid']})")
        else:
            found.append(deed)
    return found, list(dict.fromkeys(told))


def _number(pid: int, name: str) -> bool:
    return re.search(rf"(?<!\d){pid}(?!\d)", name) is not None


def _call(deed: Deed, name: str) -> bool:
    words = set(re.findall(r"[A-Za-z0-9_]+", name))
    tool = str(deed["tool"])
    return deed["run"] in words or (tool.startswith(_OURS) and tool in words)
