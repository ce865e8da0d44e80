"""The wire to an MCP server: what leaves is checked, and what a stop leaves open is called off.

The SDK's client session reads and writes it. A request leaves only while the run may act; the one
thing that is said afterwards is that the requests which are still open are cancelled, once each.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from types import TracebackType
from typing import Protocol, Self, TypeAlias, cast

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from lastword.agent.tools.told import plain
from lastword.errors import Superseded
from lastword.processes import Process
from lastword.processes.process import Completed
from lastword.runtime.run import Run

_CANCELLED = "notifications/cancelled"
GOODBYE = 0.5  # seconds in which a server can be told that a call is off
_LAST_WORDS = 0.5  # seconds in which one that has closed its output may end by itself
LONGEST = 16 << 20  # bytes of a message
_CHATTER = 100  # lines in a row that are no messages; more are too many
_STDERR = 1 << 16  # bytes


class McpPeer(Protocol):
    """The other side, by whatever way it is reached."""

    async def receive(self) -> SessionMessage | Exception: ...
    async def send(self, item: SessionMessage) -> None: ...
    async def call_off(self, item: SessionMessage) -> None:
        """Send this last word; nobody waits for it to be read."""

    async def told(self) -> None:
        """Return when the last words have left."""

    def epitaph(self) -> str:
        """What is known of its end."""
        ...


Connect: TypeAlias = Callable[[Run], AbstractAsyncContextManager[McpPeer]]


class Wire:
    """Both directions, as the SDK's session takes them."""

    def __init__(self, peer: McpPeer, run: Run, name: str) -> None:
        self.over = asyncio.Event()
        self._peer = peer
        self._run = run
        self._name = name
        self._open: dict[RequestId, None] = {}

    async def send(self, item: SessionMessage) -> None:
        """Let a message leave, if the run may still act."""
        match item.message:
            case JSONRPCNotification(method=method, params=params) if method == _CANCELLED:
                await self._call_off((params or {}).get("requestId"), item)
            case JSONRPCRequest(id=id_, method=method):
                self._run.must_hold(f"this request to the MCP server {self._name}")
                if method != "initialize":  # which must not be called off
                    self._open[id_] = None
                await self._peer.send(item)
            case _ if self._run.current:
                await self._peer.send(item)
            case _:
                pass

    async def receive(self) -> SessionMessage | Exception:
        """The next message; what is late is nobody's."""
        try:
            item = await self._peer.receive()
        except Superseded:
            self.over.set()
            raise anyio.EndOfStream from None
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self.over.set()
            raise
        if isinstance(item, SessionMessage) and isinstance(
            item.message, JSONRPCResponse | JSONRPCError
        ):
            self._open.pop(cast("RequestId", item.message.id), None)
        return item

    async def goodbye(self) -> None:
        """Call off what is open. Bounded, and no more than an attempt."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE):
                # at once: a server may be slow to take note of the first
                await asyncio.gather(*(self._call_off(id_, _off(id_)) for id_ in self._open))
                await self._peer.told()

    async def _call_off(self, id_: object, item: SessionMessage) -> None:
        if id_ not in self._open:
            return  # it was answered, or called off before
        del self._open[cast("RequestId", id_)]
        with suppress(TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with asyncio.timeout(GOODBYE):
                await self._peer.call_off(item)

    # the rest of what a stream has to have

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Whoever opened the way to the peer closes it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


def _off(id_: RequestId) -> SessionMessage:
    params = {"requestId": id_, "reason": "the person stopped it"}
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=_CANCELLED, params=params))


class Pipes:
    """A server that is a process of the run."""

    def __init__(self, process: Process, chunks: AsyncGenerator[bytes]) -> None:
        self.code: int | None = None  # how it ended, if it did so by itself
        self._process = process
        self._chunks = chunks
        self._unread = bytearray()
        self._chatter = 0
        self._garbage = ""

    async def receive(self) -> SessionMessage:
        """The next line that is a message."""
        while True:
            line = await self._line()
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                self._take_note(line)
            else:
                self._chatter = 0
                return SessionMessage(message)

    async def _line(self) -> bytes:
        looked = 0
        while (end := self._unread.find(b"\n", looked)) < 0:
            looked = len(self._unread)
            if looked > LONGEST:
                self._take_note(bytes(self._unread[:200]))
                raise anyio.EndOfStream
            try:
                self._unread += await anext(self._chunks)
            except StopAsyncIteration:
                raise anyio.EndOfStream from None
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _take_note(self, line: bytes) -> None:
        """Many a server prints what it is doing; but a broken answer is waited for in vain."""
        if not line.strip():
            return
        self._garbage = plain(line[:200].decode(errors="replace")).strip()
        self._chatter += 1
        if b'"jsonrpc"' in line or self._chatter > _CHATTER:
            raise anyio.EndOfStream

    async def send(self, item: SessionMessage) -> None:
        """Write a line; the wire has just checked that it may be."""
        if not await asyncio.shield(self._write(item)):
            raise anyio.BrokenResourceError

    async def call_off(self, item: SessionMessage) -> None:
        """Write it in this very step: the process is being asked to end."""
        self._write(item)

    async def told(self) -> None:
        """After the last word comes the end of its input."""
        if self._process.stdin:
            self._process.stdin.end()

    def _write(self, item: SessionMessage) -> asyncio.Future[bool]:
        if self._process.stdin is None:
            raise anyio.ClosedResourceError
        return self._process.stdin.begin(written(item) + b"\n")

    def epitaph(self) -> str:
        """How it ended, what it wrote that is no message, and the last of its errors."""
        errors = self._process.stderr
        written = plain(errors.for_the_owner()).strip() if errors else ""
        parts = [str(Completed(self.code, "")).strip("[]")] if self.code is not None else []
        parts += [f"it wrote, where only messages belong: {self._garbage}"] if self._garbage else []
        parts += [f"its errors end: {written[-500:]}"] if written else []
        return "; ".join(parts)


def written(item: SessionMessage) -> bytes:
    """A message as it is sent."""
    return item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def by_pipes(
    command: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
    grace: float,
) -> Connect:
    """Start the server as a process of the run, which ends no later than it."""

    @asynccontextmanager
    async def connect(run: Run) -> AsyncGenerator[Pipes]:
        process = await run.spawn(
            *command,
            cwd=cwd,
            env=get_default_environment() | dict(env or {}),  # and none of the person's keys
            stdin="pipe",
            on_stop="leave",  # so that it hears what was called off
            grace=grace,
            output_limit=_STDERR,
        )
        chunks = cast("AsyncGenerator[bytes]", aiter(process.stdout))
        pipes = Pipes(process, chunks)
        try:
            async with aclosing(chunks):
                yield pipes
        finally:
            if run.current:  # otherwise the run's own end sees to it
                pipes.code = await _end_of(process)
                await process.end(grace)

    return connect


async def _end_of(process: Process) -> int | None:
    """How it ended, if it has, or is about to."""
    if not process.stdout.open:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await process.wait()
    return process.code
