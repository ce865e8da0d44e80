"""A ToolCallingAgent of smolagents as an engine, in a thread of the run's."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps

from smolagents import ActionStep, CodeAgent, MultiStepAgent, Tool
from smolagents.agents import ToolCall
from smolagents.memory import FinalAnswerStep, MemoryStep
from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole
from smolagents.tools import PipelineTool
from smolagents.utils import AgentGenerationError

from lastword import Superseded
from lastword.engines import openai_messages
from lastword.engines.kit import (
    Calls,
    ModelFailed,
    NotMade,
    held_in_thread,
    hold_threads,
    wait_for,
)

_ANSWER = "final_answer"  # a tool by which the model ends the turn


def _hold(kind):
    unheld = kind.__call__

    @wraps(unheld)
    def call(self, *args, **kwargs):
        body = partial(unheld, self, *args, **kwargs)
        if self.name == _ANSWER:
            return body()
        said = {name: value for name, value in kwargs.items() if name != "sanitize_inputs_outputs"}
        try:
            said = {"arguments": args} if args else said
            return held_in_thread(self.name, said, body, render=str)
        except NotMade as why:
            return f"Not allowed, and not made: {why}"

    kind.__call__ = call


for kind in (Tool, PipelineTool, MultiStepAgent):  # an agent may be another's tool
    _hold(kind)


@dataclass
class _Told(MemoryStep):
    """What was said before or meanwhile. The framework tells calls and results as text."""

    messages: list

    def to_messages(self, summary_mode=False):
        return [_message(said) for said in self.messages]


def _message(said):
    roles = {"user": MessageRole.USER, "assistant": MessageRole.ASSISTANT}
    text = said["content"] or ""
    if said["role"] == "tool":
        text = f"Observation of {said['tool_call_id']}:\n{text}"
    if calls := said.get("tool_calls"):
        text += f"\nCalling {calls}"
    role = roles.get(said["role"], MessageRole.TOOL_RESPONSE)
    return ChatMessage(role, [{"type": "text", "text": text}])


class _Turn:
    """One run's, in a thread: the framework is not async."""

    def __init__(self, run, agent):
        self._run, self._agent, self._calls = run, agent, Calls(run)

    def agent_thread(self, task):
        steps = self._agent.run(task, stream=True, reset=False)
        try:
            for step in steps:
                self._run.must_hold("the next step")
                self._hear(step)
        except AgentGenerationError as error:
            raise ModelFailed(str(error.__cause__)) from error
        except Superseded as lost:
            with suppress(Superseded):
                steps.throw(lost)  # it closes the provider's stream
            raise

    def _hear(self, step):
        match step:
            case ChatMessageStreamDelta(content=str(text)) if text:
                wait_for(self._run.emit(text))
            case ToolCall(name, arguments, id) if name != _ANSWER:  # before the first is made
                self._run.loop.call_soon_threadsafe(self._calls.ask, id, name, arguments)
            case ActionStep():
                told = [{"role": "user", "content": m.text} for m in wait_for(self._run.steering())]
                self._agent.memory.steps += [_Told(told)] if told else []
            case FinalAnswerStep():
                wait_for(self._run.emit(str(step.output)))


class Smolagents:
    """`make` gives an agent for each run: it has memory of its own."""

    def __init__(self, make):
        _must_call_tools(make())
        self._make = make

    async def __call__(self, run):
        hold_threads()
        agent = self._make()
        *earlier, now = openai_messages(run.history, files=False)
        agent.memory.steps = [_Told(earlier)]
        await asyncio.to_thread(_Turn(run, agent).agent_thread, now["content"])


def _must_call_tools(agent):
    """What a model writes as Python runs where no stop can reach it."""
    for one in (agent, *agent.managed_agents.values()):
        if isinstance(one, CodeAgent):
            raise TypeError(f"{one.name or 'the agent'} runs what its model writes as code")
        if one is not agent:
            _must_call_tools(one)
