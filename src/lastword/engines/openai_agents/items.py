"""What the framework has of calls and results, which are values of its own, models or dicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from lastword.engines.kit.rendering import render


def field_of(item: object, name: str) -> Any:  # noqa: ANN401 - as it is
    """A field of a dict or of an object; None if it has none."""
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item).get(name)
    return getattr(item, name, None)


def told_of(result: object) -> str:
    """What a call gave, as the log keeps it: a text as it is, pictures and files by name."""
    match _plain(result):
        case {"type": "text" | "input_text", "text": str(text)}:
            return render(text)
        case {"type": "image" | "input_image"}:
            return "[a picture]"
        case {"type": "file" | "input_file"} as file:
            return f"[the file {file['filename']}]" if file.get("filename") else "[a file]"
        case [*several] if several and all(field_of(_plain(one), "type") for one in several):
            return "\n".join(map(told_of, several))
        case _:
            return render(result)


def _plain(result: object) -> Any:  # noqa: ANN401 - a dict, if it is one of the framework's
    if callable(dump := getattr(result, "model_dump", None)):
        return dump()
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return dataclasses.asdict(result)
    return result
