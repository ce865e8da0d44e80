"""A terminal and an editor that follow a recording as they follow a session, and what they show."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from lastword.acp.asking import OpenAsks
from lastword.acp.outbox import Outbox
from lastword.acp.peer import Peer
from lastword.acp.talk import Talk
from lastword.agent.permission import Question, Questions
from lastword.cli.chat.paint import Paint
from lastword.cli.chat.recap import recap
from lastword.cli.chat.telling import Telling
from lastword.core.picture import Picture
from lastword.runtime.session import Session
from lastword.surfaces.following import Following
from tests.surfaces.replay import Replay


class Terminal:
    """What is written on it, as `lastword chat` has it written."""

    def __init__(self, replay: Replay) -> None:
        self._written: list[str] = []
        self._telling = Telling(self, Paint(lambda: 200), lambda _: None)
        self._session = replay.session
        self._following = Following(replay.session)
        self._following.begin_after(replay.at)

    async def open(self) -> None:
        """Who comes back is told what was before, in short."""
        for line in await recap(self._session):
            self._telling.aside(line)

    def write(self, text: str) -> None:
        self._written.append(re.sub(r"\x1b\[[0-9;]*m", "", text))

    def draw_soon(self) -> None: ...

    def hear(self) -> None:
        """All that was told since."""
        for _, changes in self._following.at_once():
            self._telling.tell(changes)

    @property
    def shown(self) -> str:
        self._telling.finish()
        return "\n".join(self._written)


class Pipe:
    """What leaves for an editor; while it is full, what is said waits in it."""

    def __init__(self) -> None:
        self.full = False
        self.left: list[dict[str, Any]] = []
        self._waiting: list[tuple[dict[str, Any], Callable[[], bool]]] = []

    def send(self, message: dict[str, Any], while_: Callable[[], bool] = lambda: True) -> None:
        self._waiting.append((message, while_))
        if not self.full:
            self.flush()

    async def room(self) -> None:
        """There always is."""

    def flush(self) -> None:
        """It is read: what may still leave does."""
        waiting, self._waiting = self._waiting, []
        self.left += [message for message, still in waiting if still()]


class Open(Questions):
    """The questions that are open in what is told again."""

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self._replay = replay

    def open(self, session: str | None = None) -> tuple[Question, ...]:
        del session
        return self._replay.session.questions


class Editor:
    """An editor that has the session open."""

    def __init__(self, replay: Replay) -> None:
        self.pipe = Pipe()
        self._peer = Peer(cast("Outbox", self.pipe), {}, {})
        self._talk = Talk(
            self._peer, replay.session, folders=["/"], servers=[], mode="takeover", window=1000
        )
        self._talk.frontiers.questions = Open(replay)
        self._talk.asking = OpenAsks(self._peer, "/", self._talk)

    def open(self) -> None:
        """It is shown what happens from here on."""
        self._talk.ready.set()

    async def open_again(self, picture: Picture) -> None:
        """It is shown what was before, which is this, and from here on what happens."""

        async def whole(_: Session) -> Picture:
            return picture

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("lastword.acp.teller.whole", whole)
            await self._talk.teller.tell_again()
        self.open()

    async def hear(self) -> None:
        """Return when it was told all that there is."""
        await self._talk.caught_up()
        for _ in range(5):  # who asks begins with steps of its own
            await asyncio.sleep(0)

    async def close(self) -> None:
        self._peer.tasks.cancel()
        await asyncio.wait(self._peer.tasks.living)

    @property
    def updates(self) -> list[dict[str, Any]]:
        told = [one for one in self.pipe.left if one.get("method") == "session/update"]
        return [one["params"]["update"] for one in told]

    def _words(self, kind: str) -> str:
        told = [u for u in self.updates if u["sessionUpdate"] == kind]
        return "".join(u["content"]["text"] for u in told)

    @property
    def said(self) -> str:
        return self._words("agent_message_chunk")

    @property
    def thought(self) -> str:
        return self._words("agent_thought_chunk")

    @property
    def calls(self) -> list[str]:
        return [u["toolCallId"] for u in self.updates if u["sessionUpdate"] == "tool_call"]

    @property
    def ends(self) -> dict[str, str]:
        """How each call stands that it was told of."""
        told = [u for u in self.updates if u["sessionUpdate"] == "tool_call_update"]
        return {u["toolCallId"]: u["status"] for u in told if "status" in u}

    @property
    def asks(self) -> list[str]:
        """The calls that it was asked to allow."""
        return [one["params"]["toolCall"]["toolCallId"] for one in self.pipe.left if _asks(one)]

    @property
    def open_asks(self) -> list[str]:
        """Those that were not taken back."""
        over = [one["params"]["requestId"] for one in self.pipe.left if _takes_back(one)]
        asked = [one for one in self.pipe.left if _asks(one) and one["id"] not in over]
        return [one["params"]["toolCall"]["toolCallId"] for one in asked]


def _asks(one: dict[str, Any]) -> bool:
    return one.get("method") == "session/request_permission"


def _takes_back(one: dict[str, Any]) -> bool:
    return one.get("method") == "$/cancel_request"
