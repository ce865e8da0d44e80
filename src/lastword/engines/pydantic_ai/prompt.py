"""The agent's own system prompt, before what the log tells, which has none.

The framework puts one only before a conversation that begins, and its `ReinjectSystemPrompt` looks
through all of a history for one that might be in it. What was built from the log has none; so it is
enough to look at its beginning.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic_ai.messages import ModelMessage, ModelRequest, SystemPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from lastword.engines.pydantic_ai.quiet import Quiet


@dataclass
class Prompted(Quiet):
    """For one run."""

    id: str | None = field(default="lastword-prompt", kw_only=True)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        messages = list(request_context.messages)
        if ctx.agent is None or _has_one(messages):
            return request_context
        parts = await ctx.agent.system_prompt_parts(
            deps=ctx.deps,
            model=request_context.model,
            message_history=messages,
            prompt=ctx.prompt,
            usage=ctx.usage,
            model_settings=cast("ModelSettings | None", ctx.model_settings),
        )
        if parts:
            request_context.messages = _with(parts, messages)
            ctx.messages[:] = _with(parts, ctx.messages)  # for the next request of the run
        return request_context


def _has_one(messages: list[ModelMessage]) -> bool:
    first = messages[0]
    return isinstance(first, ModelRequest) and any(
        isinstance(part, SystemPromptPart) for part in first.parts
    )


def _with(parts: list[SystemPromptPart], messages: list[ModelMessage]) -> list[ModelMessage]:
    first, *rest = messages
    if not isinstance(first, ModelRequest) or _has_one(messages):
        return messages
    return [replace(first, parts=[*parts, *first.parts]), *rest]
