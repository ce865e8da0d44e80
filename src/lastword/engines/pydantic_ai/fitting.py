"""What one request to a model holds: only what can be sent, and no more than fits.

The log keeps everything as it was. Only what the model is shown is made shorter, old results first:
a result that was read and answered long ago is what it misses least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_core import to_json

from lastword.runtime.checks import encodable

T = TypeVar("T")
P = TypeVar("P", bound="Part")
Part = ModelRequestPart | ModelResponsePart
_MARK = 40  # letters, about, of the mark of what is missing
_SHORT = 400  # letters that are left of something old


def cut(text: str, most: int) -> str:
    """A long text without its middle, and how much of it is missing."""
    if len(text) <= most:
        return text
    kept = max(most - _MARK, _MARK)
    head = kept * 2 // 3
    missing = len(text) - kept
    return f"{text[:head]}\n[… {missing} characters left out …]\n{text[head - kept :]}"


def sendable(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages as they can be sent: one half of a character in them, and nothing can be.

    After an answer that was none, its question is simply asked again. The framework would give
    the empty answer back with a reproach, and strict providers take neither.
    """
    sent: list[ModelMessage] = []
    again = False
    for message in messages:
        new = _with(message, [safe_part(part) for part in message.parts])
        if isinstance(new, ModelResponse):
            again = not any(map(_says_something, new.parts))
            sent += [] if again else [new]
        elif again and sent:
            asked = [part for part in new.parts if isinstance(part, UserPromptPart)]
            sent[-1] = _with(sent[-1], [*sent[-1].parts, *asked])
        else:
            sent.append(new)
    return sent


def _says_something(part: ModelResponsePart) -> bool:
    blank = isinstance(part, TextPart) and not part.content.strip()
    return not blank and not isinstance(part, ThinkingPart)


def safe_parameters(parameters: ModelRequestParameters) -> ModelRequestParameters:
    """The same of the instructions, which may have the name of a directory in them."""
    told = parameters.instruction_parts or []
    safe = [replace(part, content=safely(part.content)) for part in told]
    return parameters if safe == told else replace(parameters, instruction_parts=safe)


@dataclass(slots=True)
class Fitting:
    """How much goes into a request, of one engine."""

    room: float  # in letters
    beside: int = 0  # letters of instructions and tools in the last request

    def fitted(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> list[ModelMessage]:
        """The messages, shortened as far as it takes."""
        self.beside = _beside(parameters)
        excess = self.beside + sum(map(_letters, _all(messages))) - self.room
        if excess <= 0:
            return messages
        shorter: dict[int, Part] = {}
        for part in _dispensable(messages):
            if excess <= 0:
                break
            shorter[id(part)] = _shortened(part, _SHORT)
            excess -= _letters(part) - _letters(shorter[id(part)])
        if excess > 0:
            shorter |= _evenly(messages[-1].parts, excess)
        return [_with(one, [shorter.get(id(part), part) for part in one.parts]) for one in messages]


def _all(messages: Iterable[ModelMessage]) -> list[Part]:
    return [part for message in messages for part in message.parts]


def _dispensable(messages: Sequence[ModelMessage]) -> list[Part]:
    """What may be shortened, results first; never what is to be answered, nor what is signed."""
    old = _all(messages[:-1])
    asked = [part for part in _all(messages) if isinstance(part, UserPromptPart)]
    last = asked[-1] if asked else None
    old = [part for part in old if part is not last and not isinstance(part, ThinkingPart)]
    return sorted(old, key=lambda part: not isinstance(part, ToolReturnPart))


def _evenly(parts: Sequence[Part], excess: float) -> dict[int, Part]:
    """The newest results without what is too much, each with as much as the others."""
    results = [part for part in parts if isinstance(part, ToolReturnPart)]
    sizes = sorted(map(_letters, results))
    left = max(sum(sizes) - excess, 0)
    share = 0.0
    for done, size in enumerate(sizes):  # what the small ones do not need is the large ones'
        share = left / (len(sizes) - done)
        left -= min(size, share)
    most = max(int(share), _SHORT)
    return {id(part): _shortened(part, most) for part in results}


def _beside(parameters: ModelRequestParameters) -> int:
    told = sum(len(part.content) for part in parameters.instruction_parts or ())
    tools = [*parameters.function_tools, *parameters.output_tools]
    described = sum(len(tool.name) + len(tool.description or "") for tool in tools)
    return told + described + sum(len(to_json(tool.parameters_json_schema)) for tool in tools)


def _letters(part: Part) -> int:
    match part:
        case ToolReturnPart():
            return len(part.model_response_str())
        case ToolCallPart():
            return len(part.tool_name) + len(part.args_as_json_str())
        case _:
            content: Any = getattr(part, "content", "")
            texts: Sequence[Any] = [content] if isinstance(content, str) else content or ()
            return sum(len(text) for text in texts if isinstance(text, str))


def _shortened(part: Part, most: int) -> Part:
    match part:
        case ToolReturnPart():
            text = part.model_response_str()
            return replace(part, content=cut(text, most)) if len(text) > most else part
        case ToolCallPart():
            text = part.args_as_json_str()
            return (
                replace(part, args={"cut": cut(text, most)}, id=None) if len(text) > most else part
            )
        case TextPart(content=text) if len(text) > most:
            return replace(
                part, content=cut(text, most), id=None
            )  # it is no longer what the id names
        case UserPromptPart(content=str(text)):
            return replace(part, content=cut(text, most)) if len(text) > most else part
        case _:
            return part


def _with(message: ModelMessage, parts: list[Any]) -> ModelMessage:
    return message if _same(parts, message.parts) else replace(message, parts=parts)


def safe_part(part: P) -> P:
    """The same part, or one with which it can be sent."""
    changed = {
        name: safe
        for name in ("content", "args", "tool_name")
        if (given := getattr(part, name, None)) and (safe := safely(given)) is not given
    }
    return replace(part, **changed) if changed else part


def safely(value: T) -> T:
    """The value itself, if every text in it can be sent; otherwise one in which it can."""
    given: Any = value
    match given:
        case str():
            return cast("T", encodable(given))
        case list() | tuple():
            items = cast("Sequence[Any]", given)
            new = [safely(item) for item in items]
            return value if _same(new, items) else cast("T", new)
        case dict():
            pairs = cast("dict[Any, Any]", given)
            made = {safely(key): safely(item) for key, item in pairs.items()}
            same = _same([*made, *made.values()], [*pairs, *pairs.values()])
            return value if same else cast("T", made)
        case _:
            return value


def _same(new: Sequence[object], old: Sequence[object]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
