"""What the stories of AG-UI's clients share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lastword import Engine, Run, Runtime
from lastword.server import ApiToken, Right, ServerLimits
from tests.server.agui_node import Node, clients
from tests.server.client import SECRET, Client, served

OTHER = "the token of somebody else"
SUCCESS = {"type": "success"}
CANCELLED = {"type": "cancelled"}


class Speaker:
    """Says a word now and then, once it is let, for as long as it may."""

    def __init__(self, *, let: bool = True) -> None:
        self.go = asyncio.Event()
        self.runs: list[Run] = []
        if let:
            self.go.set()

    async def __call__(self, run: Run) -> None:
        self.runs.append(run)
        await run.emit(f"about {run.message.text}: ")
        await self.go.wait()
        while True:
            await run.emit("word ")
            await asyncio.sleep(0.01)  # no flood: what is behind is another story


class Worker:
    """Thinks, speaks, calls a tool that a test lets go on, and speaks again."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.began = asyncio.Event()
        self.runs = 0

    async def __call__(self, run: Run) -> None:
        self.runs += 1

        async def look(where: str) -> str:
            self.began.set()
            await self.go.wait()
            return f"seen {where}"

        await run.think("hm, ")
        await run.think("yes")
        await run.emit("I look")
        await run.emit(" there. ")
        await run.emit(await run.call(look, "outside"))


@asynccontextmanager
async def agents(
    engine: Engine,
    rights: tuple[Right, ...] | None = None,
    limits: ServerLimits | None = None,
    **settings: Any,
) -> AsyncGenerator[tuple[Client, Node]]:
    """A server of an engine, and AG-UI's clients of it; somebody else has these rights."""
    tokens = [ApiToken(SECRET, "ann", principal="home")]
    if rights is not None:
        tokens.append(ApiToken(OTHER, "bob", rights, "home"))
    async with (
        Runtime(engine, **settings) as runtime,
        served(runtime, tokens=tuple(tokens), limits=limits) as client,
        clients(client.port) as node,
    ):
        yield client, node


def body(**more: object) -> dict[str, object]:
    """What a client asks with that is none of npm's."""
    return {"threadId": "t", "runId": "r", "messages": [], **more}


def user(text: str, **more: object) -> dict[str, object]:
    return {"id": f"said {text}", "role": "user", "content": text, **more}


def told(answer: Any) -> list[Any]:
    """The events of an answer."""
    lines = answer.body.decode().split("\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


async def gone(client: Client, but: int = 0) -> None:
    """Nobody follows anything any more, but so many."""

    async def watchers() -> str:
        lines = (await client.get("/metrics")).body.decode().split("\n")
        return next(line for line in lines if line.startswith("lastword_watchers "))

    while await watchers() != f"lastword_watchers {but}":
        await asyncio.sleep(0)
