"""Loops over a provider's own client, for the stories that all engines share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from lastword import Run
from lastword.engines.anthropic import Anthropic
from lastword.engines.kit import Compaction
from lastword.engines.openai import OpenAI, OpenAIResponses
from lastword.testing.provider import Provider
from tests.engines.told import Scripted, Served, Tool


@asynccontextmanager
async def sdk_loop(
    format: str,
    compaction: Compaction | None = None,
    *,
    served: Served = None,
    retries: int = 0,
) -> AsyncGenerator[Scripted]:
    """A loop over a provider's own client."""
    tools: list[Tool] = []

    def given(_: Run) -> list[Tool]:
        return tools

    async with served or Provider() as provider:
        if format == "anthropic":
            url = provider.url
            async with AsyncAnthropic(base_url=url, api_key="k", max_retries=retries) as client:
                thinks = {"type": "adaptive"}
                own = Anthropic(
                    client, "claude-opus-4-8", tools=given, compaction=compaction, thinking=thinks
                )
                yield Scripted(provider, own, tools.append)
        else:
            url = f"{provider.url}/v1"
            kind = OpenAI if format == "chat" else OpenAIResponses
            async with AsyncOpenAI(base_url=url, api_key="k", max_retries=retries) as client:
                own = kind(client, "gpt-5", tools=given, compaction=compaction)
                yield Scripted(provider, own, tools.append)
        assert provider.refused == []
