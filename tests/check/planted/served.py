"""What the planted servers share: HTTP, and the agent behind it.

    python as_KIND.py PORT FAULT [MCP COMMAND]

Beside the faults of the agent, a server may refuse its stops, or know no such address.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.check.planted.as_acp import Tools
from tests.check.planted.core import Agent, Turn

REFUSES = {"refuses-stops": 409, "knows-no-stops": 404}
_LINGERS = 1.0  # seconds for which a stream is open behind its end, to whoever talks on


class Conversation:
    """One agent, and what it is doing."""

    def __init__(self, url: str, fault: str) -> None:
        self.agent = Agent(url, fault)
        self.task: asyncio.Task[None] | None = None
        self.turn: Turn | None = None

    async def answer(self, text: str, hear: Callable[[str], None]) -> str:
        """To the end; how it ended."""
        agent = self.agent
        if agent.fault == "deaf-after-a-stop" and agent.stopped_in_text:
            agent.stopped_in_text = False
            return "cancelled"
        self.turn = turn = Turn(hear, hear)
        self.task = task = asyncio.ensure_future(agent.answer(turn, text))
        await asyncio.wait([task])
        return "cancelled" if task.cancelled() else "completed"

    async def stop(self) -> None:
        """Until it has ended."""
        if self.task and not self.waits():
            self.task.cancel()
            await asyncio.wait([self.task])

    def waits(self) -> bool:
        turn = self.turn
        return self.agent.fault == "waits-for-the-model" and turn is not None and turn.waiting


class Server:
    """Requests, one to a connection."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.conversations: dict[str, Conversation] = {}
        self.tools: list[tuple[Tools, list[dict[str, Any]]]] = []

    def conversation(self, name: str) -> Conversation:
        """The one of this name, begun if there is none."""
        if name not in self.conversations:
            url = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
            made = self.conversations[name] = Conversation(url, self.fault)
            for tools, offered in self.tools:
                for one in offered:
                    made.agent.offer(one["name"], one["inputSchema"], self.tool(tools, one["name"]))
        return self.conversations[name]

    def tool(self, tools: Tools, name: str) -> Any:
        async def call(turn: Turn, **arguments: Any) -> str:
            turn.inside = True
            return await tools.call(name, arguments, self.fault)

        return call

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        lines = [line.lower() for line in head.split("\r\n")]
        size = next((int(one[15:]) for one in lines if one.startswith("content-length:")), 0)
        body: dict[str, Any] = json.loads(await reader.readexactly(size) or b"{}")
        try:
            await self.asked(method, path.strip("/").split("/"), body, writer)
            await writer.drain()
        finally:
            writer.close()

    async def asked(
        self, method: str, path: list[str], body: Mapping[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        raise NotImplementedError

    async def stopped(self, name: str, writer: asyncio.StreamWriter, told: Any) -> None:
        """Stop what goes on there, unless that is refused."""
        if self.fault in REFUSES:
            whole(writer, {"error": "no"}, REFUSES[self.fault])
            return
        await self.conversation(name).stop()
        if not self.conversation(name).waits():
            whole(writer, told)
        else:
            await asyncio.Event().wait()

    async def linger(self) -> None:
        if self.fault == "talks-on":
            await asyncio.sleep(_LINGERS)

    @classmethod
    async def serve(cls) -> None:
        """As it is typed."""
        port, fault, *command = sys.argv[1:]
        server = cls("" if fault == "good" else fault)
        if command:
            tools = Tools()
            told = {"command": command[0], "args": command[1:], "env": []}
            server.tools.append((tools, await tools.start(told)))
        listening = await asyncio.start_server(server.handle, "127.0.0.1", int(port), limit=1 << 22)
        await listening.serve_forever()


def whole(writer: asyncio.StreamWriter, body: Any, status: int = 200) -> None:
    data = json.dumps(body).encode()
    writer.write(b"HTTP/1.1 %d So\r\ncontent-length: %d\r\n\r\n" % (status, len(data)) + data)


def stream(writer: asyncio.StreamWriter) -> Callable[..., None]:
    """Events, from now on."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")

    def event(**what: Any) -> None:
        if not writer.is_closing():
            writer.write(f"data: {json.dumps(what)}\n\n".encode())

    return event
