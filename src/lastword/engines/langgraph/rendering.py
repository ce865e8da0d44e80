"""What a tool gave, as the log keeps it: what the model is shown of it."""

from __future__ import annotations

import json
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from lastword.engines.kit.rendering import render


def rendered(result: object) -> str:
    """What a tool gave, as the model is shown it."""
    match result:
        case ToolMessage():
            return rendered(result.text or result.content)
        case Command() if told := _told_in(cast("Command[Any]", result).update):
            return rendered(told)
        case Command():
            return render("")
        case list() if all(isinstance(one, dict) for one in cast("list[object]", result)):
            blocks = cast("list[dict[str, Any]]", result)
            return "".join(str(b.get("text") or json.dumps(b, default=str)) for b in blocks)
        case _:
            return render(result)


def _told_in(update: object) -> ToolMessage | None:
    pairs = cast("dict[str, Any]", update) if isinstance(update, dict) else {}
    for value in pairs.values():
        for one in cast("list[object]", value) if isinstance(value, list) else ():
            if isinstance(one, ToolMessage):
                return one
    return None
