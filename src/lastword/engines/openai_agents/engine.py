"""An openai-agents `Agent` as an engine, unchanged: `Runtime(OpenAIAgents(agent))`.

Each run begins with the history as the session's log has it; nothing of the framework's outlives a
run. What the agent says is said through the run, its calls are the ledger's, and whatever else it
starts in here (agents as tools, guardrails that ask a model) is held to the same run.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from agents import (
    Agent,
    ItemHelpers,
    MessageOutputItem,
    ModelProvider,
    ModelSettings,
    ModelTracing,
    MultiProvider,
    RunConfig,
    RunHooks,
    Runner,
    RunResultStreaming,
    RunState,
)
from agents.models.interface import Model

from lastword.core.shown import Shown
from lastword.engines.kit.approving import Approve
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.declined import ShownHistory
from lastword.engines.kit.loop import Declining
from lastword.engines.kit.trouble import ModelFailed
from lastword.engines.openai_agents.approvals import answered
from lastword.engines.openai_agents.driving import Driven, driving
from lastword.engines.openai_agents.handoffs import who_answers
from lastword.engines.openai_agents.held import hold_agents
from lastword.engines.openai_agents.history import as_input
from lastword.engines.openai_agents.items import told_of
from lastword.engines.openai_agents.models import name_of, provider_of
from lastword.engines.openai_agents.steering import Steering
from lastword.engines.openai_agents.trouble import in_words
from lastword.runtime.run import Run

hold_agents()  # from here on, in whatever engine's run

_NOTHING = "the model answered nothing"


class OpenAIAgents:
    """An engine. `context` is what tools are given, or makes it for each run.

    `run_config` and `hooks` are the framework's own, and go with every run; its tracing stays off
    unless `tracing` asks for it.
    """

    def __init__(
        self,
        agent: Agent[Any],
        *,
        context: Any | Callable[[Run], Any] = None,  # noqa: ANN401 - whatever the agent's tools take
        approve: Approve | None = None,
        compaction: Compaction | None = None,
        run_config: RunConfig | None = None,
        hooks: RunHooks[Any] | None = None,
        most_turns: int | None = None,  # of one run; None: as many as it takes
        tracing: bool = False,
    ) -> None:
        hold_agents()
        self._agent = agent
        self._context = context
        self._approve = approve
        self._compaction = compaction
        usual = RunConfig(tool_not_found_behavior="return_error_to_model")
        self._config = dataclasses.replace(run_config or usual, tracing_disabled=not tracing)
        self._providers: WeakKeyDictionary[asyncio.AbstractEventLoop, ModelProvider] | None = (
            None if run_config else WeakKeyDictionary()
        )
        self._hooks = hooks
        self._most_turns = most_turns

    async def __call__(self, run: Run) -> None:
        config = self._with_provider()
        agent = who_answers(self._agent, run.history)
        model = model_of(agent, config)
        showing = ShownHistory(run, await self._history(run, agent, model))
        driven = Driven(run, showing.taken)
        steering = Steering(driven, config.call_model_input_filter)
        config = dataclasses.replace(config, call_model_input_filter=steering)
        refused: Exception | None = None
        while True:
            given = as_input(showing.history, model)
            try:
                return await self._answer(driven, agent, given, config)
            except Exception as error:
                told = in_words(error, driven, name_of(model))
                status = told.status if isinstance(told, Declining) else 0
                failed = told.failed if isinstance(told, Declining) else told
                refused = refused or failed or error  # what was wrong with all of it
                if showing.less(status):
                    continue
                if refused is error:
                    raise
                raise refused from error

    async def _answer(
        self,
        driven: Driven,
        agent: Agent[Any],
        given: Any,  # noqa: ANN401 - the framework's
        config: RunConfig,
    ) -> None:
        """Have it answer; ask for what wants approval, and go on."""
        run = driven.run
        context = self._context(run) if callable(self._context) else self._context
        while True:
            driven.starting()
            with driving(driven):
                result: RunResultStreaming = Runner.run_streamed(
                    agent,
                    given,
                    context=None if isinstance(given, RunState) else context,
                    max_turns=self._most_turns,
                    hooks=self._hooks,
                    run_config=config,
                )
            await _ended(result)
            if not result.interruptions:
                return await _say_output(driven, result)
            given = await answered(run, result, self._approve)

    async def _history(self, run: Run, agent: Agent[Any], model: Model) -> Sequence[Shown]:
        if self._compaction is None:
            return run.history

        async def ask(text: str) -> str:
            with run.model_request(name_of(model), provider=provider_of(model)) as request:
                answer = await model.get_response(
                    None,
                    text,
                    ModelSettings(),
                    [],
                    None,
                    [],
                    ModelTracing.DISABLED,
                    previous_response_id=None,
                    conversation_id=None,
                    prompt=None,
                )
                request.used(answer.usage.input_tokens, answer.usage.output_tokens)
            return "".join(filter(None, map(ItemHelpers.extract_text, answer.output)))

        beside = len(agent.instructions) if isinstance(agent.instructions, str) else 0
        beside += sum(len(str(getattr(tool, "params_json_schema", ""))) for tool in agent.tools)
        return await self._compaction.shortened(run, ask, beside=beside)

    def _with_provider(self) -> RunConfig:
        """Of models that are named: a client is of one event loop."""
        if self._providers is None:
            return self._config
        loop = asyncio.get_running_loop()
        provider = self._providers.setdefault(loop, MultiProvider())
        return dataclasses.replace(self._config, model_provider=provider)


def model_of(agent: Agent[Any], config: RunConfig) -> Model:
    """Which model an agent asks, as the framework has it."""
    for given in (config.model, agent.model):
        if isinstance(given, Model):
            return given
        if isinstance(given, str):
            return config.model_provider.get_model(given)
    return config.model_provider.get_model(None)


async def _ended(result: RunResultStreaming) -> None:
    """Return when it has come to its end. Who leaves it takes it along: it has tasks of its own."""
    try:
        async for _ in result.stream_events():
            pass
    finally:
        result.cancel()
        if (task := result.run_loop_task) is not None and not task.done():
            await asyncio.wait([task])
        if task is not None and not task.cancelled():
            task.exception()  # it was told; nobody has to be told of it again


async def _say_output(driven: Driven, result: RunResultStreaming) -> None:
    """Say what the answer is, unless it is the text that the model said."""
    driven.settle([item.raw_item for item in result.new_items])
    said = driven.heard is not None and driven.heard.said
    last = result.new_items[-1] if result.new_items else None
    if last is None and not said:
        raise ModelFailed(_NOTHING, _NOTHING)
    if result.final_output is None or (said and isinstance(last, MessageOutputItem)):
        return
    if text := told_of(result.final_output):
        await driven.run.emit(f"\n\n{text}" if said else text)
