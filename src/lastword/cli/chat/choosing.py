"""The sessions there are, as a person chooses one: with a title, an age, and how much was said."""

from __future__ import annotations

import time

from lastword.cli.chat.picking import Choosable
from lastword.cli.chat.words import count, short
from lastword.core.model import SessionId
from lastword.runtime.runtime import Runtime
from lastword.stores.contract import Overview, SessionFilter

_MOST = 200
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"))


async def listing(runtime: Runtime, here: SessionId, words: str = "") -> list[Choosable]:
    """A line for each, the newest first; with words, those whose title has them."""
    found = await runtime.recent("", _MOST, None, SessionFilter(words))
    now = time.time_ns() / 1e9
    lines = [
        Choosable(one.session, _line(number, one, here, now)) for number, one in enumerate(found, 1)
    ]
    if not words and all(one.session != here for one in found):
        lines.insert(0, Choosable(here, f"*    {short(here, 40)}  (nothing was said here yet)"))
    return lines


async def chosen(runtime: Runtime, word: str) -> str:
    """The name of the one that is meant: by its name, or by its number in the list."""
    if not word.isdecimal() or await runtime.overview(word):
        return word
    found = await runtime.recent("", _MOST)
    return found[int(word) - 1].session if 0 < int(word) <= len(found) else word


def _line(number: int, one: Overview, here: SessionId, now: float) -> str:
    mark = "*" if one.session == here else " "
    pinned = "pinned, " if one.pinned else ""
    title = f"  {short(one.title, 40)}" if one.title and one.title != one.session else ""
    said = count(one.messages, "message")
    told = f"{pinned}{_age(now - one.at)}, {said}"
    return f"{mark} {number:2} {short(one.session, 40)}{title}  ({told})"


def _age(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            many = int(seconds // size)
            return f"{many} {unit} ago" if many == 1 else f"{many} {unit}s ago"
    return "just now"
