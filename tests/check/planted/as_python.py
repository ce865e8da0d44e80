"""The planted agent as a Python target: `tests.check.planted.as_python:FAULT`, or `:good`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from tests.check.planted.core import Agent, Turn

_SCHEMA = {
    "type": "object",
    "properties": {"run": {"type": "string"}, "n": {"type": "integer"}, "fuse": {"type": "number"}},
}


class Talk:
    """One conversation."""

    everybody: ClassVar[list[Talk]] = []

    def __init__(self, url: str, tools: list[Callable[..., Any]], fault: str) -> None:
        self.agent = Agent(url, fault)
        self.turn: Turn | None = None
        self.task: asyncio.Task[None] | None = None
        self.poison = False
        for tool in tools:
            self.agent.offer(tool.__name__, _SCHEMA, self._wrapped(tool))
        self.everybody.append(self)

    def _wrapped(self, tool: Callable[..., Any]) -> Callable[..., Any]:
        async def call(turn: Turn, **arguments: Any) -> str:
            if inspect.iscoroutinefunction(tool):
                turn.inside = True
                return str(await tool(**arguments))
            try:
                return str(await asyncio.to_thread(tool, **arguments))
            except asyncio.CancelledError:
                fault = self.agent.fault
                if fault != "hides-threads":
                    another = fault == "names-another-thread"
                    turn.named.append("lw_other" if another else tool.__name__)
                raise

        return call

    async def start(self, text: str, hear: Callable[[str], None]) -> None:
        if self.poison or (self.agent.fault == "deaf-after-a-stop" and self.agent.stopped_in_text):
            self.poison = self.agent.stopped_in_text = False
            raise asyncio.CancelledError
        if self.task and not self.task.done():  # new words have the say
            self.task.cancel()
            await asyncio.wait([self.task])
        self.turn = turn = Turn(hear, hear)
        self.task = task = asyncio.ensure_future(self.agent.answer(turn, text))
        await task

    def cancel(self) -> list[str] | None:
        fault, turn, task = self.agent.fault, self.turn, self.task
        if task is None or task.done() or turn is None:
            self.poison = fault == "poisoned-when-idle"
            return None
        if fault == "waits-for-the-model" and turn.waiting:
            return None
        if fault == "stops-everybody":
            for one in self.everybody:
                if one.task:
                    one.task.cancel()
        task.cancel()
        return turn.named


def __getattr__(name: str) -> Callable[..., Talk]:
    fault = "" if name == "good" else name.replace("_", "-")

    def factory(url: str, tools: list[Callable[..., Any]]) -> Talk:
        return Talk(url, tools, fault)

    return factory
