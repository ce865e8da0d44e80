"""MCP servers as tools of an agent: `assistant(model, toolsets=[stdio("git", ["mcp-git"])])`.

A server is started when its tools are first asked for, and after that only when one is called. It
is the run's: it ends with it, and a stop calls off what it was doing. Its tools are called through
the same gate, and under the same rules, as all others.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    Tool,
)
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import BinaryContent, ToolReturn
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from lastword.agent.tools.mcp_link import Down, Link
from lastword.agent.tools.mcp_posts import by_posts
from lastword.agent.tools.mcp_wire import Connect, by_pipes
from lastword.agent.tools.names import LONGEST_NAME, OURS, Names
from lastword.engines.kit.pictures import PICTURES
from lastword.runtime.run import Run

log = logging.getLogger("lastword")
for _theirs in ("client", "mcp"):  # what they log would be printed into the conversation
    logging.getLogger(_theirs).addHandler(logging.NullHandler())

_PATIENCE = 30.0  # seconds for a server to start: it may have to be fetched first
_TIMEOUT = 600.0  # seconds for a call
_GRACE = 1.0  # seconds for a server to end
_LONGEST_TEXT = 50_000  # characters of a result
_LARGEST_PICTURE = 5_000_000  # characters, as it is sent
_MOST_PICTURES = 10  # of a result
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


def stdio(
    name: str,
    command: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    *,
    patience: float = _PATIENCE,
    timeout: float = _TIMEOUT,
    grace: float = _GRACE,
) -> McpServer:
    """A server that is started, and spoken to through its standard input and output.

    It is given `env` and a few harmless variables, and nothing else of the environment. It has
    `patience` seconds to start, `timeout` for a call, and `grace` to end.
    """
    if isinstance(command, str) or not command:
        raise ValueError(f"the MCP server {name} needs a command: a list of words")
    connect = by_pipes(tuple(command), env, cwd, grace)
    return McpServer(name, connect, patience=patience, timeout=timeout)


def http(
    name: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    *,
    patience: float = _PATIENCE,
    timeout: float = _TIMEOUT,
) -> McpServer:
    """A server that is reached by streamable HTTP."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"the MCP server {name} needs an address that begins with http; not {url}")
    return McpServer(name, by_posts(url, headers), patience=patience, timeout=timeout)


class McpServer(AbstractToolset[Run]):
    """A server, and what is known of its tools. Each run has a connection of its own."""

    def __init__(self, name: str, connect: Connect, *, patience: float, timeout: float) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be the name of an MCP server: its tools are named after it, so "
                "it is at most 32 letters, digits, - and _"
            )
        self.name = name
        self.known: dict[str, Tool] | None = None  # by the names that a model is told
        self.failed = False  # when it was last tried; it is not waited for again unasked
        self._names = Names(OURS)
        self.again = self._names.of(None, f"{name}_server")  # offered while no tools are known
        self._connect = connect
        self._patience = patience
        self._timeout = timeout

    @property
    def id(self) -> str:
        return self.name

    def link(self, run: Run) -> Link:
        """Start it for a run."""
        log.info("mcp server starting server=%s run=%s", self.name, run.id)
        patience, timeout = self._patience, self._timeout
        return Link(run, self.name, self._connect, patience=patience, timeout=timeout)

    def learn(self, tools: Sequence[Tool]) -> None:
        """These are its tools. Their names do not depend on the order in which they are listed."""
        by_name = {tool.name: tool for tool in reversed(tools)}  # of one name there is but one
        names = {own: self._named(own) for own in sorted(by_name, key=self._needs_another)}
        self.known = {names[tool.name]: by_name[tool.name] for tool in tools}
        self.failed = False

    def _needs_another(self, own: str) -> tuple[bool, str]:
        return self._wanted(own) != f"{self.name}_{own}", own

    def _wanted(self, own: str) -> str:
        return re.sub(r"[^A-Za-z0-9_-]", "_", f"{self.name}_{own}")[:LONGEST_NAME]

    def _named(self, own: str) -> str:
        return self._names.of(own, self._wanted(own))

    async def for_run(self, ctx: RunContext[Run]) -> AbstractToolset[Run]:
        """Its tools, for one run."""
        if not isinstance(ctx.deps, Run):  # pyright: ignore[reportUnnecessaryIsInstance] - for callers that are not checked
            raise TypeError(f"the MCP server {self.name} needs the run: PydanticAI(..., deps=run)")
        return _InRun(self, ctx.deps)

    async def get_tools(self, ctx: RunContext[Run]) -> dict[str, ToolsetTool[Run]]:
        return await (await self.for_run(ctx)).get_tools(ctx)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Run], tool: ToolsetTool[Run]
    ) -> object:
        return await tool.toolset.call_tool(name, tool_args, ctx, tool)


