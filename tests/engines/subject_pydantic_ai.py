"""Agents of pydantic-ai, for the stories that all engines share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic_ai import Agent

from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Provider
from tests.engines.told import Scripted, Served
from tests.engines.wire import model


@asynccontextmanager
async def pydantic_ai(
    format: str, *, served: Served = None, retries: int = 0
) -> AsyncGenerator[Scripted]:
    """A pydantic-ai agent."""
    async with served or Provider() as provider, model(provider, format, retries=retries) as own:
        agent = Agent(own)
        yield Scripted(provider, PydanticAI(agent), agent.tool_plain)
        assert provider.refused == []
