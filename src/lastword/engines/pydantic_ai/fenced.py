"""The capability that holds an agent to its run: every request and every tool passes the gate.

The framework checks before a tool begins and then takes a few steps more. So the call is made by
the run's ledger, whose last check is in the same step as the tool's first line; threads are checked
as they start; and what a model asked for in one go is written down at once.

An agent that a tool runs, maybe in a thread with an event loop of its own, is held to the same run:
it asks its model nothing and calls no tool once the run has lost its session. What its model asks
for is not in the ledger. The session's own model did not ask for it, and is shown the one call that
it made.
"""

# ruff: noqa: ARG002 - the methods are the framework's, with its parameters

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import Any, Protocol

from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability, AgentCapability, WrapToolExecuteHandler
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturn
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import (
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
)
from pydantic_core import ValidationError, to_json

from lastword.core.transcript import Nature
from lastword.engines.pydantic_ai.fitting import Fitting, safe_parameters, safely, sendable
from lastword.engines.pydantic_ai.history import native_of, with_own_ids
from lastword.engines.pydantic_ai.trouble import BROKE_OFF, NO_ANSWER, ModelFailed, broke_off
from lastword.runtime.checks import encodable
from lastword.runtime.ledger import Call
from lastword.runtime.run import Run


@dataclass(frozen=True, slots=True)
class Held:
    """Whose tools these are, and where that run lives."""

    run: Run
    loop: asyncio.AbstractEventLoop


holding: ContextVar[Held | None] = ContextVar("lastword_holding", default=None)


@cache
def hold_nested_agents() -> None:
    """From now on, whatever agent is run inside a run of lastword's is held to it.

    It is done where every way to run an agent comes by, `Agent.iter`, with the parameter that it
    has for that. An agent that is run anywhere else is left alone.
    """
    unheld: Callable[..., AbstractAsyncContextManager[Any]] = Agent.iter

    @wraps(unheld)
    def held(
        agent: Agent[Any, Any],
        *args: Any,  # noqa: ANN401 - the framework's own
        capabilities: Sequence[AgentCapability[Any]] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> AbstractAsyncContextManager[Any]:
        given = list(capabilities or ())
        if holding.get() and not any(isinstance(one, Fenced) for one in given):
            given.append(Fenced())
        return unheld(agent, *args, capabilities=given or None, **kwargs)

    Agent.iter = held  # pyright: ignore[reportAttributeAccessIssue] - it takes what it took


class Approve(Protocol):
    """Asks the person whether a tool that wants approval may be called."""

    async def __call__(self, run: Run, tool: str, arguments: str) -> bool: ...


class _Asked:
    """One call that the model asked for, from then until the framework makes it."""

    def __init__(self, run: Run, part: ToolCallPart, nature: Nature) -> None:
        self._body: Callable[[], Awaitable[Any]] | None = None
        self._begun = False
        arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
        native = native_of(part)
        self.call: Call[Any] = run.asked(
            part.tool_name, arguments, self._make, nature=nature, native=native
        )
        self.call.render = _rendered

    async def _make(self) -> object:
        self._begun = True
        return await self._body() if self._body else None

    async def make(self, body: Callable[[], Awaitable[Any]]) -> object:
        self._body = body
        try:
            return await self.call()
        except PermissionError as error:
            if self._begun:
                raise  # the tool's own
            raise ToolFailed(str(error)) from error


@dataclass
class Fenced(AbstractCapability[Any]):
    """For one run of lastword's. Without one, it is for an agent inside a run, and finds it."""

    run: Run | None = None
    approve: Approve | None = None
    fitting: Fitting | None = None
    id: str | None = field(default="lastword", kw_only=True)  # an agent has one, whoever gave it
    _held: Held | None = field(default=None, init=False, repr=False)
    _asked: dict[str, _Asked] = field(default_factory=dict[str, _Asked], init=False, repr=False)

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        own = Fenced(self.run, self.approve, self.fitting)
        own._held = None if self.run else holding.get()
        return own

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        if run := self.run or (self._held and self._held.run):
            run.must_hold("this request to the model")
        parameters = safe_parameters(request_context.model_request_parameters)
        messages = sendable(request_context.messages)
        if self.fitting:
            messages = self.fitting.fitted(messages, parameters)
        return replace(request_context, messages=messages, model_request_parameters=parameters)

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        used = (
            response.model_name or "",
            response.usage.input_tokens,
            response.usage.output_tokens,
        )
        if self._held:
            self._held.loop.call_soon_threadsafe(self._held.run.used, *used)
        if self.run is None:
            return response
        if request_context.streaming and broke_off(response):
            raise ModelFailed(BROKE_OFF if response.parts else NO_ANSWER)
        response = with_own_ids(response)
        offered = request_context.model_request_parameters
        outputs = {tool.name for tool in offered.output_tools}
        tools = {tool.name: tool for tool in offered.function_tools}
        for part in response.parts:
            if isinstance(part, ToolCallPart) and part.tool_name not in outputs:
                nature = _nature(tools.get(part.tool_name))
                self._asked[part.tool_call_id] = _Asked(self.run, part, nature)
        self.run.used(*used)
        return response

    async def on_tool_validate_error(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        error: ValidationError | ModelRetry,
    ) -> dict[str, Any]:
        if asked := self._asked.pop(call.tool_call_id, None):
            asked.call.skip(f"its arguments are wrong: {_why(error)}")
        raise error

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:  # noqa: ANN401 - whatever the tool gives
        if self.run is None:
            if self._held:
                self._held.run.must_hold(f"this call of {call.tool_name}")
            return await handler(args)
        asked = self._asked.pop(call.tool_call_id, None)
        asked = asked or _Asked(self.run, call, _nature(tool_def))
        return await asked.make(lambda: handler(args))

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        if self.run is None or self.approve is None or not requests.approvals:
            return None
        answers: dict[str, bool | ToolApproved | ToolDenied] = {}
        for call in requests.approvals:
            allowed = await self.approve(self.run, call.tool_name, call.args_as_json_str())
            self.run.must_hold(f"this call of {call.tool_name}")
            answers[call.tool_call_id] = ToolApproved() if allowed else ToolDenied()
            if not allowed and (asked := self._asked.pop(call.tool_call_id, None)):
                asked.call.skip("the person did not allow it")
        return DeferredToolResults(approvals=answers)


def _nature(tool: ToolDefinition | None) -> Nature:
    """What its metadata says of calling it twice: `{"nature": "read_only"}`, or "idempotent"."""
    match ((tool and tool.metadata) or {}).get("nature"):
        case "read_only" | "idempotent" as nature:
            return nature
        case _:
            return ""


def _why(error: ValidationError | ModelRetry) -> str:
    if isinstance(error, ModelRetry):
        return error.message
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())


def _rendered(result: object) -> str:
    """A result as the model is shown it."""
    value: object = result.return_value if isinstance(result, ToolReturn) else result
    if isinstance(value, str):
        return encodable(value)
    try:
        return to_json(value, fallback=repr).decode()
    except ValueError:  # a text in it has half of a character, or its own `repr` fails
        return encodable(repr(safely(value)))
