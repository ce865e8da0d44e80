"""A history as OpenAI's chat completions have it, and as the many servers that speak them take it.

Messages of one role are one message: the templates of some models take no two in a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lastword.core.shown import Shown
from lastword.engines.kit.files import Content, File, PictureLink
from lastword.engines.kit.history import Ids, Item, sides, told
from lastword.engines.kit.wire import wire_name
from lastword.runtime.checks import encodable

CHAT = "openai.chat"


def chat(history: Iterable[Shown], *, whose: str = CHAT, files: bool = True) -> list[Item]:
    """`messages` of a chat completion. `whose` natives are given back: the ids of its calls.

    Without `files`, those are told by name, and each content is a text.
    """
    ids, messages = Ids(whose), list[Item]()
    for side, items in sides(history, whose):
        if side == "model":
            messages.append(_said(items, ids))
            continue
        messages += [_result(item, ids) for item in items if item.role == "result"]
        others = [item for item in items if item.role != "result"]
        if content := [one for item in others for one in (told if files else _named)(item)]:
            messages.append({"role": "user", "content": _content(content)})
    return messages


def _said(items: Sequence[Shown], ids: Ids) -> Item:
    calls = [
        {
            "id": ids.of(item),
            "type": "function",
            "function": {"name": wire_name(item.name), "arguments": encodable(item.text)},
        }
        for item in items
        if item.role == "call"
    ]
    text = "".join(encodable(item.text) for item in items if item.role == "assistant")
    said: Item = {"role": "assistant", "content": text or None}
    return {**said, "tool_calls": calls} if calls else said


def _result(item: Shown, ids: Ids) -> Item:
    return {"role": "tool", "tool_call_id": ids.of(item), "content": encodable(item.text)}


def _named(item: Shown) -> list[Content]:
    content = told(item, lambda _: False)
    return [f"[{one.url}]" if isinstance(one, PictureLink) else one for one in content]


def _content(content: Sequence[Content]) -> str | list[Item]:
    texts = [one for one in content if isinstance(one, str)]
    return "\n\n".join(texts) if len(texts) == len(content) else [_part(one) for one in content]


def _part(one: Content) -> Item:
    match one:
        case File() if one.is_pdf:
            return {"type": "file", "file": {"filename": one.filename, "file_data": one.url}}
        case File() | PictureLink():
            return {"type": "image_url", "image_url": {"url": one.url}}
        case _:
            return {"type": "text", "text": one}
