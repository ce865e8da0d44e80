"""AG-UI's npm client in Node: what it is told to do, and what it lets through of what it hears."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.server.client import SECRET
from tests.server.page_check import HERE, MISSING, NODE, PACKAGES

_LIBRARY = PACKAGES / "@ag-ui" / "client" / "dist" / "index.mjs"
_STREAMS = PACKAGES / "rxjs" / "dist" / "cjs" / "index.js"  # of which its events are


class Agent:
    """One of its agents: a thread, as one client has it."""

    def __init__(self, node: Node, name: str, thread: str, token: str) -> None:
        self._node, self._name, self._thread, self._token = node, name, thread, token
        self.events: list[Any] = []  # of its last run

    async def run(
        self, text: str = "", id_: str = "", query: str = "", say: object = None, **parameters: Any
    ) -> None:
        """Begin a run, with words of a person's if there are any."""
        said = say or ({"id": id_ or f"said {text}", "content": text} if text else None)
        url = f"http://127.0.0.1:{self._node.port}/v1/agui{query}"
        about = {"url": url, "thread": self._thread, "token": self._token, "say": said}
        self.events = []
        await self._node.do(self._name, "run", **about, parameters=parameters)

    async def abort(self) -> None:
        """What a person's button does."""
        await self._node.do(self._name, "abort")

    async def upto(self, kind: str) -> Any:
        """The next event of a kind, or of our own by that name."""
        while True:
            told = await self._node.next(self._name)
            assert "event" in told, (kind, told, self.kinds)
            self.events.append(told["event"])
            if kind in (self.events[-1]["type"], self.events[-1].get("name")):
                return self.events[-1]

    async def end(self) -> Any:
        """How its run ended: the last event, what the client made of it, and its messages."""
        while "event" in (told := await self._node.next(self._name)):
            self.events.append(told["event"])
        last = self.events[-1] if self.events else None
        return {"last": last, **told["end"]}

    async def said(self, text: str = "", **more: Any) -> Any:
        """A run from its beginning to its end."""
        await self.run(text, **more)
        return await self.end()

    @property
    def kinds(self) -> list[str]:
        """Of what it heard, each once in a row."""
        every = [one.get("name") or one["type"] for one in self.events]
        return [one for at, one in enumerate(every) if at == 0 or one != every[at - 1]]

    @property
    def text(self) -> str:
        """All that it heard the agent say."""
        kind = "TEXT_MESSAGE_CONTENT"
        return "".join(one["delta"] for one in self.events if one["type"] == kind)


class Node:
    """A process with any number of them."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.port = port
        self._process = process
        self._heard: defaultdict[str, asyncio.Queue[Any]] = defaultdict(asyncio.Queue)

    def agent(self, name: str, thread: str, token: str = SECRET) -> Agent:
        return Agent(self, name, thread, token)

    async def hear(self, name: str, events: object) -> Any:
        """What the client makes of a stream that is there already."""
        await self.do(name, "hear", events=events)
        return (await self.next(name))["end"]

    async def do(self, agent: str, does: str, **more: object) -> None:
        assert self._process.stdin
        line = json.dumps({"agent": agent, "does": does, **more}) + "\n"
        self._process.stdin.write(line.encode())
        await self._process.stdin.drain()

    async def next(self, agent: str) -> Any:
        return await self._heard[agent].get()

    async def listen(self) -> None:
        assert self._process.stdout
        while line := await self._process.stdout.readline():
            told = json.loads(line)
            self._heard[told["agent"]].put_nowait(told)


@asynccontextmanager
async def clients(port: int = 0) -> AsyncGenerator[Node]:
    """AG-UI's clients of a server, if there is one."""
    if not (NODE.exists() and _LIBRARY.exists()):
        pytest.skip(MISSING)
    pipe = asyncio.subprocess.PIPE
    modules = _LIBRARY.as_uri(), _STREAMS.as_uri()
    process = await asyncio.create_subprocess_exec(
        NODE, HERE / "agui.js", *modules, stdin=pipe, stdout=pipe, limit=1 << 26
    )
    node = Node(process, port)
    listening = asyncio.create_task(node.listen())
    try:
        yield node
    finally:
        process.kill()
        await process.wait()
        await listening
