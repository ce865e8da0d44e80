"""What one request to a model holds: no more than fits.

The log keeps everything as it was. Only what the model is shown is made shorter, old results first:
a result that was read and answered long ago is what it misses least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_core import to_json

from lastword.core.brief import cut
from lastword.engines.pydantic_ai.sendable import Part, with_parts

_SHORT = 400  # letters that are left of something old


@dataclass(slots=True)
class Fitting:
    """How much goes into a request, of one engine."""

    room: float  # in letters
    beside: int = 0  # letters of instructions and tools in the last request

    def fitted(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters, before: int = 0
    ) -> list[ModelMessage]:
        """The messages, shortened as far as it takes.

        `before` is how many prompts there are before those that are to be answered.
        """
        self.beside = _beside(parameters)
        excess = self.beside + sum(map(_letters, _all(messages))) - self.room
        if excess <= 0:
            return messages
        shorter: dict[int, Part] = {}
        for part in _dispensable(messages, before):
            if excess <= 0:
                break
            shorter[id(part)] = _shortened(part, _SHORT)
            excess -= _letters(part) - _letters(shorter[id(part)])
        if excess > 0:
            shorter |= _evenly(messages[-1].parts, excess)
        return [
            with_parts(one, [shorter.get(id(part), part) for part in one.parts]) for one in messages
        ]


def _all(messages: Iterable[ModelMessage]) -> list[Part]:
    return [part for message in messages for part in message.parts]


def _dispensable(messages: Sequence[ModelMessage], before: int) -> list[Part]:
    """What may be shortened, results first; never what is to be answered, nor what is signed."""
    asked = prompts(messages)
    earlier = {id(part) for part in asked[: min(before, len(asked) - 1)]} if asked else set[int]()
    old = [part for part in _all(messages[:-1]) if not isinstance(part, ThinkingPart)]
    old = [part for part in old if not isinstance(part, UserPromptPart)]
    old += [part for part in asked if id(part) in earlier]
    return sorted(old, key=lambda part: not isinstance(part, ToolReturnPart))


def prompts(messages: Iterable[ModelMessage]) -> list[UserPromptPart]:
    """All that stands on the person's side, lastword's own notes included."""
    return [part for part in _all(messages) if isinstance(part, UserPromptPart)]


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
        case UserPromptPart(content=list(pieces)):  # words, and files that are read as such
            short = [cut(one, most) if isinstance(one, str) else one for one in pieces]
            return part if short == pieces else replace(part, content=short)
        case _:
            return part
