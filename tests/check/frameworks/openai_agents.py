"""An agent of the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    RunResultStreaming,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from lastword.engines.openai_agents import OpenAIAgents
from tests.check.frameworks.inside import Hear, Inside, Tools


def an_agent(url: str, tools: Tools) -> Agent:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="no key")
    model = OpenAIChatCompletionsModel("scripted", client)
    return Agent("check", model=model, tools=[function_tool(tool) for tool in tools])


class Bare:
    """The agent alone, with the framework's own session, stopped by its own `cancel`."""

    def __init__(self, url: str, tools: Tools) -> None:
        self.agent = an_agent(url, tools)
        self.session = SQLiteSession("check")
        self.going: RunResultStreaming | None = None
        self.stopped = False

    async def start(self, text: str, hear: Hear) -> None:
        self.stopped = False
        self.going = Runner.run_streamed(self.agent, text, session=self.session)
        async for event in self.going.stream_events():
            if (
                event.type == "raw_response_event"
                and event.data.type == "response.output_text.delta"
            ):
                hear(event.data.delta)
        if self.stopped:
            raise asyncio.CancelledError

    def cancel(self) -> None:
        if self.going:
            self.stopped = True
            self.going.cancel()


class InLastword(Inside):
    """The same agent, in lastword's engine."""

    def __init__(self, url: str, tools: Tools) -> None:
        super().__init__(OpenAIAgents(an_agent(url, tools)))
