"""Pieces of an answer that came at once are heard at once: one word for the log, not a hundred."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

_WORDS = {"text_delta": "text", "thinking_delta": "thinking"}
Said = Mapping[str, Any]


def together(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[Said, list[dict[str, Any]]]]:
    """What is to be heard, and the messages that say it, in their order."""
    for kind, several in groupby(enumerate(messages), key=_kind):
        alike = [message for _, message in several]
        yield (alike[0] if len(alike) == 1 else _joined(kind[0], alike)), alike


def _kind(numbered: tuple[int, Said]) -> tuple[str, int]:
    """Alike for pieces of one text; any other message is like no other."""
    number, message = numbered
    event = cast("Said", message.get("event") or {})
    delta = cast("Said", event.get("delta") or {})
    kind = delta.get("type")
    nested = message.get("parent_tool_use_id")
    own = event.get("type") == "content_block_delta" and kind in _WORDS and not nested
    return (str(kind), int(event["index"])) if own else ("", -1 - number)


def _joined(kind: str, alike: Sequence[Said]) -> Said:
    name = _WORDS[kind]
    words = "".join(one["event"]["delta"][name] for one in alike)
    event = {**alike[0]["event"], "delta": {"type": kind, name: words}}
    return {**alike[0], "event": event}
