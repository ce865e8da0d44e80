"""What stays of a session for who comes later, on the page, as `tests.core.picture_laws` has it.

What only passes does not: what a run told of its doing, what a call wrote, when words were said,
when a call that has ended began, and that something was found after a restart, of which the log has
what became of it.
"""

from __future__ import annotations

import json
from typing import Any

_FOUND = "After a restart: "


def lasting_page(drawn: str) -> dict[str, Any]:
    """Of the page."""
    state = json.loads(drawn)
    items = [_item(one) for one in state["items"] if not one.get("text", "").startswith(_FOUND)]
    state.pop("level")  # is known with the first receipt of who was there
    return state | {"items": items}


def _item(item: dict[str, Any]) -> dict[str, Any]:
    if item["kind"] == "note":
        return {"text": item["text"]}
    if item["kind"] == "receipt":  # what of it has ended since is told by the last
        return {"key": item["key"], "quiet": item["settled"] or item["receipt"]["quiet"]}
    return item | {"parts": _joined(item["parts"])} if item["kind"] == "turn" else item


def _joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in parts:
        last = found[-1] if found else {}
        match part["kind"]:
            case "progress":
                pass
            case "call":
                began = part["began"] if part["status"] == "begun" else 0.0
                found.append(part | {"output": "", "began": began})
            case "text" | "thinking" as kind if last.get("kind") == kind:
                last["text"] += part["text"]
            case "text" | "thinking" as kind:
                found.append({"kind": kind, "text": part["text"]})
            case _:
                found.append(part)
    return found
