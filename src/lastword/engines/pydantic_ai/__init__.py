"""A pydantic-ai `Agent` as an engine, unchanged: `Runtime(PydanticAI(agent))`.

What the agent says is said through the run, its tools are called through the gate and are in the
ledger, its threads are fenced, what steers the run goes through the framework's own queue, and the
history is built from the session's log. A stop closes the provider's connection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.capabilities import ReinjectSystemPrompt, UseThreadExecutor
from pydantic_ai.exceptions import ModelAPIError, UsageLimitExceeded
from pydantic_ai.messages import (
    AgentStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRun
from pydantic_ai.usage import UsageLimits
from pydantic_core import to_json

from lastword.core.transcript import Shown
from lastword.engines.pydantic_ai.compaction import Compaction
from lastword.engines.pydantic_ai.fenced import Approve, Fenced, holding
from lastword.engines.pydantic_ai.history import content_of, messages_of, native_of
from lastword.engines.pydantic_ai.trouble import ModelFailed, in_words
from lastword.runtime.run import Run

__all__ = ["Approve", "Compaction", "Fenced", "ModelFailed", "PydanticAI"]


class PydanticAI:
    """An engine. `deps` is what tools are given, or makes it for each run."""

    def __init__(
        self,
        agent: AbstractAgent[Any, Any],
        *,
        deps: Any | Callable[[Run], Any] = None,  # noqa: ANN401 - whatever the agent's tools take
        model: Model | str | None = None,
        approve: Approve | None = None,
        compaction: Compaction | None = None,
        most_requests: int | None = None,  # to the model, in one run; None: as many as it takes
    ) -> None:
        self._agent = agent
        self._deps = deps
        self._model = model
        self._approve = approve
        self._compaction = compaction
        self._limits = UsageLimits(request_limit=most_requests)

    async def __call__(self, run: Run) -> None:
        holding.set(run)  # for the agents that tools run
        capabilities = [
            Fenced(run, self._approve),
            UseThreadExecutor(run.executor),
            ReinjectSystemPrompt(),
        ]
        try:
            async with self._agent.iter(
                message_history=messages_of(await self._history(run)),
                deps=self._deps(run) if callable(self._deps) else self._deps,
                model=self._model,
                usage_limits=self._limits,
                capabilities=capabilities,
            ) as agent_run:
                await _drive(run, agent_run)
        except (ModelAPIError, UsageLimitExceeded) as error:
            raise in_words(error) from error

    async def _history(self, run: Run) -> tuple[Shown, ...]:
        model = self._model or getattr(self._agent, "model", None)
        if self._compaction is None or model is None:
            return run.history
        return await self._compaction(run, model)


async def _drive(run: Run, agent_run: AgentRun[Any, Any]) -> None:
    node = agent_run.next_node
    while not Agent.is_end_node(node):
        if Agent.is_model_request_node(node):
            for message in await run.steering():
                content = content_of(message.text, message)
                agent_run.enqueue(*([content] if isinstance(content, str) else content))
            async with node.stream(agent_run.ctx) as events:
                async for event in events:
                    await _say(run, event)
        node = await agent_run.next(node)
    output = agent_run.result.output if agent_run.result else None
    if not isinstance(output, str | None):
        await run.emit(to_json(output, fallback=repr).decode())


async def _say(run: Run, event: AgentStreamEvent) -> None:
    """Pass on what a model says, as it says it."""
    match event:
        case (
            PartStartEvent(part=TextPart(content=text))
            | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
        ) if text:
            await run.emit(text)
        case (
            PartStartEvent(part=ThinkingPart(content=text))
            | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text))
        ) if text:
            await run.think(text)
        case PartEndEvent(part=TextPart() | ThinkingPart() as part) if native := native_of(part):
            run.seal(native, of="text" if isinstance(part, TextPart) else "thinking")
        case _:
            pass
