"""A pydantic-ai agent."""

from __future__ import annotations

from pydantic_ai import Agent, CancellationToken, RunCancelled
from pydantic_ai.messages import (
    ModelMessage,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.run import AgentRunResultEvent

from lastword.engines.pydantic_ai import PydanticAI
from tests.check.frameworks.inside import Hear, Inside, Tools


def an_agent(url: str, tools: Tools) -> Agent[None, str]:
    provider = OpenAIProvider(base_url=f"{url}/v1", api_key="no key")
    return Agent(OpenAIChatModel("scripted", provider=provider), tools=tools)


class Bare:
    """The agent alone, stopped by the framework's own token."""

    def __init__(self, url: str, tools: Tools) -> None:
        self.agent = an_agent(url, tools)
        self.history: list[ModelMessage] = []
        self.token: CancellationToken | None = None

    async def start(self, text: str, hear: Hear) -> None:
        self.token = token = CancellationToken()
        try:
            async with self.agent.run_stream_events(
                text, message_history=self.history, cancellation_token=token
            ) as events:
                async for event in events:
                    match event:
                        case PartStartEvent(part=TextPart(content=said)):
                            hear(said)
                        case PartDeltaEvent(delta=TextPartDelta(content_delta=said)):
                            hear(said)
                        case AgentRunResultEvent(result=result):
                            self.history = result.all_messages()
                        case _:
                            pass
        except RunCancelled as cancelled:
            self.history = cancelled.all_messages()
            raise

    def cancel(self) -> None:
        if self.token:
            self.token.cancel()


class InLastword(Inside):
    """The same agent, in lastword's engine."""

    def __init__(self, url: str, tools: Tools) -> None:
        super().__init__(PydanticAI(an_agent(url, tools)))
