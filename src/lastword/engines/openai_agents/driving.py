"""A run of the framework's runner that speaks for its session.

What its model asks for in one answer is written down at once, and made in the ledger. Any other run
of the runner in here (an agent as a tool, one in a guardrail, one that a team's function starts) is
nested: it is held to the same run, and its calls are not what the session's model asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from lastword.core.entries import Native
from lastword.engines.kit.calls import Calls
from lastword.engines.kit.rendering import explain
from lastword.engines.openai_agents.items import field_of, told_of
from lastword.errors import Superseded
from lastword.runtime.call import Call
from lastword.runtime.framework import run_inside
from lastword.runtime.run import Run


class AnswerSoFar(Protocol):
    """What is known of one answer."""

    said: bool  # whether the person was told something of it
    failure: tuple[str, str] | None  # the code and the words of its provider
    whole: bool


class ToolFailed(Exception):
    """The tool raised, or its own code was not reached; the framework has words for the model."""

    def __init__(self, result: object) -> None:
        super().__init__(told_of(result))
        self.result = result


class NotYet(Exception):
    """A call waits for an approval inside of it."""

    def __init__(self, result: object) -> None:
        super().__init__("it waits for an approval")
        self.result = result


class Driven:
    """One answer of the session's, by the framework's runner."""

    def __init__(self, run: Run, answered: Callable[[], Awaitable[None]] | None = None) -> None:
        self.run = run
        self.calls = Calls(run)
        self.agent = ""  # whose turn it is
        self.speaks = answered is not None  # what the model says is said here, not by the team
        self.heard: AnswerSoFar | None = None  # the newest
        self.trouble: Exception | None = None  # with which the newest failed
        self._answered = answered
        self._starts = False

    async def answered(self) -> None:
        """All of an answer has come."""
        if self._answered is not None:
            await self._answered()

    def ask(self, id: str, name: str, arguments: str, native: Native | None) -> Call[Any]:
        """Write down what the model asked for. Some servers give the same id again and again."""
        if (before := self.calls.get(id)) is not None and before.made:
            self.calls.forget(id)
        call = self.calls.ask(id, name, arguments, native=native, late=True)
        call.render = told_of
        call.explain = _explained
        call.puts_off = (NotYet,)
        return call

    async def make(
        self, id: str, name: str, arguments: str, body: Callable[[], Awaitable[Any]]
    ) -> Any:  # noqa: ANN401 - as the framework gives
        """Make it. `NotMade` if it was not allowed; its tool begins somewhere inside the body."""
        call = self.calls.get(id)
        if call is None or call.made:
            call = self.ask(id, name, arguments, None)

        async def made() -> Any:  # noqa: ANN401
            result = await body()
            ended = call.effect.ended
            if not call.effect.begun or (ended is not None and ended.error is not None):
                raise ToolFailed(result)
            return result

        try:
            return await self.calls.make(id, made)
        except (ToolFailed, NotYet) as told:
            return told.result

    def settle(self, items: Iterable[object]) -> None:
        """What the model is told of calls that nobody made is what became of them."""
        for item in items if len(self.calls) else ():
            if str(field_of(item, "type")).endswith("_output"):
                call = self.calls.get(str(field_of(item, "call_id")))
                if call is not None and not call.made:
                    self.calls.skip(
                        str(field_of(item, "call_id")), told_of(field_of(item, "output"))
                    )

    def starting(self) -> None:
        """The next run of the runner is this one."""
        self._starts = True

    def starts(self) -> bool:
        """Whether it is; asked once."""
        starts, self._starts = self._starts, False
        return starts


_driven: ContextVar[Driven | None] = ContextVar("lastword_driven", default=None)


def driven_here() -> Driven | None:
    """The run that speaks for its session, if what is done here is a part of it."""
    own = _driven.get()
    return own if own is not None and own.run is run_inside() else None


@contextmanager
def driving(own: Driven | None) -> Generator[None]:
    """What is done inside, and started there, is a part of this; of None: of a nested run."""
    token = _driven.set(own)
    try:
        yield
    finally:
        _driven.reset(token)


@contextmanager
def given_up() -> Generator[None]:
    """Whoever lost the session is cancelled. The framework knows no other end that is no failure:
    it tells the event loop's handler of it, with a traceback."""
    try:
        yield
    except Superseded as error:
        raise asyncio.CancelledError(str(error)) from None


def _explained(error: Exception) -> str:
    return str(error) if isinstance(error, ToolFailed) else explain(error)
