"""Who asks whether a tool may be called: a run, with all that a question has to know of it."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from lastword.core.asks import Answer
from lastword.core.model import Generation, RunId, SessionId
from lastword.core.question import Question
from lastword.runtime.asks import Asks
from lastword.runtime.going import Going, run_here
from lastword.runtime.ledger import Call


class Asker(Protocol):
    """What a question has to know of the run that asks it; a `Run` is one."""

    @property
    def id(self) -> RunId: ...
    @property
    def sessions(self) -> tuple[SessionId, ...]: ...
    @property
    def lives(self) -> tuple[tuple[SessionId, str], ...]: ...
    @property
    def generation(self) -> Generation: ...
    @property
    def current(self) -> bool: ...
    @property
    def asks(self) -> Asks: ...
    async def ask(self, question: Question) -> Answer: ...


class Here:
    """The run that makes a call here."""

    def __init__(self, going: Going) -> None:
        self._going = going
        self.id = going.hold.run
        self.sessions = going.hold.sessions
        self.generation = going.hold.generation
        self.asks = going.home.asks

    @property
    def lives(self) -> tuple[tuple[SessionId, str], ...]:
        return self._going.lives

    @property
    def current(self) -> bool:
        return self._going.hold.current

    @property
    def in_turn(self) -> asyncio.Lock:
        """Its questions are asked one at a time: one answer can spare the next, and a stop finds at
        most one open."""
        return self._going.in_turn

    async def ask(self, question: Question) -> Answer:
        return await self._going.ask(question)

    def answered_before(self, question: Question, answer: Answer) -> None:
        """Somebody was asked for a call, and has answered, before it was there."""
        self.asks.answered_before(question, answer, self._going)


def asker_of(call: Call[Any]) -> Here:
    """The run that makes a call, which has to be the one in whose context it is made."""
    going = run_here()
    if going is None or going.hold.run != call.run:
        raise PermissionError(f"{call.name} was not called: it was called from outside of its run")
    return Here(going)
