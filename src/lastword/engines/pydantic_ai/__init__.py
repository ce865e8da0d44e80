"""A pydantic-ai `Agent` as an engine, unchanged: `Runtime(PydanticAI(agent))`.

What the agent says is said through the run, its tools are called through the gate and are in the
ledger, its threads are fenced, what steers the run goes through the framework's own queue, and the
history is built from the session's log. A stop closes the provider's connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.exceptions import AgentRunError
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
from pydantic_ai.models import Model, infer_model
from pydantic_ai.output import OutputContext
from pydantic_ai.run import AgentRun
from pydantic_ai.tools import DeferredToolRequests
from pydantic_ai.usage import UsageLimits

from lastword.core.model import Message
from lastword.core.shown import Shown
from lastword.engines.kit.approving import Approve
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.declined import ShownHistory
from lastword.engines.kit.moved import FrameworkMoved
from lastword.engines.kit.trouble import UNSENDABLE, ModelFailed, no_answer
from lastword.engines.pydantic_ai.calls import ModelCalls
from lastword.engines.pydantic_ai.compaction import asking
from lastword.engines.pydantic_ai.converted import GivenHistory
from lastword.engines.pydantic_ai.declined import Unsendable, declined, was_sent
from lastword.engines.pydantic_ai.fenced import Fenced, Sending, hold_nested_agents
from lastword.engines.pydantic_ai.fitting import Fitting
from lastword.engines.pydantic_ai.history import content_of, native_of
from lastword.engines.pydantic_ai.names import look
from lastword.engines.pydantic_ai.prompt import Prompted
from lastword.engines.pydantic_ai.quiet import RunThreads
from lastword.engines.pydantic_ai.rendering import rendered
from lastword.engines.pydantic_ai.trouble import GARBLED, in_words
from lastword.runtime.run import Run

hold_nested_agents()  # from here on, in whatever engine's run

__all__ = ["Approve", "Compaction", "Fenced", "FrameworkMoved", "ModelFailed", "PydanticAI"]


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
        look()
        self._agent = agent
        self._deps = deps
        self._model = model
        self._approve = approve
        self._compaction = compaction
        self._limits = UsageLimits(request_limit=most_requests)
        self._inferred: Model | None = None
        self._fitting = Fitting(compaction.room) if compaction else None

    async def __call__(self, run: Run) -> None:
        showing = ShownHistory(run, await self._history(run))
        heard = _Heard(run, showing)
        refused: Exception | None = None
        while True:
            try:
                return await self._ask(run, showing.history, heard)
            except (AgentRunError, NotImplementedError, RuntimeError, Unsendable) as error:
                refused = refused or error  # what is told is what was wrong with all of it
                less = showing.less(declined(error))
                if not less and isinstance(refused, AgentRunError):
                    raise in_words(refused, said=heard.said) from refused
                if not less:
                    raise refused from error.__cause__
            if heard.begun:  # what was said of an answer that was refused is not a part of the next
                await run.emit("\n\n")

    async def compact(self, run: Run) -> str:
        """Have all before this run be shown as a summary from here on; the summary, or nothing if
        there is none to be had. Raises what the model's client raises."""
        model = self._known_model()
        if self._compaction is None or model is None:
            return ""
        return await self._compaction.at_once(run, asking(run, model))

    async def _ask(self, run: Run, history: Sequence[Shown], heard: _Heard) -> None:
        calls, told = ModelCalls(run), GivenHistory(history, self._known_model())
        capabilities = [
            Fenced(calls),
            Sending(calls, self._approve, self._fitting, told),
            RunThreads(run.executor),
            Prompted(),
        ]
        async with self._agent.iter(
            message_history=told.messages,
            deps=self._deps(run) if callable(self._deps) else self._deps,
            model=self._model,
            usage_limits=self._limits,
            capabilities=capabilities,
        ) as agent_run:
            await _drive(run, agent_run, heard, self._known_model())
            await _answer(run, agent_run, calls.answered, said=heard.said)

    async def _history(self, run: Run) -> Sequence[Shown]:
        model = self._known_model()
        if self._compaction and self._fitting and model:
            ask, beside = asking(run, model), self._fitting.beside
            return await self._compaction.shortened(run, ask, beside=beside)
        return run.history

    def _known_model(self) -> Model | None:
        named = self._model or self._agent.model
        if isinstance(named, str):
            named = self._inferred = self._inferred or infer_model(named)  # once: it has a client
        return named


async def _drive(
    run: Run, agent_run: AgentRun[Any, Any], heard: _Heard, model: Model | None
) -> None:
    node = agent_run.next_node
    joining = [*heard.steered]  # if it was asked before, and not taken
    notes = [*heard.noted]
    while not Agent.is_end_node(node):
        if Agent.is_model_request_node(node):
            new = await run.steering()
            heard.steered += new
            told = run.notes()
            heard.noted += told
            for note in [*notes, *told]:
                agent_run.enqueue(f"[{note}]")
            for message in [*joining, *new]:
                content = content_of(message.text, message, model)
                agent_run.enqueue(*([content] if isinstance(content, str) else content))
            joining, notes = [], []
            async with node.stream(agent_run.ctx) as events:
                await heard.all_of(aiter(events))
        node = await agent_run.next(node)
        if Agent.is_call_tools_node(node) and node.model_response.finish_reason == "length":
            await run.progress("The answer was cut off at the model's limit of tokens.")


async def _answer(
    run: Run, agent_run: AgentRun[Any, Any], made_of: OutputContext | None, *, said: bool
) -> None:
    """Say what the answer is, unless it is the text that the model said."""
    output = agent_run.result.output if agent_run.result else None
    was_said = made_of is None or (made_of.tool_call is None and not made_of.has_function)
    if output is None or was_said or isinstance(output, DeferredToolRequests):
        return
    if text := rendered(output):
        await run.emit(f"\n\n{text}" if said else text)


class _Heard:
    """What a model says, passed on as it says it."""

    def __init__(self, run: Run, showing: ShownHistory) -> None:
        self.said = False  # whether the person was told something of the answer under way
        self.begun = False  # whether anything of it came
        self.steered: list[Message] = []  # what has joined it
        self.noted: list[str] = []  # what the session told its model meanwhile
        self._run = run
        self._showing = showing

    async def all_of(self, events: AsyncIterator[AgentStreamEvent]) -> None:
        self.said = self.begun = False
        while True:
            try:
                event = await anext(events, None)
            except GARBLED as error:
                if not was_sent(error):
                    why = f"{UNSENDABLE} ({type(error).__name__})"
                    raise Unsendable(why, UNSENDABLE) from error
                raise no_answer(type(error).__name__, begun=self.said) from error
            if event is None:
                break
            self.begun = True
            self.said = await _say(self._run, event) or self.said
        await self._run.said()
        await self._showing.taken()


async def _say(run: Run, event: AgentStreamEvent) -> bool:
    """Pass on what a model says; whether it was a part of the answer."""
    match event:
        case (
            PartStartEvent(part=TextPart(content=text))
            | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
        ) if text:
            await run.emit(text, soon=True)
            return True
        case (
            PartStartEvent(part=ThinkingPart(content=text))
            | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text))
        ) if text:
            await run.think(text, soon=True)
        case PartEndEvent(part=TextPart() | ThinkingPart() as part):
            await run.said()  # before what is sealed, or called, after it
            if native := native_of(part):
                run.seal(native, of="text" if isinstance(part, TextPart) else "thinking")
        case _:
            pass
    return False
