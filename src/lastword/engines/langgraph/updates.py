"""What a graph's nodes hand on beside what its models say: answers of their own, and questions.

A node may answer the person by itself, or a call that a model asked for. What a model said was
passed on where it came in, and is told from the node's own by its id, or its words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langgraph.types import Command, Interrupt

from lastword.engines.langgraph.history import is_ours
from lastword.engines.langgraph.talk import GraphTalk

_ASKED = "__interrupt__"
_DEEPER = "|"


class Updates:
    """Of one run."""

    def __init__(self, talk: GraphTalk) -> None:
        self._talk = talk
        self._graphs: set[tuple[str, ...]] = set()  # nodes that are graphs: of theirs, all is heard
        self.asked: list[Interrupt] = []
        self.paused = False

    async def take(self, where: tuple[str, ...], update: dict[str, Any]) -> None:
        """What the nodes of a graph, or of one inside of it, hand on."""
        self._graphs |= {_names(where[: depth + 1]) for depth in range(len(where))}
        if self._is_in_a_tool(where):
            return
        for node, handed in update.items():
            if node == _ASKED:
                if not where:
                    self.asked += handed
                    self.paused = True
            else:
                passed_on = (*_names(where), node) in self._graphs
                for message in _messages(handed):
                    await self._message(message, passed_on=passed_on)

    async def _message(self, message: BaseMessage, *, passed_on: bool) -> None:
        if isinstance(message, ToolMessage):
            await self._talk.settle(message)
        elif isinstance(message, AIMessage) and not passed_on and not is_ours(message):
            text = message.text
            if isinstance(message, AIMessageChunk) or not text.strip():
                return
            if self._talk.heard_of(message):
                return
            self._talk.told(message, text)
            await self._talk.run.emit(text)

    def _is_in_a_tool(self, where: tuple[str, ...]) -> bool:
        inside = _DEEPER.join(where)
        return any(
            inside == one or inside.startswith(f"{one}{_DEEPER}")
            for one in self._talk.within
            if one
        )


def _names(where: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one.partition(":")[0] for one in where)


def _messages(handed: object) -> Iterator[BaseMessage]:
    """Those among what a node gave."""
    match handed:
        case BaseMessage():
            yield handed
        case Command():
            yield from _messages(cast("Command[Any]", handed).update)
        case dict():
            for value in cast("dict[str, object]", handed).values():
                if isinstance(value, BaseMessage | list):
                    yield from _messages(cast("object", value))
        case list() | tuple():
            for value in cast("list[object]", handed):
                yield from _messages(value)
        case _:
            return
