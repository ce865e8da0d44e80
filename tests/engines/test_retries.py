"""A client of a provider's that waits to try again, inside one request, and is stopped there."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent

from lastword import Engine, FeedEvent, Outcome, Runtime
from lastword.engines.anthropic import Anthropic
from lastword.engines.openai import OpenAI, OpenAIResponses
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Provider
from tests.engines.stories import said
from tests.engines.wire import FORMATS, model


@asynccontextmanager
async def agent(provider: Provider, format: str) -> AsyncGenerator[Engine]:
    async with model(provider, format, retries=3) as own:
        yield PydanticAI(Agent(own))


@asynccontextmanager
async def loop(provider: Provider, format: str) -> AsyncGenerator[Engine]:
    if format == "anthropic":
        async with AsyncAnthropic(base_url=provider.url, api_key="k", max_retries=3) as client:
            yield Anthropic(client, "claude-opus-4-8")
        return
    url = f"{provider.url}/v1"
    async with AsyncOpenAI(base_url=url, api_key="k", max_retries=3) as client:
        yield (OpenAI if format == "chat" else OpenAIResponses)(client, "gpt-5")


ENGINES = {
    **{f"pydantic-ai {spoken}": partial(agent, format=spoken) for spoken in FORMATS},
    **{f"sdk {spoken}": partial(loop, format=spoken) for spoken in FORMATS},
}


@pytest.mark.scenario("S5")
@pytest.mark.parametrize("kind", ENGINES)
async def test_a_stop_while_a_client_waits_to_try_again_ends_the_trying(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, ENGINES[kind](provider) as engine:
        provider.fail(429, "not so fast", retry_after=30)
        async with Runtime(engine, sink=heard.append) as r:
            session = r.session("s")
            await session.send("talk")
            await (await provider.asked()).finished.wait()
            receipt = await session.stop()
            assert receipt.quiet
            provider.say("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
        [_, request] = provider.requests
        assert request.prompt.endswith("again")
    assert said(heard) == "new"
