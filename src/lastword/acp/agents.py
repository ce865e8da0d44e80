"""The assistants behind the sessions: each session has one, for the directory it works in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_ai.toolsets import AbstractToolset

from lastword.agent.assistant import Assistant
from lastword.agent.tools.files import Files
from lastword.errors import EngineFailed
from lastword.extras import need
from lastword.runtime.call import Call
from lastword.runtime.run import Run

if TYPE_CHECKING:
    from lastword.agent.tools.mcp import McpServer

Make: TypeAlias = Callable[..., Assistant]
"""Makes an assistant for directories, with some more toolsets, and where its files are held."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 32


class Agents:
    """What the runtime asks: one engine for all sessions, each with an assistant of its own."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._of: dict[str, tuple[Assistant, Callable[[Call[Any]], Any]]] = {}

    def open(
        self,
        session: str,
        folders: Sequence[str],
        servers: Sequence[dict[str, Any]],
        plan: AbstractToolset[Run],
        files: Callable[..., Files],
    ) -> Assistant:
        """The assistant of a session, from here on."""
        made = self._make(folders, [plan, *_servers(servers, folders[0])], files_in=files)
        self._of[session] = made, made.questions.as_before_tool()
        return made

    def close(self, session: str) -> None:
        """It is not needed any more."""
        self._of.pop(session, None)

    async def engine(self, run: Run) -> None:
        """For `Runtime(engine)`."""
        if (found := self._of.get(run.sessions[0])) is None:
            raise EngineFailed(f"session {run.session} is not open in this editor")
        await found[0].engine(run)

    async def before_tool(self, call: Call[Any]) -> None:
        """For `Runtime(before_tool=...)`."""
        found = self._of.get(call.sessions[0])
        if found is None:
            raise PermissionError(f"{call.name} was not called: its session is closed")
        await found[1](call)


def _servers(servers: Sequence[dict[str, Any]], cwd: str) -> list[McpServer]:
    """As the client names them, as far as a tool can be named after that."""
    if not servers:
        return []
    need("an MCP server", "mcp")
    from lastword.agent.tools.mcp import http, stdio  # noqa: PLC0415 - needs an extra

    made: dict[str, McpServer] = {}
    for server in servers:
        name = wanted = _NOT_IN_NAMES.sub("_", server["name"])[:_LONGEST_NAME] or "mcp"
        number = 1
        while name in made:
            number += 1
            name = f"{wanted[: _LONGEST_NAME - 4]}_{number}"
        if "command" in server:
            made[name] = stdio(name, server["command"], server["env"], cwd)
        else:
            made[name] = http(name, server["url"], server["headers"])
    return list(made.values())
