"""A function, and a generator, that play the script by themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from lastword import Run
from lastword.engines.function import function
from lastword.errors import EngineFailed
from lastword.testing.provider import Answer, Call
from lastword.testing.provider.script import Part
from tests.engines.told import Tool


class Plain:
    """A function or a generator that plays the script by itself."""

    def __init__(self, kind: str) -> None:
        self.engine = function(self._talk if kind == "generator" else self._say)
        self.steered: list[str] = []
        self._script: deque[Answer | None] = deque()
        self._tools: dict[str, Tool] = {}

    def answer(self, *parts: Part | str, paced: bool = False) -> Answer:
        self._script.append(Answer(*parts, paced=paced))
        return self._script[-1] or Answer()

    def fail(self) -> None:
        self._script.append(None)

    def tool(self, tool: Tool) -> None:
        self._tools[tool.__name__] = tool

    async def _say(self, run: Run) -> None:
        async for text in self._talk(run):
            await run.emit(text)

    async def _talk(self, run: Run) -> AsyncIterator[str]:
        calls = True
        while calls:
            self.steered += [message.text for message in await run.steering()]
            answer = self._script.popleft()
            if answer is None:
                raise EngineFailed("scripted to fail")
            for part in answer.parts:
                if isinstance(part, Call):
                    await run.call(self._tools[part.name], **part.arguments)
                    continue
                for chunk in part.chunks:
                    await answer.turn()
                    yield chunk
                    answer.left()
            answer.end()
            calls = bool(answer.calls)


@asynccontextmanager
async def plain(kind: str) -> AsyncGenerator[Plain]:
    """A function of the test's own."""
    yield Plain(kind)
