"""The capability that holds an agent to its run: every request and every tool passes the gate.

The framework checks before a tool begins and then takes a few steps more. So the call is made by
the run's ledger, whose last check is in the same step as the tool's first line; threads are checked
as they start; and what a model asked for in one go is written down at once.
"""

# ruff: noqa: ARG002 - the methods are the framework's, with its parameters

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic_ai.capabilities import AbstractCapability, WrapToolExecuteHandler
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
from lastword.engines.pydantic_ai.history import native_of
from lastword.runtime.ledger import Call
from lastword.runtime.run import Run

holding: ContextVar[Run | None] = ContextVar("lastword_holding", default=None)


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
    """For one run of lastword's. Without one, it is found where the agent is run."""

    run: Run | None = None
    approve: Approve | None = None
    _asked: dict[str, _Asked] = field(default_factory=dict[str, _Asked], init=False, repr=False)

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        run = self.run or holding.get()
        return Fenced(run, self.approve) if run else self

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        if self.run:
            self.run.must_hold("this request to the model")
        return request_context

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        outputs = {tool.name for tool in request_context.model_request_parameters.output_tools}
        for part in response.parts:
            if self.run and isinstance(part, ToolCallPart) and part.tool_name not in outputs:
                self._asked[part.tool_call_id] = _Asked(self.run, part, "")
        if self.run:
            usage = response.usage
            self.run.used(response.model_name or "", usage.input_tokens, usage.output_tokens)
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
            return await handler(args)
        asked = self._asked.pop(call.tool_call_id, None) or _Asked(self.run, call, "")
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


def _why(error: ValidationError | ModelRetry) -> str:
    if isinstance(error, ModelRetry):
        return error.message
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())


def _rendered(result: object) -> str:
    """A result as the model is shown it."""
    value: object = result.return_value if isinstance(result, ToolReturn) else result
    if isinstance(value, str):
        return value
    return to_json(value, fallback=repr).decode()
