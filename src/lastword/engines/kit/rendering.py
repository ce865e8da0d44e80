"""What a tool gave, as the log keeps it and a model is shown it: words, and no bytes as letters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from lastword.core.model import Status
from lastword.runtime.rendering import rendered


def render(value: object) -> str:
    """A result, in words; one that has none says that it completed."""
    try:
        said = rendered(_plain(value))
    except Exception:  # noqa: BLE001 - a value of a team's own can raise anything
        said = f"[a {type(value).__name__} that cannot be shown]"
    return said if said.strip() else f"[{Status.COMPLETED}]"


def explain(error: Exception) -> str:
    """An error of a tool's own, as the model is told it."""
    return f"{type(error).__name__}: {error}"


def _plain(value: object) -> object:
    """The value as JSON has it, as far as it says so itself."""
    match value:
        case None:
            return ""
        case bytes() | bytearray():
            return f"[{len(value)} bytes]"
        case Mapping():
            pairs = cast("Mapping[object, object]", value)
            return {str(key): _plain(item) for key, item in pairs.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in cast("list[object]", value)]
        case _:
            return _dumped(value)


def _dumped(value: Any) -> object:  # noqa: ANN401 - whatever a tool gave
    if isinstance(value, type):
        return repr(cast("object", value))
    if callable(dump := getattr(value, "model_dump", None)):  # a model of pydantic's
        return dump(mode="json")
    fields = dataclasses.is_dataclass(value)
    return _plain(dataclasses.asdict(cast("Any", value))) if fields else value