class _InRun(AbstractToolset[Run]):
    def __init__(self, server: McpServer, run: Run) -> None:
        self._server = server
        self._run = run
        self._link: Link | None = None

    @property
    def id(self) -> str:
        return self._server.id

    async def get_tools(self, ctx: RunContext[Run]) -> dict[str, ToolsetTool[Run]]:
        if self._server.known is None and self._link is None and not self._server.failed:
            try:
                await self._linked()
            except Down as error:
                self._server.failed = True
                log.warning("mcp server failed server=%s run=%s", self.id, self._run.id)
                await self._run.progress(f"{error}.")
        if self._server.known is None:
            offered = [_to_try_again(self._server.again, self.id)]
        else:
            offered = [_definition(name, tool) for name, tool in self._server.known.items()]
        return {
            one.name: ToolsetTool(
                toolset=self, tool_def=one, max_retries=ctx.max_retries, args_validator=_OBJECT
            )
            for one in offered
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Run],  # noqa: ARG002 - the framework's
        tool: ToolsetTool[Run],  # noqa: ARG002
    ) -> object:
        known = (self._server.known or {}).get(name)
        try:
            link = await self._linked()
            if known is None:
                return f"It is there now, with {', '.join(self._server.known or ()) or 'no tools'}."
            result = await link.call(known.name, tool_args)
        except Down as error:
            raise ToolFailed(f"{error}.") from error
        if result.is_error:
            raise ToolFailed(_text_of(result) or f"{name} failed, and did not say why")
        return _given(name, result)

    async def _linked(self) -> Link:
        """The connection; a new one if there is none, or none any more."""
        if self._link is None or self._link.down:
            self._link = self._server.link(self._run)
        link = self._link
        await link.ready()
        self._server.learn(link.tools)
        return link


def _definition(name: str, tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=name,
        description=tool.description or tool.title,
        parameters_json_schema=tool.input_schema,
        metadata=_nature(tool),
    )


def _nature(tool: Tool) -> dict[str, Any]:
    """What a server says of calling it again, as the engine takes it."""
    if (hints := tool.annotations) is None:
        return {}
    if hints.read_only_hint:
        return {"nature": "read_only"}
    return {"nature": "idempotent"} if hints.idempotent_hint else {}


def _to_try_again(name: str, server: str) -> ToolDefinition:
    return ToolDefinition(
        name=name,
        description=f"The MCP server {server} could not be used, so its tools are not known. "
        "Calling this tries again, and tells why if it is in vain.",
        parameters_json_schema={"type": "object", "properties": {}},
    )


# what comes back


def _given(name: str, result: CallToolResult) -> str | ToolReturn[str]:
    """The text for the transcript; pictures beside it, for this run's model alone."""
    attached = [one for block in result.content if (one := _attached(block))]
    text = _text_of(result) or "[nothing]"
    if not attached:
        return text
    if len(attached) > _MOST_PICTURES:
        text += f"\n[only the first {_MOST_PICTURES} pictures are shown]"
    return ToolReturn(text, content=[f"[from {name}]", *attached[:_MOST_PICTURES]])


def _text_of(result: CallToolResult) -> str:
    parts = [_text(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n".join(parts)
    if len(text) <= _LONGEST_TEXT:
        return text
    half = _LONGEST_TEXT // 2
    cut = len(text) - 2 * half
    return f"{text[:half]}\n… {cut:,} characters cut …\n{text[-half:]}"


def _text(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ImageContent(mime_type=kind) | AudioContent(mime_type=kind):
            return f"[{kind}]" if _attached(block) else f"[{kind}, which cannot be shown]"
        case EmbeddedResource(resource=BlobResourceContents(uri=uri, mime_type=kind)):
            return f"[{uri}: {kind or 'data'}]"
        case EmbeddedResource(resource=resource):
            return getattr(resource, "text", "")
        case _:
            return f"[{block.name}: {block.uri}]"


def _attached(block: ContentBlock) -> BinaryContent | None:
    """A picture, if it is one that every provider takes: one that it refuses fails the run."""
    match block:
        case ImageContent(data=data, mime_type=kind):
            pass
        case EmbeddedResource(resource=BlobResourceContents(blob=data, mime_type=str(kind))):
            pass
        case _:
            return None
    if kind not in PICTURES or len(data) > _LARGEST_PICTURE:
        return None  # the text says that there was one
    try:
        picture = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return BinaryContent(picture, media_type=kind) if picture.startswith(PICTURES[kind]) else None
