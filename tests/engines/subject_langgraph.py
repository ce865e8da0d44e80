"""Graphs of LangGraph's, for the stories that all engines share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from lastword.testing.provider import Provider
from tests.engines import graphs
from tests.engines.told import Scripted, Served, Tool, Written


@asynccontextmanager
async def langgraph(
    kind: str, *, served: Served = None, retries: int = 0
) -> AsyncGenerator[Scripted]:
    """A graph of LangGraph's."""
    tools, writes = list[Tool](), list[Written]()
    async with (
        served or Provider() as provider,
        graphs.engine(kind, provider, tools, writes, retries=retries) as own,
    ):
        scripted = Scripted(provider, own, tools.append, in_tasks=True)
        scripted.writes = writes
        yield scripted
        assert provider.refused == []
