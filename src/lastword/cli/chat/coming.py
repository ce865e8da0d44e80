"""The agent while it is still being imported: there is a screen at once, and what is said waits.

A message is accepted and can be stopped meanwhile; its run waits for the agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from lastword.runtime.threads import DaemonThreads

if TYPE_CHECKING:
    from lastword.agent.assistant import Assistant
    from lastword.agent.permission import Questions
    from lastword.runtime.call import Call
    from lastword.runtime.run import Run


class ComingAgent:
    """It, from when it is asked for."""

    def __init__(self, make: Callable[[str], Assistant], folder: str) -> None:
        self.folder = folder  # that it works in
        self._make = make  # of a model's name; without one, the model that is set
        self._coming = self._begun("")

    def _begun(self, model: str) -> asyncio.Future[Assistant]:
        make = partial(self._make, model)
        coming = asyncio.get_running_loop().run_in_executor(DaemonThreads(), make)
        coming.add_done_callback(lambda made: made.exception())  # whoever asks is told
        return coming

    async def use(self, model: str) -> Assistant:
        """From here on, with another model. Raises why it cannot be had; then nothing changes."""
        coming = self._begun(model)
        agent = await asyncio.shield(coming)
        self._coming = coming
        return agent

    async def here(self) -> Assistant:
        """It, once it is there. Raises what kept it from coming."""
        return await asyncio.shield(self._coming)

    async def questions(self) -> Questions:
        """What it asks."""
        return (await self.here()).questions

    async def engine(self, run: Run) -> None:
        """For `Runtime(engine)`."""
        await (await self.here()).engine(run)

    async def before_tool(self, call: Call[Any]) -> None:
        """For `Runtime(before_tool=...)`."""
        await (await self.here()).questions.as_before_tool()(call)
