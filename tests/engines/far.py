"""Tools and scripts of a test, for an engine that lives in another process: asked over a socket.

What a tool does is done in the test, so that it can hold one up; the call is made where the engine
is. Who asked and has gone is not answered.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from lastword import Run
from lastword.engines.function import function
from lastword.errors import EngineFailed
from lastword.testing.provider import Answer, Call
from tests.engines.subject_plain import Plain
from tests.engines.told import Tool


class FarSide:
    """The test's end, of one kind of engine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tools: dict[str, Tool] = {}
        self.asked: dict[str, Callable[..., Any]] = {
            "tools": lambda: list(self.tools),
            "call": self._call,
        }

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._answer, self.path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    def _call(self, name: str) -> Any:
        return self.tools[name]()

    def add(self, tool: Tool) -> None:
        """A run that begins from here on has this one, and none that was added before."""
        self.tools = {tool.__name__: tool}

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        what, *given = json.loads(await reader.readline())
        answer = self.asked[what](*given)
        if asyncio.iscoroutine(answer):
            answer = await answer
        with suppress(ConnectionError):
            writer.write(json.dumps(answer).encode() + b"\n")
            writer.close()


async def ask(path: str, *what: Any) -> Any:
    """For the engine."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        writer.write(json.dumps(what).encode() + b"\n")
        return json.loads(await reader.readline())
    finally:
        writer.close()


async def tools_of(path: str) -> list[Tool]:
    """Those that a run has."""
    return [_tool(path, name) for name in await ask(path, "tools")]


def _tool(path: str, name: str) -> Tool:
    async def call() -> str:
        return await ask(path, "call", name)

    call.__name__ = call.__qualname__ = name
    return call


class FarPlain(Plain):
    """The test's end of a function or a generator that plays a script."""

    def __init__(self, kind: str, side: FarSide) -> None:
        super().__init__(kind)
        self._side = side
        self._now: Answer = Answer()
        side.asked |= {
            "steered": self.steered.extend,
            "next": self._next,
            "turn": self._turn,
            "left": self._left,
            "end": self._end,
        }

    def tool(self, tool: Tool) -> None:
        self._side.add(tool)

    async def _turn(self) -> None:
        await self._now.turn()

    def _left(self) -> None:
        self._now.left()

    def _end(self) -> None:
        self._now.end()

    def _next(self) -> list[list[str]] | None:
        answer = self._script.popleft()
        if answer is None:
            return None
        self._now = answer
        parts = answer.parts
        return [[part.name] if isinstance(part, Call) else ["", *part.chunks] for part in parts]


class NearPlain(Plain):
    """The same, where the engine is."""

    def __init__(self, kind: str, path: str) -> None:
        super().__init__(kind)
        self.engine = function(self._talk if kind == "generator" else self._say)
        self._path = path

    async def _talk(self, run: Run) -> AsyncIterator[str]:
        calls = True
        while calls:
            await ask(self._path, "steered", [one.text for one in await run.steering()])
            parts = await ask(self._path, "next")
            if parts is None:
                raise EngineFailed("scripted to fail")
            for name, *chunks in parts:
                if name:
                    await run.call(_tool(self._path, name))
                for chunk in chunks:
                    await ask(self._path, "turn")
                    yield chunk
                    await ask(self._path, "left")
            await ask(self._path, "end")
            calls = any(name for name, *_ in parts)
