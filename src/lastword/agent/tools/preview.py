"""What a call would change in a file, for whoever is asked whether it may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lastword.agent.tools.edits import MOST_COMPARED, There, replaced
from lastword.agent.tools.files import Files
from lastword.core.changes import Change, change


def preview(
    files: Files, tool: str, arguments: Mapping[str, Any], may_go_on: Callable[[], bool]
) -> Change | None:
    """None if nobody can tell, since it would not be done: outside, no such file, no such text."""
    path = arguments.get("path")
    if not isinstance(path, str):
        return None
    try:
        there = _there(files, path, may_go_on)
        made = _written(there, arguments) if tool == "write_file" else _edited(there, arguments)
    except (OSError, ValueError):
        return None
    return replace(made, against=there.mark) if made else None


def _there(files: Files, path: str, may_go_on: Callable[[], bool]) -> There:
    try:
        with files.roots.at(path) as place:
            return files.there(place, may_go_on)
    except FileNotFoundError:  # nor is the directory
        return There(None, 0, "nothing")


def _written(there: There, arguments: Mapping[str, Any]) -> Change | None:
    text = arguments.get("text")
    if not isinstance(text, str):
        return None
    after = text.encode(errors="replace").decode()
    if why := _hidden(there):
        return replace(change(None, after), new=False, hidden=why)
    return change(None if there.data is None else there.data.decode(), after)


def _edited(there: There, arguments: Mapping[str, Any]) -> Change | None:
    old, new = arguments.get("old"), arguments.get("new")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if why := _hidden(there):
        return replace(change(old, new), hidden=why)
    if there.data is None:
        return None
    after, _ = replaced(there.data, old, new, "", every=bool(arguments.get("all")))
    return change(there.data.decode(), after.decode())


def _hidden(there: There) -> str:
    """What is there, if it cannot be shown, and why."""
    why = there.unread
    if there.data is not None and len(there.data) > MOST_COMPARED:
        why = "too long"
    elif there.data is not None:
        try:
            there.data.decode()
        except UnicodeDecodeError:
            why = "not text"
    return f"a file of {_size(there.size)} that is not shown ({why})" if why else ""


def _size(size: int) -> str:
    if size >= 1_000_000:
        return f"{size / 1_000_000:.1f} MB"
    return f"{size / 1000:.1f} KB" if size >= 1000 else f"{size} bytes"
