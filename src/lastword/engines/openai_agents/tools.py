"""Function tools: where the framework makes a call, and where it reaches the tool.

A call of the session's own model is the ledger's from before the tool until after the guardrails of
what it gave: what the log has is what the model was told. A nested agent's is an inner one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.agent_tool_state import peek_agent_tool_run_result
from agents.tool import _FunctionToolInvocationResult as Invoked  # pyright: ignore[reportPrivateUsage] - what is held gives it

from lastword.engines.kit.calls import NotMade, inner
from lastword.engines.kit.mcp import hold_mcp_requests
from lastword.engines.kit.reaching import reached
from lastword.engines.openai_agents.driving import NotYet, driven_here, given_up
from lastword.engines.openai_agents.innermost import StandIn, guarded, sends_by_itself
from lastword.engines.openai_agents.items import field_of, told_of
from lastword.engines.openai_agents.seams import HeldName
from lastword.runtime.framework import run_inside

_NOT_ALLOWED = "This call was not allowed, and not made:"


def refused(why: NotMade) -> str:
    """What the model is told of a call that was not allowed."""
    return f"{_NOT_ALLOWED} {why}"


def _made(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def invoke(self: Any, *, func_tool: Any, tool_call: Any, **others: Any) -> Any:  # noqa: ANN401 - the framework's
        driven = driven_here()
        if driven is None:
            return await unheld(self, func_tool=func_tool, tool_call=tool_call, **others)

        async def body() -> Any:  # noqa: ANN401
            result = await unheld(self, func_tool=func_tool, tool_call=tool_call, **others)
            nested = peek_agent_tool_run_result(tool_call, scope_id=self.tool_state_scope_id)
            if nested is not None and nested.interruptions:
                raise NotYet(result)
            return result

        try:
            with given_up():
                return await driven.make(
                    tool_call.call_id, func_tool.name, tool_call.arguments, body
                )
        except NotMade as why:
            tool = StandIn(refused(why)).of(func_tool)
            return await unheld(self, func_tool=tool, tool_call=tool_call, **others)

    return invoke


def _reached(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def invoke(*, function_tool: Any, context: Any, arguments: str) -> Any:  # noqa: ANN401 - the framework's
        if run_inside() is None:
            return await unheld(function_tool=function_tool, context=context, arguments=arguments)
        given = {"function_tool": guarded(function_tool), "context": context}
        if driven_here() is not None:
            return await unheld(**given, arguments=arguments)

        async def body() -> Any:  # noqa: ANN401
            return await unheld(**given, arguments=arguments)

        try:
            with given_up():
                return await inner(function_tool.name, arguments, body, render=_told)
        except NotMade as why:
            return Invoked(refused(why), is_sdk_generated_error=True)

    return invoke


def _mcp(unheld: Callable[..., Any]) -> Callable[..., Any]:
    async def invoke(server: Any, tool: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the framework's
        hold_mcp_requests()
        if run_inside() is not None and not sends_by_itself(server):
            server = _Server(server)
        return await unheld(server, tool, *args, **kwargs)

    return invoke


class _Server:
    """A server of the team's own, without the usual client: the check is at its own first line."""

    def __init__(self, own: Any) -> None:  # noqa: ANN401 - the team's
        self._own = own

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as it has it
        return getattr(self._own, name)

    async def call_tool(self, tool_name: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        with reached(tool_name) as part:
            result = await self._own.call_tool(tool_name, *args, **kwargs)
            part.gave(told_of(field_of(result, "content")))
        return result


def _told(invoked: Any) -> str:  # noqa: ANN401 - the framework's
    return told_of(invoked.output)


_INVOKED = ("function_tool", "context", "arguments")
TOOLS = (
    HeldName(
        "agents.run_internal.tool_execution:_FunctionToolBatchExecutor",
        "_invoke_tool_and_run_post_invoke",
        ("self", "func_tool", "tool_call"),
        _made,
    ),
    HeldName(
        "agents.run_internal.tool_execution",
        "_invoke_function_tool_with_metadata",
        _INVOKED,
        _reached,
    ),
    HeldName("agents.tool", "_invoke_function_tool_with_metadata", _INVOKED, _reached),
    HeldName("agents.mcp.util:MCPUtil", "invoke_mcp_tool", ("server", "tool"), _mcp),
)
