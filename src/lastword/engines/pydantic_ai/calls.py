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

from lastword.core.transcript import Nature
from lastword.engines.pydantic_ai.history import native_of
from lastword.engines.pydantic_ai.innermost import making
from lastword.engines.pydantic_ai.rendering import explained, rendered
from lastword.runtime.ledger import Call
from lastword.runtime.run import Run

_NOT_YET = (ApprovalRequired, CallDeferred)


class _Asked:
    """One call."""

    def __init__(self, run: Run, part: ToolCallPart, nature: Nature) -> None:
        self._body: Callable[[], Awaitable[Any]] | None = None
        arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
        self.call: Call[Any] = run.asked(
            part.tool_name, arguments, self._make, nature=nature, native=native_of(part), late=True
        )
        self.call.render = rendered
        self.call.explain = explained
        self.call.puts_off = _NOT_YET

    async def _make(self) -> object:
        if self._body is None:
            return None
        with making(self.call):
            try:
                return await self._body()
            except SkipToolExecution as skipped:
                return skipped.result

    async def make(self, body: Callable[[], Awaitable[Any]]) -> object:
        self._body = body
        try:
            return await self.call()
        except PermissionError as error:
            if self.call.allowed:
                raise  # the tool's own
            raise ToolFailed(str(error)) from error


class ModelCalls:
    """Those of one run that are not settled."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.answered: OutputContext | None = None  # what the run's answer was made of
        self._asked: dict[str, _Asked] = {}

    def ask(self, part: ToolCallPart, tool: ToolDefinition | None) -> None:
        """Write down what the model asked for."""
        self._asked[part.tool_call_id] = _Asked(self.run, part, _nature(tool))

    async def make(
        self, part: ToolCallPart, tool: ToolDefinition | None, body: Callable[[], Awaitable[Any]]
    ) -> object:
        """Make it; the tool begins inside the body."""
        if part.tool_call_id not in self._asked:
            self.ask(part, tool)
        made = await self._asked[part.tool_call_id].make(body)
        self._asked.pop(part.tool_call_id, None)
        return made

    async def carry_out(
        self,
        requests: DeferredToolRequests,
        handle: Callable[[DeferredToolRequests], Awaitable[DeferredToolResults | None]],
    ) -> DeferredToolResults | None:
        """Have those made that are carried out elsewhere; what may not be made is answered here."""
        refused, carried = DeferredToolResults(), dict[str, Call[Any]]()
        for part in requests.calls:
            asked = self._asked.get(part.tool_call_id)
            if asked is None or asked.call.made:
                continue
            try:
                await asked.call.ready()
            except PermissionError as error:
                refused.calls[part.tool_call_id] = ToolFailed(str(error))
                del self._asked[part.tool_call_id]
            else:
                carried[part.tool_call_id] = asked.call
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
                    call.answered(error)
                raise
        for id_, call in calls.items():
            if given is not None and id_ in given.calls:
                call.answered(given.calls[id_])
                self._asked.pop(id_, None)
            else:
                call.put_off()
        return given

    def skip(self, call: str, why: str) -> None:
        """It is not made."""
        if asked := self._asked.pop(call, None):
            asked.call.skip(why)

    def settle(self, messages: Iterable[ModelMessage]) -> None:
        """What the model is told of calls that reached no tool is what became of them."""
        if not self._asked:
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
