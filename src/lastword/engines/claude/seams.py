"""What of the SDK is not said to stay, looked at when an engine is made.

The engine rests on a few names of the SDK's, and of the MCP server's that it brings. If one has
moved, or takes something else, that is an error at once: it could mean a tool that nobody holds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from lastword.engines.kit.moved import moved

TRIED = {"claude-agent-sdk": "0.2.184", "mcp": "2.3.0"}
CLI = "claude_agent_sdk._internal.transport.subprocess_cli"


class SdkName(NamedTuple):
    """A name, and what it has to take."""

    module: str
    name: str
    takes: tuple[str, ...] | None  # None: whatever it takes


SEAMS = (
    SdkName("claude_agent_sdk", "ClaudeSDKClient", ("options", "transport")),
    SdkName("claude_agent_sdk", "HookMatcher", ("matcher", "hooks", "timeout", "on_failure")),
    SdkName("claude_agent_sdk", "Transport.write", ("self", "data")),
    SdkName("claude_agent_sdk", "Transport.read_messages", ("self",)),
    SdkName(CLI, "SubprocessCLITransport", ("prompt", "options")),
    SdkName(CLI, "SubprocessCLITransport._find_cli", ("self",)),
    SdkName(CLI, "SubprocessCLITransport._build_command", ("self",)),
    SdkName(
        "claude_agent_sdk._internal.session_resume", "_copy_auth_files", ("tmp_base", "opt_env")
    ),
    SdkName("claude_agent_sdk", "project_key_for_directory", ("directory",)),
    SdkName(CLI, "anyio.open_process", None),
    SdkName("mcp.server", "Server.get_request_handler", ("self", "method")),
    SdkName(
        "mcp.server", "Server.add_request_handler", ("self", "method", "params_type", "handler")
    ),
)


@cache
def look() -> None:
    """Raise `FrameworkMoved` if one of them is not what it was."""
    if gone := list(_gone()):
        raise moved("; ".join(gone), TRIED)


def found(module: str, name: str) -> Callable[..., Any]:
    """One of them, to call it."""
    at: Any = import_module(module)
    for part in name.split("."):
        at = getattr(at, part)
    return at


def _gone() -> Iterator[str]:
    for seam in SEAMS:
        try:
            takes = tuple(inspect.signature(found(seam.module, seam.name)).parameters)
        except (ImportError, AttributeError, TypeError, ValueError):
            yield f"there is no {seam.name}"
            continue
        if seam.takes is not None and takes != seam.takes:
            yield f"{seam.name} takes {', '.join(takes)} and not {', '.join(seam.takes)}"
