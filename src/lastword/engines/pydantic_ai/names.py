"""What the engine rests on of pydantic-ai, looked at before it is held and when an engine is made.

A framework that has moved one of them, or takes something else there, is an error then: it could
mean a tool that nobody holds.
"""

from __future__ import annotations

import sys
from functools import cache

from lastword.engines.kit.mcp import hold_mcp_requests
from lastword.engines.kit.moved import KnownName, must_be_there

TRIED = {"pydantic-ai-slim": "2.66.0"}
FUNCTIONS, OUTPUTS = "pydantic_ai._function_schema", "pydantic_ai._output"
CHOOSES = "execute_choice_action"
_AGENT, _MODELS, _MCP = "pydantic_ai", "pydantic_ai.models", "pydantic_ai.mcp"
_HOOKS, _TOOLS = "pydantic_ai.capabilities", "pydantic_ai.toolsets"
_ASKED = ("self", "messages", "model_settings", "model_request_parameters")

_NAMES = (
    KnownName(_AGENT, "Agent.iter", ("self", "capabilities")),
    KnownName(FUNCTIONS, "FunctionSchema", ("function", "name", "is_async")),
    KnownName(FUNCTIONS, "FunctionSchema.call", ("self", "args_dict", "ctx")),
    KnownName(OUTPUTS, CHOOSES, ("action",)),
    KnownName(_TOOLS, "AbstractToolset.call_tool", ("self", "name", "tool_args", "ctx", "tool")),
    KnownName(f"{_TOOLS}.function", "FunctionToolsetTool", ("call_func",)),
    KnownName(f"{_TOOLS}._tool_search", "ToolSearchToolset", ("search_fn",)),
    KnownName(_MODELS, "Model.request", _ASKED),
    KnownName(_MODELS, "Model.request_stream", _ASKED),
    KnownName(f"{_MODELS}.function", "FunctionModel", ("function", "stream_function")),
    KnownName(_HOOKS, "AbstractCapability.get_ordering", ("self",)),
    *(
        KnownName(_HOOKS, f"AbstractCapability.{hook}", ("self", "ctx", *takes))
        for hook, takes in {
            "on_tool_validate_error": ("call", "tool_def", "args", "error"),
            "wrap_tool_execute": ("call", "tool_def", "args", "handler"),
            "wrap_output_process": ("output_context", "output", "handler"),
            "before_model_request": ("request_context",),
            "after_model_request": ("request_context", "response"),
            "handle_deferred_tool_calls": ("requests",),
        }.items()
    ),
)
_SERVERS = (
    KnownName(_MCP, "MCPToolset", ("process_tool_call",)),
    KnownName(_MCP, "MCPToolset.direct_call_tool", ("self", "name", "args")),
)


def look() -> None:
    """Raise `FrameworkMoved` if one of them is not what it was."""
    must_be_there(_NAMES, TRIED)
    if _MCP in sys.modules:
        must_be_there(_SERVERS, TRIED)
    hold_mcp_requests()


def look_at_servers() -> None:
    """The same of what there is for MCP servers, once it is imported; this is asked often."""
    if (module := sys.modules.get(_MCP)) is not None:
        _look_at(module)


@cache
def _look_at(_: object) -> None:
    must_be_there(_SERVERS, TRIED)
