"""What of a request can be sent, whatever a person, a model or a tool said.

Providers refuse a whole request for one thing in it: half of a character, a blank text, a tool's
name or an id of the wrong letters, an id that two things have, a file of another kind. The log
keeps such things as they were, so each is put right here, right before the request leaves.
"""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from pydantic_ai.messages import (
    BinaryContent,
    FileUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters

from lastword.core.shown import WORDLESS, as_object
from lastword.engines.kit.wire import is_id, safely, same, wire_id, wire_name
from lastword.engines.pydantic_ai.files import sendable_file
from lastword.runtime.checks import encodable

P = TypeVar("P", bound="Part")
Part = ModelRequestPart | ModelResponsePart
_NOTHING = "[nothing]"


def sendable(messages: Iterable[ModelMessage], model: Model | None = None) -> list[ModelMessage]:
    """The messages as they can be sent."""
    sent = Sendable(model)
    sent.take(messages)
    return sent.messages


class Sendable:
    """A request, as far as it is ready to be sent; another one may go on from there.

    After an answer that was none, its question is simply asked again. The framework would give
    the empty answer back with a reproach, and strict providers take neither.
    """

    def __init__(self, model: Model | None = None, after: Sendable | None = None) -> None:
        self.model = model
        self.messages: list[ModelMessage] = after.messages.copy() if after else []
        self.again = after.again if after else False
        self.ids = _Ids(after.ids if after else None)

    def take(self, messages: Iterable[ModelMessage]) -> None:
        """What comes next in it."""
        for message in messages:
            new = self._put_right(message)
            if isinstance(new, ModelResponse):
                self.again = not any(map(_says_something, new.parts))
                self.messages += [] if self.again else [new]
            elif self.again and self.messages:
                asked = [part for part in new.parts if isinstance(part, UserPromptPart)]
                last = self.messages[-1]
                self.messages[-1] = with_parts(last, [*last.parts, *asked])
            else:
                self.messages.append(new)

    def begin_with(self, first: ModelRequest) -> None:
        """Another request in place of the first."""
        self.messages[0] = self._put_right(first)

    def _put_right(self, message: ModelMessage) -> ModelMessage:
        right = (_put_right(part, self.model) for part in message.parts)
        return with_parts(message, [self.ids.own(part) for part in right if part])


def safe_parameters(parameters: ModelRequestParameters) -> ModelRequestParameters:
    """The instructions, which may have the name of a directory in them, as they can be sent."""
    told = parameters.instruction_parts or []
    safe = [replace(part, content=safely(part.content)) for part in told if part.content.strip()]
    return parameters if safe == told else replace(parameters, instruction_parts=safe)


class _Ids:
    """An id stands for one thing, in the whole of a request."""

    def __init__(self, before: _Ids | None = None) -> None:
        # what was there before is looked at, and not changed
        self.calls = _after(before and before.calls)  # as each was given, and as it is sent
        self.sent = _after(before and before.sent)
        self.items = _after(before and before.items)
        self.count = before.count if before else 0

    def own(self, part: P) -> P:
        if isinstance(part, ToolCallPart):
            return cast("P", self._item(self._called(part)))
        if isinstance(part, ToolReturnPart):
            id_ = self.calls.get(part.tool_call_id, part.tool_call_id)
            return part if id_ == part.tool_call_id else cast("P", replace(part, tool_call_id=id_))
        return cast("P", self._item(part)) if isinstance(part, TextPart) else part

    def _called(self, part: ToolCallPart) -> ToolCallPart:
        given = part.tool_call_id
        id_ = given if is_id(given) else wire_id(given)
        if id_ in self.sent:
            id_ = wire_id(f"{given} {self.count}")
        self.count += 1
        self.sent[id_] = self.calls[given] = id_
        return part if id_ == given else replace(part, tool_call_id=id_)

    def _item(self, part: TextPart | ToolCallPart) -> TextPart | ToolCallPart:
        if not part.id:
            return part
        if part.id in self.items:
            return replace(part, id=None)
        self.items[part.id] = part.id
        return part


def _after(before: ChainMap[str, str] | None) -> ChainMap[str, str]:
    return ChainMap() if before is None else before.new_child()


def _put_right(part: Any, model: Model | None) -> Any:  # noqa: ANN401 - a part, or None of it
    """A part as it can be sent; None if there is nothing to send."""
    if isinstance(part, ToolReturnPart):
        part = readable(cast("ToolReturnPart", part))
    part = safe_part(part)
    match part:
        case TextPart(content=text) | SystemPromptPart(content=text):
            return part if text.strip() else None
        case UserPromptPart():
            told = _told(part.content, model)
            return part if told is part.content else replace(part, content=told)
        case ToolCallPart():
            return _called(cast("ToolCallPart", part))
        case ToolReturnPart():
            return _returned(cast("ToolReturnPart", part), model)
        case _:
            return part


def _called(part: ToolCallPart) -> ToolCallPart:
    name, args = wire_name(part.tool_name), part.args
    if args and not (isinstance(args, dict) and _is_json(args)):
        args = as_object(args if isinstance(args, str) else repr(args))
    if (name, args) == (part.tool_name, part.args):
        return part
    return replace(part, tool_name=name, args=args)


def _is_json(args: dict[str, Any]) -> bool:
    try:
        json.dumps(args, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def readable(part: ToolReturnPart) -> ToolReturnPart:
    """A result, of which every piece can be put into letters."""
    content: Any = part.content
    if isinstance(content, str):
        return part
    if type(content) in (list, tuple):
        pieces = cast("Sequence[Any]", content)
        told = [_in_letters(piece) for piece in pieces]
        return part if same(told, pieces) else replace(part, content=told)
    told = _in_letters(content)
    return part if told is content else replace(part, content=told)


def _in_letters(value: Any) -> Any:  # noqa: ANN401 - whatever a tool gave
    """The value, if it can be sent; otherwise what it says of itself, or what it is."""
    if isinstance(value, str | BinaryContent | FileUrl | UploadedFile):
        return value
    try:
        ToolReturnPart("", safely(value), "").model_response_str()
    except Exception:  # noqa: BLE001 - a value of a team's own can raise anything
        return said_of_itself(value)
    return value


def said_of_itself(value: object) -> str:
    """A value that has no other letters."""
    try:
        return encodable(repr(safely(value)))
    except Exception:  # noqa: BLE001 - here too
        return f"[a {type(value).__name__} that cannot be shown]"


def _returned(part: ToolReturnPart, model: Model | None) -> ToolReturnPart:
    content: Any = part.content
    if isinstance(content, str):
        content = content if content.strip() else _NOTHING
    elif isinstance(content, list | tuple):
        items = cast("Sequence[Any]", content)
        told = [_NOTHING if _is_blank(item) else sendable_file(item, model) for item in items]
        content = told or _NOTHING
    else:
        content = sendable_file(content, model)
    name = wire_name(part.tool_name)
    if content == part.content and name == part.tool_name:
        return part
    return replace(part, tool_name=name, content=content)


def _told(content: str | Sequence[UserContent], model: Model | None) -> str | Sequence[UserContent]:
    if isinstance(content, str):
        return content if content.strip() else WORDLESS
    told = [sendable_file(item, model) for item in content if not _is_blank(item)]
    return content if same(told, content) and told else told or WORDLESS


def _is_blank(item: UserContent) -> bool:
    text = item.content if isinstance(item, TextContent) else item
    return isinstance(text, str) and not text.strip()


def _says_something(part: ModelResponsePart) -> bool:
    return not isinstance(part, ThinkingPart)


def safe_part(part: P) -> P:
    """The same part, or one with which it can be sent."""
    changed = {
        name: safe
        for name in ("content", "args", "tool_name")
        if (given := getattr(part, name, None)) and (safe := safely(given)) is not given
    }
    return replace(part, **changed) if changed else part


def with_parts(message: ModelMessage, parts: list[Any]) -> ModelMessage:
    """The message, or one like it that has these parts."""
    return message if same(parts, message.parts) else replace(message, parts=parts)
