"""The client of the protocol's Python SDK, with a person who is quick to answer."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.connection import StreamDirection, StreamEvent
from acp.interfaces import Client
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    PromptResponse,
    RequestPermissionResponse,
    ToolCallUpdate,
)

from tests.acp.schema import Traffic


class Person:
    """Hears everything, and gives each question the same answer; None is to withdraw it."""

    def __init__(self) -> None:
        self.updates: list[Any] = []  # as the SDK has read them
        self.asked: list[ToolCallUpdate] = []
        self.choice: str | None = "allow_once"
        self.thinking: asyncio.Event | None = None  # if set, an answer waits for it

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)

    async def request_permission(
        self,
        session_id: str,
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **kwargs: Any,
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        if self.thinking:
            await self.thinking.wait()
        chosen = [option.option_id for option in options if option.kind == self.choice]
        if not chosen:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        outcome = AllowedOutcome(outcome="selected", option_id=chosen[0])
        return RequestPermissionResponse(outcome=outcome)

    def told(self, kind: type, since: int = 0) -> list[Any]:
        return [update for update in self.updates[since:] if isinstance(update, kind)]

    def text(self, since: int = 0) -> str:
        return "".join(chunk.content.text for chunk in self.told(AgentMessageChunk, since))


class Editor:
    """One agent, as the SDK sees it."""

    def __init__(self, agent: ClientSideConnection, person: Person, folder: Path) -> None:
        self.agent = agent
        self.person = person
        self.folder = str(folder)

    async def new(self) -> str:
        return (await self.agent.new_session(cwd=self.folder)).session_id

    async def say(self, session: str, words: str) -> PromptResponse:
        return await self.agent.prompt(session_id=session, prompt=[text_block(words)])

    def begin(self, session: str, words: str) -> asyncio.Task[PromptResponse]:
        """Say it, without waiting for the answer."""
        return asyncio.create_task(self.say(session, words))


@asynccontextmanager
async def sdk_editor(folder: Path, *arguments: str) -> AsyncGenerator[Editor]:
    """An agent and its client; in the end every message must have been as the schema has it."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    env = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": os.environ["PATH"]}
    person, traffic = Person(), Traffic()

    def watch(event: StreamEvent) -> None:
        note = traffic.hear if event.direction is StreamDirection.INCOMING else traffic.sent
        note(event.message)

    async with spawn_agent_process(
        cast("Client", person),  # as far as an agent may use it that was offered nothing more
        *(sys.executable, "-m", "lastword", "acp", *arguments),
        env=env,
        cwd=folder,
        transport_kwargs={"stderr": None, "limit": 1 << 26, "shutdown_timeout": 60.0},
        observers=[watch],
    ) as (agent, process):
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        yield Editor(agent, person, folder)
    assert process.returncode == 0
    assert traffic.faults() == []
