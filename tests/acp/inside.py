"""The agent in this very process, behind two pipes: quick, and everything of it can be counted."""

import asyncio
import os
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from pydantic_ai.toolsets import AbstractToolset

from lastword.acp.agent import AcpAgent
from lastword.acp.agents import Agents
from lastword.acp.cards import Cards
from lastword.acp.outbox import Outbox
from lastword.acp.peer import Peer
from lastword.agent.assistant import Assistant, assistant
from lastword.agent.rehearsal import Rehearsal
from lastword.runtime.run import Run
from lastword.runtime.runtime import Runtime
from tests.acp.client import Client


class Pipes:
    """What a client needs of an agent's process."""

    def __init__(self, stdout: asyncio.StreamReader) -> None:
        self.stdin = self
        self.stdout = stdout
        self.said: asyncio.Queue[bytes] = asyncio.Queue()

    def write(self, data: bytes) -> None:
        self.said.put_nowait(data)

    async def speak(self, peer: Peer) -> None:
        """Whatever is written is heard, in that order."""
        while True:
            await peer.hear(await self.said.get())


@asynccontextmanager
async def inside(
    folder: Path, *, pace: float = 0.0, rules: Sequence[str] = ("allow *",)
) -> AsyncGenerator[Client]:
    """An agent that asks for nothing and speaks as fast as it is read."""
    output, into = os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 26)
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(output, "rb")
    )
    outbox, model = Outbox(into), Rehearsal(pace)

    def make(roots: Sequence[str], more: Sequence[AbstractToolset[Run]], **given: Any) -> Assistant:
        return assistant(model, roots=roots, rules=rules, toolsets=more, **given)

    agents = Agents(make)
    store = f"sqlite:{folder / 'sessions.db'}"
    async with Runtime(agents.engine, store=store, before_tool=agents.before_tool) as runtime:
        agent = AcpAgent(runtime, agents, Cards(folder / "shelf"), outbox)
        pipes = Pipes(reader)
        client = Client(cast("Process", pipes), folder)
        both = asyncio.gather(client.listen(), pipes.speak(agent.peer))
        try:
            yield client
            assert not both.done()
        finally:
            await agent.stop()
            outbox.close()
            both.cancel()
            await asyncio.gather(both, return_exceptions=True)
            transport.close()
            os.close(into)
    assert not client.noise
