"""Where the framework reaches a tool's own first line; the check is there.

Between the framework's order and that line are hooks, wrappers around toolsets, processors of MCP
calls and a thread to be started, all of which may wait. So it is asked in the places where the code
of others begins: at every toolset's `call_tool`, at the function of a tool or of an output, and
where a request to an MCP server leaves. They do what they did wherever there is no run of
lastword's; a framework that has moved them is an error at the start.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache, wraps
from importlib import import_module
from typing import Any

from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from lastword.engines.kit.mcp import hold_mcp_requests
from lastword.engines.kit.reaching import reached
from lastword.engines.pydantic_ai.names import CHOOSES, FUNCTIONS, OUTPUTS, look_at_servers
from lastword.engines.pydantic_ai.seams import Seam, checked
from lastword.runtime.checks import must_not_be_generated, must_not_generate
from lastword.runtime.fence import is_async, name_of
from lastword.runtime.framework import run_inside

_PASS_ON = ("pydantic_ai.toolsets.", "pydantic_ai.mcp")  # they call what is checked by itself


@cache
def hold_functions() -> None:
    """Check where the functions of tools and of outputs are called."""
    schema: Any = import_module(FUNCTIONS).FunctionSchema
    unheld: Callable[..., Awaitable[Any]] = schema.call

    @wraps(unheld)
    async def call(self: Any, args_dict: dict[str, Any], ctx: Any) -> Any:  # noqa: ANN401 - the framework's
        if run_inside() is None:
            return await unheld(self, args_dict, ctx)
        must_not_generate(self.function)
        name = ctx.tool_name or self.name
        guard = _in_step if self.is_async else _in_thread
        return await unheld(replace(self, function=guard(self.function, name)), args_dict, ctx)

    checked.add(call)
    schema.call = call
    _hold_choices()


def _hold_choices() -> None:
    """What a model can choose as its answer may be functions."""
    outputs = import_module(OUTPUTS)
    unheld: Callable[..., Awaitable[Any]] = getattr(outputs, CHOOSES)

    @wraps(unheld)
    async def choose(action: Callable[[], Any]) -> Any:  # noqa: ANN401 - the team's own
        held = action if run_inside() is None else _guarded(action, name_of(action))
        return await unheld(held)

    setattr(outputs, CHOOSES, choose)


def hold_toolsets() -> None:
    """Check where toolsets, of the framework and of others, are called; those there are by now."""
    for seam in _toolsets():
        seam.hold()
    look_at_servers()
    hold_mcp_requests()


@cache
def _toolsets() -> tuple[Seam, ...]:
    checks = {
        "call_tool": _tool,
        "direct_call_tool": _tool,  # an MCP toolset's
        "process_tool_call": _processor,  # around it, of the team's
        "search_fn": _search,  # the tool that finds others, of the team's
    }
    inner = ("wrapped", "_toolset")
    toolsets = Seam(AbstractToolset, checks, passes_on=_PASS_ON, leads_to=inner)
    source = ("source_toolset",)
    tools = Seam(ToolsetTool, {"call_func": _function}, leads_to=source, others=toolsets)
    return toolsets, tools


def _tool(unheld: Callable[..., Any], begin: int) -> Callable[..., Any]:
    @wraps(unheld)
    async def call_tool(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the toolset's own
        name = args[begin] if len(args) > begin else kwargs.get("name", "a tool")
        with reached(str(name)):
            return await unheld(*args, **kwargs)

    return call_tool


def _processor(unheld: Callable[..., Any], _: int) -> Callable[..., Any]:
    @wraps(unheld)
    async def process_tool_call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the team's own
        if run := run_inside():
            await run.may("this call of a tool")
        return await unheld(*args, **kwargs)

    return process_tool_call


def _search(unheld: Callable[..., Any], _: int) -> Callable[..., Any]:
    return wraps(unheld)(_guarded(unheld, "search_tools"))


def _function(unheld: Callable[..., Any], begin: int) -> Callable[..., Any]:
    @wraps(unheld)
    async def call_func(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        ctx = args[begin + 1] if len(args) > begin + 1 else kwargs.get("ctx")
        with reached(getattr(ctx, "tool_name", None) or "a tool"):
            return await unheld(*args, **kwargs)

    return call_func


def _guarded(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    guard = _in_step if is_async(function) else _in_thread
    return guard(function, name)


def _in_step(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    async def checked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        with reached(name) as part:
            result = await function(*args, **kwargs)
            part.gave(result)
        must_not_be_generated(result, name)
        return result

    return checked


def _in_thread(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def checked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        with reached(name) as part:
            result = function(*args, **kwargs)
            part.over = not inspect.isawaitable(result)
            part.gave(result)
        if inspect.isawaitable(result):  # its first line is yet to come, where it is awaited
            return _awaited(result, name)
        must_not_be_generated(result, name)
        return result

    return checked


async def _awaited(result: Awaitable[Any], name: str) -> Any:  # noqa: ANN401 - the tool's own
    with reached(name):
        return await result
