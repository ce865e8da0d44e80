"""A model for rehearsals: no network, no key, the same answer every time, at a human pace.

It streams, thinks and calls tools as a provider's model would, and misbehaves when it is told to,
so that a demonstration or a test shows what really happens. Its rules are in `rehearsal_lines`;
a person finds them by saying "help".
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

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
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.function import (
    DeltaThinkingCalls,
    DeltaThinkingPart,
    DeltaToolCall,
    DeltaToolCalls,
    FunctionStreamedResponse,
)
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from lastword.agent.rehearsal_lines import Misbehaviour, Piece, RehearsedTurn, Scene, answer

Part: TypeAlias = ModelRequestPart | ModelResponsePart
Breathe: TypeAlias = Callable[[], Awaitable[None]]
Chunk: TypeAlias = str | DeltaToolCalls | DeltaThinkingCalls
_NAME = "rehearsal"
_UNSTOPPED = 2_000  # after so many, even a misbehaving stream has had enough
_DEAF, _FLOOD = 100, 5_000  # how often it goes on after the cancel: at its pace, or at once


class Rehearsal(Model[None]):
    """Follows its rules. `pace` is the number of seconds for a word."""

    def __init__(self, pace: float = 0.04) -> None:
        super().__init__(profile=ModelProfile(supports_inline_system_prompts=True))
        self._pace = pace

    @property
    def model_name(self) -> str:
        return _NAME

    @property
    def system(self) -> str:
        return _NAME

    async def breathe(self) -> None:
        """What it does between two words; a test can have it do something else."""
        await asyncio.sleep(self._pace)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """What would be streamed, and as slow, in one piece."""
        given = (messages, model_settings, model_request_parameters)
        async with self.request_stream(*given) as stream:
            async for _ in stream:
                pass
            return stream.get()

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,  # noqa: ARG002 - as the framework has it
    ) -> AsyncGenerator[StreamedResponse]:
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        tools = {tool.name: tool for tool in parameters.declared_function_tools}
        parts = [part for message in messages for part in message.parts]
        pieces = answer(Scene(turns_of(parts), tools))
        for number, piece in enumerate(pieces, len(parts)):
            if isinstance(piece, ToolCallPart):
                piece.tool_call_id = f"{_NAME}_{number}"
        chunks = _chunks(pieces, self.breathe)
        try:
            read = sum(len(_text(part).split()) for part in parts)
            yield _Stream(parameters, _model_name=_NAME, _iter=chunks, read=read)
        finally:
            await chunks.aclose()


@dataclass
class _Stream(FunctionStreamedResponse):
    read: int = 0  # words

    def __post_init__(self) -> None:
        self._usage = RequestUsage(input_tokens=self.read)


def turns_of(parts: Sequence[Part]) -> list[RehearsedTurn]:
    """The conversation, by what the person said; what is in [brackets] is lastword's own word."""
    turns = [RehearsedTurn("")]
    spoken = [part for part in parts if isinstance(part, UserPromptPart)]
    for part in parts:
        text = _text(part)
        match part:
            case UserPromptPart() if part is not spoken[-1] and text[:1] + text[-1:] == "[]":
                turns[-1].notes.append(text[1:-1])
            case UserPromptPart():
                turns.append(RehearsedTurn(text.strip()))
            case TextPart():
                turns[-1].said += text
            case ToolReturnPart():
                turns[-1].returned.append(part)
            case _:
                pass
    return turns


def _text(part: Part) -> str:
    match part:
        case ToolReturnPart():
            return part.model_response_str(wrap_if_error=False)
        case ToolCallPart(args=str(arguments)):
            return arguments
        case UserPromptPart(content=content) if not isinstance(content, str):
            return next((one for one in content if isinstance(one, str)), "")
        case _:
            content: object = getattr(part, "content", "")
            return content if isinstance(content, str) else ""


async def _chunks(pieces: Sequence[Piece], breathe: Breathe) -> AsyncGenerator[Chunk]:
    for number, piece in enumerate(pieces):
        match piece:
            case TextPart(content=text) | ThinkingPart(content=text):
                thinking = isinstance(piece, ThinkingPart)
                for word in re.findall(r"\s*\S+\s*", text):
                    yield {number: DeltaThinkingPart(content=word)} if thinking else word
                    await breathe()
            case ToolCallPart(tool_name=name, tool_call_id=id_):
                yield {number: DeltaToolCall(name, _text(piece), tool_call_id=id_)}
                await breathe()
            case _:
                async for word in _misbehaving(piece, breathe):
                    yield word


async def _misbehaving(how: Misbehaviour, breathe: Breathe) -> AsyncGenerator[str]:
    """Block the thread; or speak on and on, and swallow every cancel, maybe without a breath."""
    if how == "block":
        yield "Now I block the thread, and everybody with it, for a second. "
        time.sleep(1)  # noqa: ASYNC251 - that is what it is for
        yield "That was it."
        return
    left, cancelled = _UNSTOPPED, False
    while left:
        left -= 1
        yield "And on. "
        try:
            if how == "swallow" or not cancelled:
                await breathe()
        except asyncio.CancelledError:
            if not cancelled:
                left, cancelled = _FLOOD if how == "flood" else _DEAF, True
