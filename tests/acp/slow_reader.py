"""A client that reads when it is told to, and an engine behind the agent, in this very process."""

import asyncio
import json
import os
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from pydantic_ai.toolsets import AbstractToolset

from lastword.acp.agent import AcpAgent
from lastword.acp.agents import Agents
from lastword.acp.cards import Cards
from lastword.acp.outbox import Outbox
from lastword.agent.assistant import Assistant, assistant
from lastword.agent.rehearsal import Rehearsal
from lastword.runtime.run import Engine, Run
from lastword.runtime.runtime import Runtime
from tests.acp.client import Client, Message
from tests.acp.inside import Pipes
from tests.promise.workshop import until

_LEAST = 1 << 16  # bytes that are read at once, and that a pipe holds


class WatchedOutbox(Outbox):
    """What is on its way, though nobody reads it, is known."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self.sent: list[Message] = []

    def send(self, message: Message, while_: Callable[[], bool] = lambda: True) -> None:
        self.sent.append(message)
        super().send(message, while_)


class SlowClient(Client):
    """It keeps what it has read; what it has not fills the pipe, and then the agent's outbox."""

    def __init__(self, pipes: Pipes, folder: Path, runtime: Runtime, outbox: WatchedOutbox) -> None:
        super().__init__(cast("Process", pipes), folder)
        self.runtime = runtime
        self.outbox = outbox
        self.reads = asyncio.Event()
        self.reads.set()

    async def listen(self) -> None:
        """Line by line, however long."""
        assert self.process.stdout
        rest = b""
        while True:
            await self.reads.wait()
            data = await self.process.stdout.read(_LEAST)
            *lines, rest = (rest + data).split(b"\n")
            self.heard += map(json.loads, lines)

    async def no_room(self) -> None:
        """Return when so much waits to be read that who tells more waits, too."""
        while True:
            room = asyncio.ensure_future(self.outbox.room())
            await asyncio.sleep(0)
            if room.cancel():
                return

    async def answers(self, request: Message) -> None:
        """Return when its answer is on its way."""
        await until(lambda: [one for one in self.outbox.sent if one.get("id") == request["id"]])

    def statuses(self, since: int = 0) -> list[str]:
        """What was told of calls."""
        return [one["status"] for one in self.updates(since=since) if "toolCallId" in one]

    def answer_to(self, request: Message) -> int:
        """Where its answer stands in all that was heard."""
        return self.place(lambda one: one.get("id") == request["id"] and "method" not in one)


@asynccontextmanager
async def slowly_read(folder: Path, engine: Engine) -> AsyncGenerator[SlowClient]:
    """An agent that does what an engine does."""
    output, into = os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LEAST)
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(output, "rb")
    )

    def make(roots: Sequence[str], more: Sequence[AbstractToolset[Run]], **given: Any) -> Assistant:
        return assistant(Rehearsal(), roots=roots, rules=("allow *",), toolsets=more, **given)

    outbox, agents = WatchedOutbox(into), Agents(make)
    async with Runtime(engine, store=f"sqlite:{folder / 'sessions.db'}") as runtime:
        agent, pipes = AcpAgent(runtime, agents, Cards(folder / "shelf"), outbox), Pipes(reader)
        client = SlowClient(pipes, folder, runtime, outbox)
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
