"""What was said in a session, as AG-UI 1.0 has a conversation: `MESSAGES_SNAPSHOT`.

A client puts it in the place of what it had, so one that missed a stop, or comes in the middle, has
the same messages as everybody, under the ids by which the events that follow go on with them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, TypeAlias, assert_never

from lastword.core import scene
from lastword.core.model import Attachment, Message, MessageId, Status
from lastword.core.picture import Picture
from lastword.core.scene import CallPart, Item, Part
from lastword.core.turns import SETTLED
from lastword.server.shapes import Shapes, encode

Event: TypeAlias = dict[str, Any]
_MOST = 8 << 20  # bytes; the protocol's client gives up at ten million characters in one event


def messages(picture: Picture, shapes: Shapes, new: Iterable[Message] = ()) -> Event:
    """The newest of it, as much as a client takes in; what waits for its turn comes last, and then
    what was just sent."""
    told = [one for item in picture.items for one in _item(picture, item, shapes)]
    told += [one for message in picture.pending for one in _said(picture, message)]
    told += [_of_person(one) for one in new if one.id not in picture.messages]
    sizes = accumulate(len(encode(one)) for one in reversed(told))
    fitting = max(sum(size <= _MOST for size in sizes), 1)
    return {"type": "MESSAGES_SNAPSHOT", "messages": told[-fitting:]}


def result(id_: str, made: CallPart) -> Event:
    """What a call came to. One that ended in no way that is known may have been made."""
    status = made.status if made.status in SETTLED else Status.MAY_HAVE_EXECUTED
    how = {"lastword": {"status": status, "error": made.error}}
    content = made.content or ("" if status is Status.COMPLETED else f"[{status}]")
    return {"role": "tool", "toolCallId": id_, "content": content, "metadata": how}


def _item(picture: Picture, item: Item, shapes: Shapes) -> Iterator[Event]:
    match item:
        case scene.MessageItem(message):
            yield from _said(picture, message)
        case scene.TurnItem(head, parts):
            for place, part in enumerate(parts):
                id_, going = f"{shapes.out(head.run)}/{place}", head.run == picture.phase.active
                yield from _part(picture, id_, part, shapes, going=going)
        case scene.ReceiptItem(receipt, settled):
            told = shapes.receipt(receipt, settled=settled)
            yield _activity(str(item.key), "receipt", told)
        case scene.NoteItem(key, text):
            yield _activity(str(key), "note", {"text": text})
        case _:
            assert_never(item)


def _part(
    picture: Picture, id_: str, part: Part, shapes: Shapes, *, going: bool
) -> Iterator[Event]:
    match part:
        case scene.Words(kind):
            if kind != "progress":  # what it was doing then
                role = "assistant" if kind == "text" else "reasoning"
                yield {"id": id_, "role": role, "content": part.text}
        case CallPart(call=call, nature=nature):
            if nature != "post":
                yield from _call(shapes.out(call), part, going=going)
        case scene.Joined(message):
            yield from _said(picture, message)
        case scene.Aside(text):
            yield _activity(id_, "note", {"text": text})
        case _:
            assert_never(part)


def _call(id_: str, made: CallPart, *, going: bool) -> Iterator[Event]:
    function = {"name": made.name, "arguments": made.arguments}
    calls = [{"id": id_, "type": "function", "function": function}]
    yield {"id": id_, "role": "assistant", "toolCalls": calls}
    if made.status in SETTLED or not going:
        yield {"id": f"{id_}/result", **result(id_, made)}


def _activity(id_: str, kind: str, content: object) -> Event:
    what = {"role": "activity", "activityType": f"lastword.{kind}"}
    return {"id": id_, **what, "content": content}


def _said(picture: Picture, id_: MessageId) -> Iterator[Event]:
    said = picture.messages.get(id_)
    if said and said.message.origin == "person":
        yield _of_person(said.message)


def _of_person(message: Message) -> Event:
    parts = [{"type": "text", "text": message.text}, *map(_attached, message.attachments)]
    content = parts if message.attachments else message.text
    return {"id": message.id, "role": "user", "content": content}


def _attached(one: Attachment) -> Event:
    family = one.media_type.partition("/")[0]
    kind = family if family in ("image", "audio", "video") else "document"
    data = base64.b64encode(one.data.encode()).decode() if family == "text" else one.data
    source = {"type": "data", "value": data} if data else {"type": "url", "value": one.uri}
    return {"type": kind, "source": {**source, "mimeType": one.media_type}}
