"""An agent of LangChain's, which is a graph of LangGraph's."""

# the framework's own types are known in part
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

from lastword.engines.langgraph import LangGraph
from tests.check.frameworks.inside import Hear, Inside, Tools


def a_graph(url: str, tools: Tools) -> Any:
    key = SecretStr("no key")
    model = ChatOpenAI(model="scripted", base_url=f"{url}/v1", api_key=key, streaming=True)
    return create_agent(model, tools, checkpointer=InMemorySaver())


class Bare:
    """The graph alone, with the framework's own memory, in a task that is cancelled."""

    def __init__(self, url: str, tools: Tools) -> None:
        self.graph = a_graph(url, tools)
        self.task: asyncio.Task[None] | None = None

    async def start(self, text: str, hear: Hear) -> None:
        self.task = asyncio.ensure_future(self._answer(text, hear))
        await self.task

    async def _answer(self, text: str, hear: Hear) -> None:
        asked, config = {"messages": [("user", text)]}, {"configurable": {"thread_id": "1"}}
        async for chunk, _ in self.graph.astream(asked, config, stream_mode="messages"):
            if chunk.type == "AIMessageChunk" and isinstance(chunk.content, str):
                hear(chunk.content)

    def cancel(self) -> None:
        if self.task:
            self.task.cancel()


class InLastword(Inside):
    """The same graph, in lastword's engine."""

    def __init__(self, url: str, tools: Tools) -> None:
        super().__init__(LangGraph(a_graph(url, tools)))
