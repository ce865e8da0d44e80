"""A history as OpenAI's responses have it.

A reasoning stands right before what came of it, and each of the two has to come with the other. So
what has an id is given back by it only where the whole turn is: otherwise as plain words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lastword.core.shown import Shown
from lastword.engines.kit.files import Content, File, PictureLink
from lastword.engines.kit.history import Ids, Item, sides, told
from lastword.engines.kit.wire import kept, wire_name
from lastword.runtime.checks import encodable

RESPONSES = "openai.responses"


def responses(history: Iterable[Shown], *, whose: str = RESPONSES) -> list[Item]:
    """`input` of a response. `whose` natives are given back: reasoning, and the ids of items."""
    ids, items, seen = Ids(whose), list[Item](), set[str]()
    for side, shown in sides(history, whose):
        if side == "model":
            items += [one for item in shown for one in _said(item, ids, whose, seen)]
            continue
        for item in shown:
            if item.role == "result":
                output = {"call_id": ids.of(item), "output": encodable(item.text)}
                items.append({"type": "function_call_output", **output})
            else:
                items.append({"role": "user", "content": _content(told(item))})
    return items


def _said(item: Shown, ids: Ids, whose: str, seen: set[str]) -> Iterator[Item]:
    back = kept(item.native, whose)
    known = _unseen(back, seen)
    match item.role:
        case "thinking":
            if known and isinstance(back.get("item"), dict):
                yield back["item"]
        case "call":
            made = {"call_id": ids.of(item), "name": wire_name(item.name)}
            yield {"type": "function_call", **known, **made, "arguments": encodable(item.text)}
        case _ if known:
            text: Item = {"type": "output_text", "text": encodable(item.text), "annotations": []}
            said: Item = {"role": "assistant", "status": "completed", "content": [text]}
            yield {"type": "message", **known, **said}
        case _:
            yield {"role": "assistant", "content": encodable(item.text)}


def _unseen(back: dict[str, Any], seen: set[str]) -> Item:
    """The id of an item, if it has one and no other has it."""
    own = back.get("id")
    if not isinstance(own, str) or not own or own in seen:
        return {}
    seen.add(own)
    return {"id": own}


def _content(content: Sequence[Content]) -> str | list[Item]:
    if len(content) == 1 and isinstance(content[0], str):
        return content[0]
    return [_part(one) for one in content]


def _part(one: Content) -> Item:
    match one:
        case File() if one.is_pdf:
            return {"type": "input_file", "filename": one.filename, "file_data": one.url}
        case File() | PictureLink():
            return {"type": "input_image", "image_url": one.url}
        case _:
            return {"type": "input_text", "text": one}
