"""A question of a run's: whether a tool may be called, and who asks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from lastword.core.asks import Answer
from lastword.core.model import Generation, RunId, SessionId
from lastword.runtime.active_run import ActiveRun, run_here
from lastword.runtime.ledger import Call

T = TypeVar("T")


class Asker(Protocol):
    """What a question has to know of the run that asks it; a `Run` is one."""

    @property
    def id(self) -> RunId: ...
    @property
    def session(self) -> SessionId: ...
    @property
    def generation(self) -> Generation: ...
    @property
    def current(self) -> bool: ...
    def task(self, work: Coroutine[Any, Any, T], *, name: str = "") -> asyncio.Task[T]: ...


class _Here:
    """The run that makes a call, as far as it can be told today."""

    def __init__(self, going: ActiveRun) -> None:
        self._going = going
        self.id = going.hold.run
        self.session = SessionId(self.id.rpartition("#")[0])
        self.generation = going.hold.generation
        self.family = going.hold.lock

    @property
    def current(self) -> bool:
        return self._going.hold.current

    def asked_before(self, call: str, tool: str, subject: str, answer: Answer) -> None:
        """Somebody was asked for a call, and has answered, before it was there."""
        self._going.asked(call, tool, subject)
        self._going.answered(call, tool, subject, answer)

    def task(self, work: Coroutine[Any, Any, T], *, name: str = "") -> asyncio.Task[T]:
        try:
            self._going.hold.must_hold(name)
        except BaseException:
            work.close()
            raise
        return self._going.helpers.start(work, name=name)


def asker_of(call: Call[Any]) -> _Here:
    """The run that makes a call, which has to be the one in whose context it is made."""
    going = run_here()
    if going is None or going.hold.run != call.id.rpartition(".")[0]:
        raise PermissionError(f"{call.name} was not called: it was called from outside of its run")
    return _Here(going)
