"""What a call would change in a file, for whoever is asked whether it may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lastword.agent.tools.files import Files
from lastword.agent.tools.roots import Place
from lastword.core.changes import Change, change

_MOST = 1 << 20  # bytes of a file


def preview(
    files: Files, tool: str, arguments: Mapping[str, Any], may_go_on: Callable[[], bool]
) -> Change | None:
    """None if nobody can tell: no such file, no text, too long, or it would not be done at all."""
    path = arguments.get("path")
    if not isinstance(path, str):
        return None
    try:
        with files.roots.at(path) as place:
            before = _there(files, place, may_go_on)
    except (OSError, ValueError):
        return None if tool != "write_file" else _written(None, arguments)
    return _written(before, arguments) if tool == "write_file" else _edited(before, arguments)


def _there(files: Files, place: Place, may_go_on: Callable[[], bool]) -> str | None:
    held = files.held(place, may_go_on)
    if held is None:
        if place.status() is None:
            return None
        with place.file() as file:
            held = file.read(_MOST + 1)
    if len(held) > _MOST:
        raise ValueError("too long to be shown")
    return held.decode()


def _written(before: str | None, arguments: Mapping[str, Any]) -> Change | None:
    text = arguments.get("text")
    return change(before, text) if isinstance(text, str) else None


def _edited(before: str | None, arguments: Mapping[str, Any]) -> Change | None:
    old, new = arguments.get("old"), arguments.get("new")
    if before is None or not isinstance(old, str) or not isinstance(new, str) or old not in before:
        return None
    often = -1 if arguments.get("all") else 1
    return change(before, before.replace(old, new, often))
