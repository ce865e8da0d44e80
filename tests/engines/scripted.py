"""A model without a wire: what it answers is a function of the request."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

Says = str | list[tuple[str, dict[str, object]]]  # a text, or calls of tools with their arguments


def scripted(answer: Callable[[list[ModelMessage]], Says]) -> FunctionModel:
    """A model that answers so."""

    async def stream(
        messages: list[ModelMessage], _: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        says = answer(messages)
        if isinstance(says, str):
            yield says
            return
        for number, (name, arguments) in enumerate(says):
            given, id_ = json.dumps(arguments), f"c{len(messages)}.{number}"
            yield {number: DeltaToolCall(name=name, json_args=given, tool_call_id=id_)}

    def whole(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        says = answer(messages)
        if isinstance(says, str):
            return ModelResponse([TextPart(says)])
        return ModelResponse([ToolCallPart(name, arguments) for name, arguments in says])

    return FunctionModel(whole, stream_function=stream)


def calls_once(*names: str) -> FunctionModel:
    """A model that calls these tools, and is done when it has their results."""

    def answer(messages: list[ModelMessage]) -> Says:
        last = messages[-1]
        told = isinstance(last, ModelRequest) and any(
            isinstance(part, ToolReturnPart) for part in last.parts
        )
        return "Done." if told else [(name, {}) for name in names]

    return scripted(answer)
