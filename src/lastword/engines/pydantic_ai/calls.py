"""What a model asked for in one answer, from then until the framework has made it.

All of it is written down at once. Each call begins where its tool's own code does (`innermost`),
and is settled once: with what the tool gave, with what a hook answered in its place, or with what
the model is told of a call that reached no tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any

from pydantic_ai.exceptions import (
    ApprovalRequired,
    CallDeferred,
    SkipToolExecution,
    ToolFailed,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolCallPart, ToolReturnPart
from pydantic_ai.output import OutputContext
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolDefinition

from lastword.core.entries import Nature
from lastword.engines.kit.calls import Calls, NotMade
from lastword.engines.pydantic_ai.history import native_of
from lastword.engines.pydantic_ai.rendering import explained, rendered
from lastword.runtime.call import Call
from lastword.runtime.run import Run

_NOT_YET = (ApprovalRequired, CallDeferred)


class ModelCalls:
    """Those of one run that are not settled."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.answered: OutputContext | None = None  # what the run's answer was made of
        self._calls = Calls(run)

    def ask(self, part: ToolCallPart, tool: ToolDefinition | None) -> None:
        """Write down what the model asked for."""
        said = part.args if isinstance(part.args, str) else part.args_as_json_str()
        nature, native = _nature(tool), native_of(part)
        call = self._calls.ask(
            part.tool_call_id, part.tool_name, said, nature=nature, native=native, late=True
        )
        call.render = rendered
        call.explain = explained
        call.puts_off = _NOT_YET

    async def make(
        self, part: ToolCallPart, tool: ToolDefinition | None, body: Callable[[], Awaitable[Any]]
    ) -> object:
        """Make it; the tool begins inside the body."""

        async def made() -> object:
            try:
                return await body()
            except SkipToolExecution as skipped:
                return skipped.result

        if self._calls.get(part.tool_call_id) is None:
            self.ask(part, tool)
        try:
            return await self._calls.make(part.tool_call_id, made)
        except NotMade as error:
            raise ToolFailed(str(error)) from error

    async def carry_out(
        self,
        requests: DeferredToolRequests,
        handle: Callable[[DeferredToolRequests], Awaitable[DeferredToolResults | None]],
    ) -> DeferredToolResults | None:
        """Have those made that are carried out elsewhere; what may not be made is answered here."""
        refused, carried = DeferredToolResults(), dict[str, Call[Any]]()
        for part in requests.calls:
            call = self._calls.get(part.tool_call_id)
            if call is None or call.made:
                continue
            try:
                await call.ready()
            except PermissionError as error:
                refused.calls[part.tool_call_id] = ToolFailed(str(error))
                self._calls.forget(part.tool_call_id)
            else:
                carried[part.tool_call_id] = call
        await self.run.may("what was put off")
        left = requests.remaining(refused) if refused.calls else requests
        given = await self._carried(carried, lambda: handle(left)) if left else None
        if refused.calls:
            given = given or DeferredToolResults()
            given.update(refused)
        return given

    async def _carried(
        self,
        calls: Mapping[str, Call[Any]],
        handle: Callable[[], Awaitable[DeferredToolResults | None]],
    ) -> DeferredToolResults | None:
        with ExitStack() as under_way:
            for call in calls.values():
                under_way.enter_context(call.under_way()).over = False  # its answer says
            try:
                given = await handle()
            except Exception as error:
                for call in calls.values():
                    call.end(error)
                raise
        for id_, call in calls.items():
            if given is not None and id_ in given.calls:
                call.end(given.calls[id_])
                self._calls.forget(id_)
            else:
                call.put_off()
        return given

    def skip(self, call: str, why: str) -> None:
        """It is not made."""
        self._calls.skip(call, why)

    def settle(self, messages: Iterable[ModelMessage]) -> None:
        """What the model is told of calls that reached no tool is what became of them."""
        if len(self._calls) == 0:
            return
        for message in messages:
            for part in message.parts if isinstance(message, ModelRequest) else ():
                if isinstance(part, ToolReturnPart):
                    self.skip(part.tool_call_id, explained(part))


def _nature(tool: ToolDefinition | None) -> Nature:
    """What its metadata says of calling it twice: `{"nature": "read_only"}`, or "idempotent"."""
    match ((tool and tool.metadata) or {}).get("nature"):
        case "read_only" | "idempotent" as nature:
            return nature
        case _:
            return ""
