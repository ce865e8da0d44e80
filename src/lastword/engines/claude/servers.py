"""MCP servers in this process: their tools are made by the run's ledger, where they begin.

A server belongs to the team and may be shared by several runs. So each run has a copy of its own,
whose calls are made through the ledger; the server itself is not changed.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from claude_agent_sdk import ClaudeAgentOptions
from mcp.server import Server
from mcp.types import CallToolResult, TextContent

from lastword.engines.claude.calls import CliCalls, CliToolFailed
from lastword.engines.claude.wording import content_in_words
from lastword.engines.kit.calls import NotMade
from lastword.errors import Superseded

_CALL = "tools/call"
_ID = "claudecode/toolUseId"
_STOPPED = "the answer was stopped"


def with_held_servers(options: ClaudeAgentOptions, calls: CliCalls) -> ClaudeAgentOptions:
    """The options with copies of the servers that are in this process."""
    if not isinstance(options.mcp_servers, dict):
        return options
    held = {name: _held(given, calls) for name, given in options.mcp_servers.items()}
    return replace(options, mcp_servers=cast("Any", held))


def _held(given: Any, calls: CliCalls) -> Any:  # noqa: ANN401 - how a server is said to be
    if given.get("type") != "sdk":
        return given
    server: Server[Any] = copy.copy(given["instance"])
    handlers = vars(server)["_request_handlers"]
    vars(server)["_request_handlers"] = dict(handlers)
    if entry := server.get_request_handler(_CALL):
        server.add_request_handler(_CALL, entry.params_type, _made(entry.handler, calls))
    return {**given, "instance": server}


def _made(handler: Callable[..., Awaitable[Any]], calls: CliCalls) -> Any:  # noqa: ANN401
    async def held(context: Any, params: Any) -> Any:  # noqa: ANN401
        meta = cast("Mapping[str, Any]", params.meta or {})
        work = _call(calls, str(meta.get(_ID, "")), params.name, lambda: handler(context, params))
        try:
            return await calls.run.task(work, name=params.name)  # a stop cancels it there
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) and task.cancelling():
                raise
            return _failed(_STOPPED)  # which nobody hears any more
        except Superseded:
            return _failed(_STOPPED)

    return held


async def _call(calls: CliCalls, id_: str, name: str, body: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401
    """Make it, as what the model asked for; if it did not, as an act of the run's."""
    door = calls.door(id_)
    if door is None:
        async with calls.run.acting(name):
            return await body()
    door.here = True
    door.call.render = door.call.explain = _in_words
    given: list[Any] = []

    async def made() -> Any:  # noqa: ANN401
        given.append(await body())
        if getattr(given[0], "is_error", False):
            raise CliToolFailed(_in_words(given[0]))
        return given[0]

    try:
        return await calls.calls.make(id_, made)
    except NotMade as why:
        return _failed(str(why))
    except CliToolFailed:
        return given[0]


def _failed(why: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=why)], is_error=True)


def _in_words(result: Any) -> str:  # noqa: ANN401 - whatever a server gave
    if isinstance(result, Exception):
        return str(result)
    if isinstance(result, CallToolResult):
        return content_in_words(result.model_dump(mode="json", by_alias=True)["content"])
    return str(result)
