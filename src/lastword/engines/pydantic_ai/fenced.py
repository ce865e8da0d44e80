"""The capabilities that hold an agent to its run: every request and every tool passes the gate.

`Fenced` is around all hooks: the call is made by the run's ledger, and begins where its tool's own
code does. `Sending` is inside of all of them: nothing comes between it and the request.

An agent that a tool runs, maybe in a thread with an event loop of its own, is held to the same run:
it asks its model nothing and calls no tool once the run has lost its session, and a stop waits for
the tools that it has called, and names them. They are not in the ledger: the session's own model
did not ask for them, and is shown the one call that it made.
"""

# ruff: noqa: ARG002 - the methods are the framework's, with its parameters

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.capabilities import (
    AgentCapability,
    CapabilityOrdering,
    WrapOutputProcessHandler,
    WrapToolExecuteHandler,
)
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.output import OutputContext
from pydantic_ai.tools import (
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
)
from pydantic_core import ValidationError, to_jsonable_python

from lastword.engines.kit.approving import Approve, denied
from lastword.engines.kit.reaching import making
from lastword.engines.kit.trouble import BROKE_OFF, NO_ANSWER, ModelFailed
from lastword.engines.pydantic_ai.calls import ModelCalls
from lastword.engines.pydantic_ai.converted import GivenHistory
from lastword.engines.pydantic_ai.elsewhere import hold_handlers
from lastword.engines.pydantic_ai.fitting import Fitting
from lastword.engines.pydantic_ai.history import with_own_ids
from lastword.engines.pydantic_ai.innermost import hold_functions, hold_toolsets
from lastword.engines.pydantic_ai.names import look
from lastword.engines.pydantic_ai.quiet import Quiet
from lastword.engines.pydantic_ai.requests import hold_models
from lastword.engines.pydantic_ai.sendable import safe_parameters
from lastword.engines.pydantic_ai.trouble import broke_off
from lastword.runtime.framework import run_inside

_ELSEWHERE = "it is carried out elsewhere, and nothing is connected here that does; it was not"


@cache
def hold_nested_agents() -> None:
    """From now on, whatever agent is run inside a run of lastword's is held to it.

    It is done where every way to run an agent comes by, `Agent.iter`, with the parameter that it
    has for that. An agent that is run anywhere else is left alone.
    """
    look()
    hold_functions()
    hold_toolsets()
    hold_models()
    hold_handlers()
    unheld: Callable[..., AbstractAsyncContextManager[Any]] = Agent.iter

    @wraps(unheld)
    def held(
        agent: Agent[Any, Any],
        *args: Any,  # noqa: ANN401 - the framework's own
        capabilities: Sequence[AgentCapability[Any]] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> AbstractAsyncContextManager[Any]:
        given = list(capabilities or ())
        if run_inside():
            for kind in (Fenced, Sending):
                if not any(isinstance(one, kind) for one in given):
                    given.append(kind())
        return unheld(agent, *args, capabilities=given or None, **kwargs)

    Agent.iter = held  # pyright: ignore[reportAttributeAccessIssue] - it takes what it took


@dataclass
class Fenced(Quiet):
    """Tools. For one run of lastword's; without its calls, for an agent inside a run."""

    calls: ModelCalls | None = None
    id: str | None = field(default="lastword", kw_only=True)  # an agent has one, whoever gave it

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="outermost")

    async def on_tool_validate_error(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        error: ValidationError | ModelRetry,
    ) -> dict[str, Any]:
        if self.calls:
            self.calls.skip(call.tool_call_id, f"its arguments are wrong: {_why(error)}")
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
        hold_toolsets()
        if self.calls:
            return await self.calls.make(call, tool_def, lambda: handler(args))
        if (run := run_inside()) is None:
            return await handler(args)
        run.must_hold(f"this call of {call.tool_name}")
        with making(run.acting(call.tool_name)):
            return await handler(args)

    async def wrap_output_process(
        self,
        ctx: RunContext[Any],
        *,
        output_context: OutputContext,
        output: Any,  # noqa: ANN401 - whatever the model gave
        handler: WrapOutputProcessHandler,
    ) -> Any:  # noqa: ANN401 - and what came of it
        if self.calls is None or ctx.partial_output:
            return await handler(output)
        self.calls.answered = output_context
        if not output_context.has_function:
            return await handler(output)
        part = output_context.tool_call or _as_call(output_context, output)
        return await self.calls.make(part, None, lambda: handler(output))


def _as_call(context: OutputContext, output: object) -> ToolCallPart:
    """What a model gave as text to a function of the team's, as if it had called it."""
    name = context.function_name or "output"
    return ToolCallPart(name, {"output": to_jsonable_python(output, fallback=repr)})


@dataclass
class Sending(Quiet):
    """Requests to the model, and what it asks for."""

    calls: ModelCalls | None = None
    approve: Approve | None = None
    fitting: Fitting | None = None
    told: GivenHistory = field(
        default_factory=GivenHistory
    )  # what the agent was given to go on from
    id: str | None = field(default="lastword-sending", kw_only=True)

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        hold_models()
        if run := run_inside():
            run.must_hold("this request to the model")
        if self.calls:
            self.calls.settle(self.told.new_in(request_context.messages))
        parameters = safe_parameters(request_context.model_request_parameters)
        messages = self.told.sendable(request_context.messages, request_context.model)
        if self.fitting:
            messages = self.fitting.fitted(messages, parameters, self.told.before)
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
        if self.calls is None:
            if run := run_inside():
                run.costs_soon(*used)
            return response
        if request_context.streaming and broke_off(response):
            why = BROKE_OFF if response.parts else NO_ANSWER
            raise ModelFailed(why, why)
        response = with_own_ids(response)
        offered = request_context.model_request_parameters
        outputs = {tool.name for tool in offered.output_tools}
        tools = {tool.name: tool for tool in offered.function_tools}
        for part in response.parts:
            if isinstance(part, ToolCallPart) and part.tool_name not in outputs:
                self.calls.ask(part, tools.get(part.tool_name))
        self.calls.run.costs(*used)
        return response

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """Whatever nobody else has answered: no call is left without a result."""
        if self.calls is None:
            return None
        run, answers = self.calls.run, DeferredToolResults()
        for call in requests.approvals:
            why = await denied(self.approve, run, call.tool_name, call.args_as_json_str())
            run.must_hold(f"this call of {call.tool_name}")
            answers.approvals[call.tool_call_id] = ToolDenied(why) if why else ToolApproved()
            if why:
                self.calls.skip(call.tool_call_id, why)
        for call in requests.calls:
            answers.calls[call.tool_call_id] = ToolFailed(_ELSEWHERE)
            self.calls.skip(call.tool_call_id, _ELSEWHERE)
        return answers


def _why(error: ValidationError | ModelRetry) -> str:
    if isinstance(error, ModelRetry):
        return error.message
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
