"""The loop that most teams write by hand: ask the model, make what it asks for, ask again.

What was said is neutral all the while, and put into a provider's words for each request. So every
request of a run is made by the same rules as the first, wherever the conversation was cut before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from lastword.core.entries import Native
from lastword.core.model import Status
from lastword.core.shown import Shown, as_object
from lastword.engines.kit.calls import Calls, NotMade
from lastword.engines.kit.declined import ShownHistory
from lastword.engines.kit.rendering import explain, render
from lastword.engines.kit.tools import FunctionTool
from lastword.engines.kit.trouble import ModelFailed
from lastword.engines.kit.wire import native, wire_id
from lastword.runtime.run import Run
from lastword.runtime.trace import ModelRequest

_LENGTH = "The answer was cut off at the model's limit of tokens."
_NOTHING = "the model answered nothing"
_NOT_ALLOWED = "This call was not allowed, and not made:"


class Declining(Exception):
    """A request failed; with a status other than 0, for what was in it."""

    def __init__(self, failed: ModelFailed, status: int) -> None:
        super().__init__(str(failed))
        self.failed = failed
        self.status = status


class Wanted(NamedTuple):
    """A call that a model asked for."""

    id: str
    name: str
    arguments: str
    native: Native


@dataclass
class HeardAnswer:
    """One answer of a model, passed on as it comes."""

    run: Run
    whose: str  # its natives are
    request: ModelRequest = field(init=False)  # as which it is counted and traced
    items: list[Shown] = field(default_factory=list[Shown])
    wanted: list[Wanted] = field(default_factory=list[Wanted])
    said: bool = False  # whether the person was told something of it
    begun: bool = False  # whether its provider has begun to answer
    own: Exception | None = None  # what the run itself raised, and no provider
    _pieces: list[str] = field(default_factory=list[str])
    _of: Literal["assistant", "thinking"] = "assistant"

    async def text(self, piece: str) -> None:
        """It says this."""
        if piece:
            self._join("assistant", piece)
            self.said = True
            try:  # not by `_pass_on`: a token costs no coroutine more
                await self.run.emit(piece, soon=True)
            except Exception as error:
                self.own = error
                raise

    async def think(self, piece: str) -> None:
        """It thinks this."""
        if piece:
            self._join("thinking", piece)
            await self._pass_on(self.run.think(piece, soon=True))

    async def seal(self, of: Literal["text", "thinking"], **kept: object) -> None:
        """What it said, or thought, so far is whole; the provider wants this back with it."""
        await self._pass_on(self.run.said())  # before what is sealed, or called, after it
        own = native(self.whose, **kept)
        self.run.seal(own, of=of)
        self._of = "assistant" if of == "text" else "thinking"
        self._close(own)

    def want(self, call: str, name: str, arguments: str, /, **kept: object) -> None:
        """It asks for this call, which its provider gave this id."""
        self._close()
        own = call if call and call not in {one.id for one in self.wanted} else ""
        known = {"call_id": own, **kept} if own else {}
        unique = own or wire_id(f"{call} {len(self.wanted)}")
        self.wanted.append(Wanted(unique, name, arguments, native(self.whose, **known)))

    async def end(self, *used: int, cut: bool = False) -> None:
        """That was all, and cost so many tokens: asked with, and answered. `cut` at their limit."""
        self._close()
        await self._pass_on(self.run.said())
        asked, answered = used or (0, 0)
        self.request.used(asked, answered)
        if cut:
            await self._pass_on(self.run.progress(_LENGTH))

    async def _pass_on(self, told: Coroutine[Any, Any, None]) -> None:
        try:
            await told
        except Exception as error:
            self.own = error
            raise

    def _join(self, of: Literal["assistant", "thinking"], piece: str) -> None:
        if of != self._of:
            self._close()
            self._of = of
        self._pieces.append(piece)

    def _close(self, own: Native | None = None) -> None:
        text = "".join(self._pieces)
        self._pieces = []
        if text.strip() or (own and self._of == "thinking"):
            self.items.append(Shown(self._of, text, native=own))


Ask: TypeAlias = Callable[[Sequence[Shown], HeardAnswer], Awaitable[None]]
"""Asks a model, tells what it hears, and raises `Declining` if it fails."""


class Loop:
    """One run."""

    def __init__(self, run: Run, tools: Mapping[str, FunctionTool], whose: str) -> None:
        self._run = run
        self._tools = tools
        self._whose = whose
        self._calls = Calls(run)
        self._since: list[Shown] = []  # what was said since it began

    async def __call__(self, history: Sequence[Shown], ask: Ask) -> None:
        """Until the model asks for nothing more."""
        showing, refused = ShownHistory(self._run, history), None
        while True:
            await self._told()
            heard = HeardAnswer(self._run, self._whose)
            try:
                await self._run.may("this request to the model")
                await ask((*showing.history, *self._since), heard)
            except Declining as declining:
                refused = refused or declining.failed  # what was wrong with all of it
                if not showing.less(declining.status):
                    raise refused from declining.__cause__
                if heard.said:  # of an answer that was refused; it is no part of the next
                    await self._run.emit("\n\n")
                continue
            await showing.taken()
            if not heard.wanted:
                if not heard.said and not self._since:
                    raise ModelFailed(_NOTHING, _NOTHING)
                return
            self._since += heard.items
            self._since += await self._made(heard.wanted)

    async def _told(self) -> None:
        """What the person said meanwhile, and the session."""
        for message in await self._run.steering():
            self._since.append(Shown("user", message.text, message=message))
        self._since += [Shown("note", note) for note in self._run.notes()]

    async def _made(self, wanted: Sequence[Wanted]) -> list[Shown]:
        """All are written down before the first is made."""
        calls: list[Shown] = []
        for one in wanted:
            tool = self._tools.get(one.name)
            nature = tool.nature if tool else ""
            call = self._calls.ask(
                one.id, one.name, one.arguments, nature=nature, native=one.native
            )
            call.render, call.explain = render, explain
            said = as_object(one.arguments)
            calls.append(Shown("call", said, call.id, one.name, native=one.native))
        told = await asyncio.gather(*map(self._make, wanted))
        results = [
            Shown("result", text, call.call, call.name, error=failed)
            for call, (text, failed) in zip(calls, told, strict=True)
        ]
        return [*calls, *results]

    async def _make(self, one: Wanted) -> tuple[str, bool]:
        """What came of it, and whether that is an error."""
        tool = self._tools.get(one.name)
        try:
            if tool is None:
                raise ValueError(_unknown(one.name, self._tools))  # noqa: TRY301 - told as the next is
            body = tool.bound(one.arguments)
        except ValueError as error:
            self._calls.skip(one.id, str(error))
            return f"[{Status.NOT_STARTED}] {error}", True
        try:
            return render(await self._calls.make(one.id, body)), False
        except NotMade as why:
            return f"{_NOT_ALLOWED} {why}", True
        except Exception as error:  # noqa: BLE001 - a tool's own: the model is told
            return explain(error), True


def _unknown(name: str, tools: Mapping[str, FunctionTool]) -> str:
    there_are = f"there are {', '.join(tools)}" if tools else "there are none"
    return f"there is no tool {name}; {there_are}"
