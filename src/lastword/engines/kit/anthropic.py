"""A history as Anthropic's messages have it: the two sides in turn, as lists of blocks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from lastword.core.shown import Shown
from lastword.engines.kit.files import Content, File, PictureLink
from lastword.engines.kit.history import Ids, Item, sides, told
from lastword.engines.kit.wire import kept, wire_name
from lastword.runtime.checks import encodable

ANTHROPIC = "anthropic"


def anthropic(history: Iterable[Shown], *, whose: str = ANTHROPIC) -> list[Item]:
    """`messages`. `whose` natives are given back: thinking with its signature, the ids of calls."""
    ids, messages = Ids(whose), list[Item]()
    for side, items in sides(history, whose):
        if side == "model":
            blocks = [block for item in items for block in _said(item, ids, whose)]
            messages.append({"role": "assistant", "content": blocks})
        else:
            blocks = [block for item in items for block in _told(item, ids)]
            messages.append({"role": "user", "content": blocks})
    return messages


def _said(item: Shown, ids: Ids, whose: str) -> Iterator[Item]:
    match item.role:
        case "thinking":
            yield kept(item.native, whose)["block"]
        case "call":
            given = json.loads(encodable(item.text))
            yield {
                "type": "tool_use",
                "id": ids.of(item),
                "name": wire_name(item.name),
                "input": given,
            }
        case _:
            yield {"type": "text", "text": encodable(item.text)}


def _told(item: Shown, ids: Ids) -> Iterator[Item]:
    if item.role == "result":
        content = encodable(item.text)
        result = {"type": "tool_result", "tool_use_id": ids.of(item), "content": content}
        yield {**result, "is_error": True} if item.error else result
        return
    yield from map(_block, told(item))


def _block(one: Content) -> Item:
    match one:
        case File(kind):
            source = {"type": "base64", "media_type": kind, "data": one.base64}
            return {"type": "document" if one.is_pdf else "image", "source": source}
        case PictureLink(url):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case _:
            return {"type": "text", "text": one}
