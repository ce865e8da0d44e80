"""The same tool, checked where its own code is reached.

Between the framework's order and a tool's first line are hooks, guardrails, timeouts, arguments to
be read and a thread to be started. So it is a function's own first line that is checked, in its
thread if it has one. A tool of an MCP server begins where the request leaves (`kit.mcp`). What is
given is a copy: the team's tool stays as it is, for every other run.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable
from functools import cache, wraps
from types import CellType, FunctionType
from typing import Any, TypeVar

from agents import FunctionTool, function_tool
from agents.mcp import server as servers
from agents.tool import get_function_tool_origin
from agents.tool_context import ToolContext

from lastword.engines.kit.moved import moved
from lastword.engines.kit.reaching import reached
from lastword.engines.openai_agents.seams import TRIED
from lastword.runtime.fence import is_async

T = TypeVar("T")
_IMPL = "_invoke_tool_impl"  # of what invokes a tool that was made of a function
_FUNCTION = "the_func"  # as that knows it


def copied(tool: T, **changed: object) -> T:
    """A copy of a value of the framework's, whose own making is not done again."""
    made = object.__new__(type(tool))
    made.__dict__.update(tool.__dict__, **changed)
    return made


class StandIn:
    """Stands in for a tool that may not be called: the model is told why."""

    def __init__(self, why: str) -> None:
        self.why = why

    async def __call__(self, ctx: ToolContext[Any], arguments: str) -> str:  # noqa: ARG002 - a tool's
        return self.why

    def of(self, tool: FunctionTool) -> FunctionTool:
        """The same tool, which says so."""
        bare = {"output_json_schema": None, "_output_type_adapter": None}
        return copied(tool, on_invoke_tool=self, timeout_seconds=None, **bare)


def guarded(tool: FunctionTool) -> FunctionTool:
    """The same tool, refused where its own code begins once the run has lost its session."""
    invoker = tool.on_invoke_tool
    if isinstance(invoker, StandIn):
        return tool
    impl = getattr(invoker, _IMPL, None)
    if impl is None:
        return copied(tool, on_invoke_tool=_reaching(invoker, tool.name))
    if _FUNCTION in _free(impl):
        inner = _with_function(impl, tool.name)
    else:
        inner = impl if _passes_on(tool) else _reaching(impl, tool.name)
    held: Any = copy.copy(invoker)
    setattr(held, _IMPL, inner)
    return copied(tool, on_invoke_tool=held)


@cache
def find_functions() -> None:
    """Raise, if a tool that is made of a function is not made as it was."""

    @function_tool
    async def probe() -> str:
        """Find where the framework keeps this very function."""
        return ""

    impl = getattr(probe.on_invoke_tool, _IMPL, None)
    if _FUNCTION not in _free(impl):
        raise moved(f"a function tool has no {_IMPL} around {_FUNCTION}", TRIED)


def _free(impl: object) -> tuple[str, ...]:
    """What a function has of the one that it was made in; nothing, if it is none."""
    return impl.__code__.co_freevars if isinstance(impl, FunctionType) else ()


def _with_function(impl: Any, name: str) -> FunctionType:  # noqa: ANN401 - the framework's
    """The same code around the same function, guarded."""
    cells = dict(zip(impl.__code__.co_freevars, impl.__closure__, strict=True))
    function = cells[_FUNCTION].cell_contents
    guard = _in_step if is_async(function) else _in_thread
    cells[_FUNCTION] = CellType(guard(function, name))
    made = FunctionType(
        impl.__code__, impl.__globals__, impl.__name__, impl.__defaults__, tuple(cells.values())
    )
    made.__kwdefaults__ = impl.__kwdefaults__
    made.__dict__.update(impl.__dict__)
    return made


def _in_step(function: Callable[..., Awaitable[Any]], name: str) -> Callable[..., Awaitable[Any]]:
    @wraps(function)
    async def checked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        with reached(name) as part:
            result = await function(*args, **kwargs)
            part.gave(result)
        return result

    return checked


def _in_thread(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the tool's own
        with reached(name) as part:
            result = function(*args, **kwargs)
            part.gave(result)
        return result

    return checked


def _reaching(invoke: Callable[..., Awaitable[Any]], name: str) -> Callable[..., Awaitable[Any]]:
    """What invokes a tool is the tool's own code."""

    @wraps(invoke)
    async def reaching(*given: Any) -> Any:  # noqa: ANN401 - as it gives
        with reached(name) as part:
            result = await invoke(*given)
            part.gave(result)
        return result

    return reaching


def _passes_on(tool: FunctionTool) -> bool:
    """Whether it is an MCP server's, and the framework's own client sends the request."""
    origin = get_function_tool_origin(tool)
    return origin is not None and origin.type.value == "mcp"


def sends_by_itself(server: object) -> bool:
    """Whether a server is one of the framework's, which sends requests by the usual client."""
    call = inspect.getattr_static(type(server), "call_tool", None)
    return getattr(call, "__module__", "") == servers.__name__
