"""The connection of one run to one MCP server, kept by a helper of the run's.

It ends with the run. Whatever becomes of the server meanwhile is told to whoever calls it, and
never the run's failure.
"""

from __future__ import annotations

import asyncio
import logging
from importlib.metadata import version
from typing import Any, cast

from mcp import ClientSession, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
    Tool,
)
from pydantic import ValidationError

from lastword.agent.tools.mcp_wire import Connect, McpPeer, Wire
from lastword.errors import ProcessError, Superseded
from lastword.runtime.run import Run
from lastword.runtime.tasks import described, ended

log = logging.getLogger("lastword")
_MOST_TOOLS = 500  # of a server, and pages of its list
_EPITAPH = 2.0  # seconds in which it becomes known why a connection has broken


class Down(Exception):
    """A server cannot be used, or could not do what it was asked for; and why."""


class Link:
    """From the start of a server until it, or the run, ends."""

    def __init__(
        self, run: Run, name: str, connect: Connect, *, patience: float, timeout: float
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.down = ""  # why it is of no use any more
        self._run = run
        self._name = name
        self._connect = connect
        self._patience = patience
        self._timeout = timeout
        self._session: ClientSession | None = None
        self._peer: McpPeer | None = None
        self._wire: Wire | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = run.task(self._keep(), name=f"MCP server {name}")

    async def ready(self) -> None:
        """Return when its tools are known. Raises `Down` if that cannot be."""
        await asyncio.shield(self._ready)
        if self.down:
            raise Down(self.down)

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Have a tool called there. Whoever is cancelled meanwhile has it called off."""
        if self._session is None:
            raise Down(self.down or f"the MCP server {self._name} is not connected")
        try:
            async with asyncio.timeout(self._timeout):  # also to a server that reads nothing
                return await self._session.call_tool(tool, arguments)
        except TimeoutError as error:
            raise Down(
                f"{tool} took longer than {self._timeout:g} seconds; the MCP server {self._name} "
                "was told to leave it, and may have executed it"
            ) from error
        except MCPError as error:
            raise Down(await self._why(tool, error)) from error
        except (ValidationError, RuntimeError) as error:
            why = f"the MCP server {self._name} gave an answer that is none: {described(error)}"
            raise Down(f"{why:.1000}; {tool} may have been executed") from error

    async def _why(self, tool: str, error: MCPError) -> str:
        if error.code == CONNECTION_CLOSED:
            lasting = self._session is not None and not (self._wire and self._wire.over.is_set())
            await ended((self._keeper,), 0 if lasting else _EPITAPH)
            why = self.down or f"the MCP server {self._name} did not answer: {error.message}"
            return f"{why}; {tool} may have been executed"
        if error.code == PARSE_ERROR:
            why = f"the MCP server {self._name} gave an answer that is none: {error.message}"
            return f"{why:.1000}; {tool} may have been executed"
        return f"the MCP server {self._name} refused: {error.message:.1000}"

    async def _keep(self) -> None:
        limit = asyncio.timeout(self._patience)
        try:
            async with limit:
                await self._talk(limit)
            self._fail("has ended")
        except (Exception, BaseExceptionGroup, Superseded) as error:  # noqa: BLE001 - whatever a server does, the run goes on
            cause = _innermost(error)
            if not isinstance(cause, Superseded):  # else the stop has said all there is to say
                self._fail(self._in_words(cause))
        finally:
            self._session = None
            if self.down and not self._ready.done():
                self._ready.set_result(None)
            self._ready.cancel()  # if it was stopped meanwhile

    def _in_words(self, error: BaseException) -> str:
        match error:
            case ProcessError():
                return f"cannot be used: {error}"
            case TimeoutError():
                return f"did not answer in {self._patience:g} seconds"
            case MCPError(code=code) if code == CONNECTION_CLOSED:
                return "has ended"
            case MCPError(message=message):
                return f"refused: {message:.1000}"
            case _:
                return f"cannot be reached: {described(error):.1000}"

    async def _talk(self, limit: asyncio.Timeout) -> None:
        async with self._connect(self._run) as peer:
            self._peer = peer
            self._wire = wire = Wire(peer, self._run, self._name)
            us = Implementation(name="lastword", version=version("lastword"))
            async with ClientSession(wire, wire, client_info=us) as session:
                try:
                    await session.initialize()
                    self.tools = await self._listed(session)
                    self._session = session
                    self._ready.set_result(None)
                    limit.reschedule(None)
                    await wire.over.wait()
                except asyncio.CancelledError:
                    await wire.goodbye()
                    raise

    async def _listed(self, session: ClientSession) -> tuple[Tool, ...]:
        """Its tools, as many as may be; a list can be without an end."""
        page = await session.list_tools()
        tools = list(page.tools)
        for _ in range(_MOST_TOOLS):
            if not page.next_cursor or len(tools) > _MOST_TOOLS:
                break
            page = await session.list_tools(params=PaginatedRequestParams(cursor=page.next_cursor))
            tools += page.tools
        if page.next_cursor or len(tools) > _MOST_TOOLS:
            log.warning("mcp server lists too much server=%s tools=%d", self._name, _MOST_TOOLS)
        return tuple(tools[:_MOST_TOOLS])

    def _fail(self, how: str) -> None:
        epitaph = self._peer.epitaph() if self._peer else ""
        self.down = f"the MCP server {self._name} {how}{f' ({epitaph})' if epitaph else ''}"


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    return error
