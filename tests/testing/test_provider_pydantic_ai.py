"""The scripted provider, as pydantic-ai speaks to it: agent loops, strictly judged."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import (
    AgentStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from lastword.testing.provider import Call, Provider, Say, Think

FORMATS = ["chat", "responses", "anthropic"]


@asynccontextmanager
async def model(provider: Provider, format: str) -> AsyncGenerator[Model]:
    if format == "anthropic":
        async with AsyncAnthropic(base_url=provider.url, api_key="k", max_retries=0) as client:
            own = AnthropicProvider(anthropic_client=client)
            yield AnthropicModel("claude-opus-4-8", provider=own)
        return
    url = f"{provider.url}/v1"
    async with AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
        kind = OpenAIChatModel if format == "chat" else OpenAIResponsesModel
        yield kind("gpt-5", provider=OpenAIProvider(openai_client=client))


def agent(model: Model) -> Agent[None, str]:
    made = Agent(model, instructions="be brief")

    @made.tool_plain
    def read(path: str) -> str:
        return f"what is in {path}"

    return made


def script(provider: Provider) -> None:
    provider.answer(
        Think("hm"), Say("I look. "), Call("read", {"path": "x"}), Call("read", {"path": "y"})
    )
    provider.answer(Think("ah"), Say("Two ", "files."))
    provider.answer(Say("Bye."))


@pytest.mark.parametrize("format", FORMATS)
async def test_an_agent_thinks_calls_tools_and_goes_on(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        script(provider)
        first = await agent(own).run("what is there?")
        second = await agent(own).run("bye", message_history=first.all_messages())

    assert (first.output, second.output) == ("Two files.", "Bye.")
    assert provider.refused == []
    assert provider.requests[1].results == ["what is in x", "what is in y"]
    parts = [part for message in first.all_messages() for part in message.parts]
    assert [part.content for part in parts if isinstance(part, ThinkingPart)] == ["hm", "ah"]
    assert len({part.tool_call_id for part in parts if isinstance(part, ToolCallPart)}) == 2


@pytest.mark.parametrize("format", FORMATS)
async def test_an_agent_streams_what_was_scripted(format: str) -> None:
    heard: list[str] = []

    async def listen(_: RunContext[None], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            match event:
                case PartStartEvent(part=TextPart(content)):
                    heard.append(content)
                case PartDeltaEvent(delta=TextPartDelta(content)):
                    heard.append(content)
                case _:
                    pass

    async with Provider() as provider, model(provider, format) as own:
        script(provider)
        first = await agent(own).run("what is there?", event_stream_handler=listen)
        second = await agent(own).run("bye", message_history=first.all_messages())

    assert heard == ["I look. ", "Two ", "files."]
    assert (first.output, second.output) == ("Two files.", "Bye.")
    assert all(request.stream for request in provider.requests[:2])
    assert provider.refused == []


@pytest.mark.parametrize("format", FORMATS)
async def test_a_cancelled_agent_closes_its_connection(format: str) -> None:
    async def listen(_: RunContext[None], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for _event in events:
            pass

    async with Provider() as provider, model(provider, format) as own:
        answer = provider.say("a", "b", "c", paced=True)
        running = asyncio.create_task(agent(own).run("go", event_stream_handler=listen))
        request = await provider.asked()
        await answer.release()
        running.cancel()
        await asyncio.wait([running])
        await request.closed.wait()

    assert request.sent == 1
