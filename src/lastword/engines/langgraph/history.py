"""What a model is shown of the session, as LangChain's messages: from the log, in each request.

A graph is given them without what is a provider's own, as it is not known yet who will be asked.
Each has an id. So a request, which is made of what the graph's nodes hand on, is told from another,
and has the same messages as that very model is to have them: its natives given back, and less of
them if it refused some.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from lastword.core.model import Status
from lastword.core.shown import Shown, as_object
from lastword.engines.kit.files import Content, File, PictureLink
from lastword.engines.kit.history import Ids, sides, told
from lastword.engines.kit.wire import kept, wire_name
from lastword.runtime.checks import encodable

_OURS = "lastword-"
NOBODYS = ""  # whose natives a graph is given


def is_ours(message: BaseMessage) -> bool:
    """Whether it is of the session, and not of this run."""
    return (message.id or "").startswith(_OURS)


def messages_of(history: Iterable[Shown], whose: str = NOBODYS) -> list[AnyMessage]:
    """The session, for a model that is given `whose` natives back."""
    numbered = list(history)
    places = {id(item): place for place, item in enumerate(numbered)}
    ids, messages = Ids(whose), list[AnyMessage]()
    for side, items in sides(numbered, whose):
        if side == "model":
            first = next((item for item in items if item.role != "thinking"), None)
            if first is not None:
                messages.append(_said(items, ids, whose, _id(places[id(first)])))
            continue
        messages += [_result(i, ids, _id(places[id(i)])) for i in items if i.role == "result"]
        if rest := [item for item in items if item.role != "result"]:
            content = [one for item in rest for one in told(item)]
            messages.append(human(content, _id(places[id(rest[0])])))
    return messages


def human(content: Sequence[Content], id: str | None = None) -> HumanMessage:
    """What stands on the person's side."""
    texts = [one for one in content if isinstance(one, str)]
    if len(texts) == len(content):
        return HumanMessage("\n\n".join(texts), id=id)
    return HumanMessage([_block(one) for one in content], id=id)


def after(messages: Iterable[BaseMessage], add: HumanMessage) -> list[BaseMessage]:
    """The same, and then this; as one message, if the last is the person's too."""
    before = [*messages]
    last = before.pop() if before else None
    if not isinstance(last, HumanMessage):
        return [*before, *([last] if last else []), add]
    if isinstance(last.content, str) and isinstance(add.content, str):
        joined: Any = f"{last.content}\n\n{add.content}"
    else:
        joined = [*_blocks(last), *_blocks(add)]
    return [*before, last.model_copy(update={"content": joined})]


def whole(
    messages: Sequence[BaseMessage], known: Callable[[], Mapping[str, str]]
) -> list[BaseMessage]:
    """The same, with a result for each call: where a graph keeps messages of its own, a stop may
    have left some without. `known` has what became of a call, by the id that its provider gave.
    And what a model said that is not arguments is given back as an object, as the log's is."""
    shown = list[BaseMessage]()
    waiting = dict[str, str]()  # calls of the answer before, and their names
    for message in messages:
        if isinstance(message, ToolMessage):
            waiting.pop(message.tool_call_id, None)
        else:
            shown += _missing(waiting, known)
            waiting = {}
        if isinstance(message, AIMessage):
            waiting = {call["id"]: call["name"] for call in message.tool_calls if call["id"]}
            shown.append(_with_arguments(message))
        else:
            shown.append(message)
    return [*shown, *_missing(waiting, known)]


def _with_arguments(message: AIMessage) -> AIMessage:
    said, bad = message.content, message.invalid_tool_calls
    blocks = said if isinstance(said, str) else [_with_object(block) for block in said]
    objects = [{**one, "args": as_object(one["args"] or "{}")} for one in bad]
    if (blocks, objects) == (said, bad):
        return message
    return message.model_copy(update={"content": blocks, "invalid_tool_calls": objects})


def _with_object(block: str | dict[Any, Any]) -> str | dict[Any, Any]:
    if isinstance(block, str) or block.get("type") != "function_call":
        return block
    return {**block, "arguments": as_object(block.get("arguments") or "{}")}


def _missing(
    calls: Mapping[str, str], known: Callable[[], Mapping[str, str]]
) -> Iterator[ToolMessage]:
    for id_, name in calls.items():
        status = known().get(id_, f"[{Status.MAY_HAVE_EXECUTED}]")
        yield ToolMessage(status, tool_call_id=id_, name=name, status="error")


def _id(place: int) -> str:
    return f"{_OURS}{place}"


def _said(items: Sequence[Shown], ids: Ids, whose: str, id: str) -> AIMessage:
    blocks, calls, plain = list[Any](), list[Any](), True
    for item in items:
        back = kept(item.native, whose).get("block")
        match item.role:
            case "call":
                name, given = wire_name(item.name), json.loads(encodable(item.text))
                call = tool_call(name=name, args=given, id=ids.of(item))
                calls.append(call)
                if back:
                    blocks.append(_call_block(back, item))
            case "thinking" if back:
                blocks.append(back)
                plain = False
            case "thinking":
                pass
            case _:
                text = {"type": "text", "text": encodable(item.text)}
                blocks.append({**text, **back} if back else text)
    if plain and not any("id" in block for block in blocks):
        content: Any = "".join(str(block.get("text", "")) for block in blocks)
    else:
        content = blocks
    return AIMessage(content, tool_calls=calls, id=id)


def _call_block(back: Mapping[str, Any], item: Shown) -> dict[str, Any]:
    """A call as its provider has it, with the arguments as they are in the log."""
    given = encodable(item.text)
    if back.get("type") == "function_call":
        return {**back, "arguments": given}
    return {**back, "input": as_object_of(given)}


def as_object_of(given: str) -> dict[str, Any]:
    """Arguments, as an object."""
    read: dict[str, Any] = json.loads(as_object(given))
    return read


def _result(item: Shown, ids: Ids, id: str) -> ToolMessage:
    status = "error" if item.error else "success"
    name = wire_name(item.name) if item.name else None
    text = encodable(item.text)
    return ToolMessage(text, tool_call_id=ids.of(item), name=name, status=status, id=id)


def _blocks(message: HumanMessage) -> list[Any]:
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else [*content]


def _block(one: Content) -> dict[str, Any]:
    match one:
        case File() if one.is_pdf:
            file = {"mime_type": one.kind, "base64": one.base64, "filename": one.filename}
            return {"type": "file", **file}
        case File():
            return {"type": "image", "mime_type": one.kind, "base64": one.base64}
        case PictureLink():
            return {"type": "image", "url": one.url}
        case _:
            return {"type": "text", "text": one}
