"""Capabilities that hear no event: a token is one, and passes them by.

The framework asks each capability about each event, and has a coroutine of each around the stream,
also of those that only pass it on.
"""

# ruff: noqa: ARG002 - the methods are the framework's, with its parameters

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

from pydantic_ai.capabilities import AbstractCapability, UseThreadExecutor
from pydantic_ai.messages import AgentStreamEvent
from pydantic_ai.tools import RunContext


class Quiet(AbstractCapability[Any]):
    """One of ours."""

    @property
    def has_wrap_run_event_stream(self) -> bool:
        return False

    def listens_to(self, event: AgentStreamEvent) -> bool:
        return False

    def wrap_run_event_stream(
        self, ctx: RunContext[Any], *, stream: AsyncIterable[AgentStreamEvent]
    ) -> AsyncIterable[AgentStreamEvent]:
        return stream


class RunThreads(Quiet, UseThreadExecutor):
    """The framework's threads are the run's."""
