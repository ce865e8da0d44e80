"""Agents of openai-agents, for the stories that all engines share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from agents import Agent as AgentsAgent
from agents import (
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    function_tool,
)
from agents.models.interface import Model as AgentsModel
from openai import AsyncOpenAI

from lastword.engines.openai_agents import OpenAIAgents
from lastword.testing.provider import Provider
from tests.engines.told import Scripted, Served, Tool
from tests.engines.wire import Raw


@asynccontextmanager
async def agents_model(
    provider: Provider | Raw, format: str, *, retries: int = 0
) -> AsyncGenerator[AgentsModel]:
    """A model of openai-agents, by either of the wire formats that it speaks."""
    url = f"{provider.url}/v1"
    async with AsyncOpenAI(base_url=url, api_key="k", max_retries=retries) as client:
        kind = OpenAIChatCompletionsModel if format == "chat" else OpenAIResponsesModel
        yield kind("gpt-5", client)


@asynccontextmanager
async def openai_agents(
    format: str, *, served: Served = None, retries: int = 0, **settings: Any
) -> AsyncGenerator[Scripted]:
    """An openai-agents agent, whose reasoning its provider does not keep."""
    sealed = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
    async with (
        served or Provider() as provider,
        agents_model(provider, format, retries=retries) as model,
    ):
        of_chat = ModelSettings(include_usage=True)
        agent = AgentsAgent[Any](
            "tester", model=model, model_settings=of_chat if format == "chat" else sealed
        )

        def add(tool: Tool) -> None:
            agent.tools = [*agent.tools, function_tool(tool, strict_mode=False)]

        yield Scripted(provider, OpenAIAgents(agent, **settings), add, in_tasks=True)
        assert provider.refused == []
