"""The CLI's calls, in the run's ledger: begun before the CLI may, ended by what it tells of them.

A tool of the CLI's own, or of an MCP server that is a process, is carried out elsewhere. It counts
as begun from the last answer on for which the CLI waits: its hooks before a tool, ours and the
team's, and then, if its rules say so, whoever is asked for permission. While one of them thinks
about it, it has not begun. What the SDK calls in this process is made where it is (`servers`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias, cast

from lastword.engines.claude.wording import content_in_words
from lastword.engines.kit.calls import Calls, NotMade, as_said
from lastword.engines.kit.rendering import render
from lastword.engines.kit.wire import native
from lastword.errors import EngineFailed
from lastword.runtime.call import Call
from lastword.runtime.hold import KnownEnd
from lastword.runtime.run import Run

Said: TypeAlias = Mapping[str, Any]
_NOT_ASKED = (
    "the Claude CLI called {} without asking before (its hook PreToolUse), so its calls are not "
    "held to this answer, and it was ended"
)


class CliToolFailed(Exception):
    """A tool says itself that it has failed."""


@dataclass
class Door:
    """What the CLI waits for before it makes one call."""

    call: Call[Any]
    open: bool = False  # our hook was asked
    here: bool = False  # it is made in this process
    waiting: int = 0  # hooks of the team's that have not answered
    allowed: bool = False  # whoever is asked for permission has given it
    refused: str = ""  # by lastword's own rules
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def pass_through(self) -> None:
        """The CLI may make it, if nobody else is still to answer. `NotMade` if it may not."""
        if self.open and not self.waiting:
            await self.begin()

    async def begin(self) -> None:
        """The CLI makes it as soon as it is answered."""
        async with self.lock:
            if self.refused:
                raise NotMade(self.refused)
            if self.here or self.call.effect.begun:
                return
            try:
                await self.call.begin()
            except PermissionError as error:
                self.refused = str(error)
                raise NotMade(self.refused) from error
            if self.waiting and not self.allowed:  # somebody has begun to think about it meanwhile
                self.call.put_off()

    def think(self) -> None:
        """Somebody is asked, and the CLI waits for what they say."""
        if self.call.effect.begun and not self.allowed and not self.here:
            self.call.put_off()

    def ended(self, given: Said) -> None:
        """The CLI has made it; what the model is told of it follows."""
        if self.here or not self.call.effect.begun:
            return
        with self.call.under_way() as part:
            if "error" in given:
                part.ended = KnownEnd(error=CliToolFailed(str(given["error"])))
            else:
                part.gave(content_in_words(given.get("tool_response")))


class CliCalls:
    """Those of one conversation with a CLI."""

    def __init__(self, run: Run, whose: str) -> None:
        self.run = run
        self.whose = whose
        self.calls = Calls(run)
        self.whole = asyncio.Event()  # set unless the model is in the middle of an answer
        self.whole.set()
        self._doors: dict[str, Door] = {}

    def asked(self, id_: str, name: str, arguments: object, *, inner: bool) -> Door:
        """The model asked for it, or that of an agent of the CLI's own."""
        if id_ not in self._doors:
            said = as_said(cast("Said", arguments or {}))
            own = None if inner else native(self.whose, call_id=id_)
            call = self.calls.ask(id_, name, said, nature="inner" if inner else "", native=own)
            call.render, call.explain = render, str
            self._doors[id_] = Door(call)
        return self._doors[id_]

    def door(self, id_: str) -> Door | None:
        """Of a call that was asked for, and is not settled."""
        return self._doors.get(id_) if self.calls.get(id_) else None

    def result(self, block: Said, meta: Said) -> None:
        """What the model is told of a call; nobody may have carried it out."""
        id_ = str(block.get("tool_use_id"))
        door = self.door(id_)
        if door is None or (door.here and door.call.effect.begun):
            return
        said = content_in_words(block.get("content"))
        if door.call.effect.begun and not meta.get("non_execution_kind"):
            door.call.end(said, error=bool(block.get("is_error")))
            self.calls.forget(id_)
            return
        if not door.call.effect.begun and not door.here and _was_made(block, meta):
            self._lose_sight(door.call, said, error=bool(block.get("is_error")))
        if door.call.effect.begun:
            door.call.put_off()
        self.calls.skip(id_, said)

    def _lose_sight(self, made: Call[Any], said: str, *, error: bool) -> NoReturn:
        """The CLI makes calls without asking: whatever it could make, it may have."""
        made.lose_sight(said, error=error)
        for id_, call in self.calls.open:
            if not (call.effect.begun or self._doors[id_].here):
                call.lose_sight()
                self.calls.forget(id_)
        raise EngineFailed(_NOT_ASKED.format(made.name))


def _was_made(block: Said, meta: Said) -> bool:
    """Whether the CLI tells of a call as of one that it has made."""
    if meta.get("non_execution_kind"):
        return False
    decided = cast("Said", meta.get("permission_decision") or {})
    return not block.get("is_error") or decided.get("decision") == "accept"
