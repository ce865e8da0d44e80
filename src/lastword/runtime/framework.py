"""What a run offers to engines around a framework, besides what it offers to everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from typing import Literal, Protocol, TypeVar

from lastword.core.model import RunId, SessionId
from lastword.core.repair import less
from lastword.core.transcript import (
    Declined,
    LeftOut,
    Native,
    Nature,
    Shown,
    Summary,
    Text,
    Thinking,
    Used,
)
from lastword.processes.isolated import prepared
from lastword.runtime.active_run import ActiveRun
from lastword.runtime.announcer import Announcer
from lastword.runtime.asking import asking
from lastword.runtime.checks import encodable, must_be_native, must_be_text
from lastword.runtime.executor import Act, FencedExecutor
from lastword.runtime.history import History
from lastword.runtime.journal import Journal
from lastword.runtime.ledger import Call
from lastword.runtime.threads import DaemonThreads

R = TypeVar("R")


class FrameworkHost(Protocol):
    """What it needs of its session."""

    id: SessionId
    threads: DaemonThreads
    journal: Journal
    history: History
    announcer: Announcer


class ForFrameworks:
    """The part of a `Run` that knows how frameworks work."""

    def __init__(self, host: FrameworkHost, going: ActiveRun, history: Sequence[Shown]) -> None:
        self.history: Sequence[Shown] = (
            history  # what the model is to be shown; this run's message is last
        )
        self._desk = host
        self._going = going
        self._hold = going.hold
        self._loop = asyncio.get_running_loop()
        going.given = self
        host.announcer.shown(history)
        self._declined = host.history.declined  # when it began
        self._suspects = host.history.suspects

    @property
    def id(self) -> RunId:
        return self._hold.run

    def must_hold(self, what: str = "this") -> None:
        """Raise `Superseded` once the run may no longer act."""
        self._hold.must_hold(what)

    async def may(self, what: str) -> None:
        """Return if this may begin, in the step that follows; otherwise raise `Superseded`.

        Any event loop may ask.
        """
        if asyncio.get_running_loop() is self._loop:
            await self._hold.steady()
        with self._hold.acting(what):
            pass

    def seal(self, native: Native, *, of: Literal["text", "thinking"] = "text") -> None:
        """What it said, or thought, so far is whole; this is what its provider wants with it."""
        must_be_native(native)
        if self._hold.granted:
            entry = Text if of == "text" else Thinking
            self._desk.journal.add(entry(self.id, "", native))

    def used(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """A model was asked, and this is what it cost."""
        if self._hold.granted:
            cost = Used(self.id, encodable(model), input_tokens, output_tokens)
            self._desk.journal.add(cost)
            self._hold.publish(cost)

    def used_soon(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """The same, from any event loop."""
        self._loop.call_soon_threadsafe(self.used, model, input_tokens, output_tokens)

    def asked(
        self,
        name: str,
        arguments: str,
        body: Callable[[], Awaitable[R]],
        *,
        nature: Nature = "",
        native: Native | None = None,
        late: bool = False,
    ) -> Call[R]:
        """Write down a call as a model asked for it, for an engine that knows only later how.

        `arguments` is what the model said, JSON or not; `body` is called when the call is made. If
        there is more than the tool in it, the call is `late`: it begins with `call.under_way()`.
        """
        must_be_text(name, "a tool's name")
        must_be_text(arguments, "what a model gave as arguments")
        must_be_native(native)
        intend = self._going.ledger.intend
        name, said = encodable(name), encodable(arguments)
        return intend(body, (), {}, name, nature=nature, arguments=said, native=native, late=late)

    def act(self, name: str) -> Act:
        """Something that is to be done and that the session's own model did not ask for."""
        must_be_text(name, "what an act is called")
        return Act(self._hold, name)

    @property
    def executor(self) -> Executor:
        """For a framework's own threads: each is checked as it begins, and counted as a tool."""
        return FencedExecutor(self._hold, self._desk.threads)

    async def isolate(self, function: Callable[..., R], *args: object, **kwargs: object) -> R:
        """Call a function in a process of its own, inside a tool: a stop kills it.

        Whether it may start is asked once what it is given was put together, in the step in which
        it does.
        """
        name = getattr(function, "__name__", "function")
        work = await prepared(function, args, kwargs, name)
        return await self._going.processes.call(work)

    def notes(self) -> tuple[str, ...]:
        """What the session has to tell the model, for an engine to add to its next request."""
        return self._desk.announcer.notes(self.id) if self._hold.granted else ()

    def declined(self, status: int) -> bool:
        """A provider did not take what was asked; whether that was so the last time too."""
        if self._hold.granted:
            self._desk.journal.add(Declined(self.id, status))
        return self._declined

    def less(self, history: Sequence[Shown]) -> tuple[LeftOut, ...]:
        """What to leave out next of what was not taken; `without` leaves it out."""
        return less(history, self._suspects(), self.id)

    def leave_out(self, *left: LeftOut) -> None:
        """It was taken without this, which from now on is shown by name."""
        if self._hold.granted:
            self._record(*left)

    def _record(self, *facts: LeftOut | Summary) -> None:
        for fact in facts:
            self._desk.journal.add(fact)
            self._going.home.publish(fact)

    async def summarise(self, text: str, *, upto: RunId) -> Sequence[Shown]:
        """Put this in place of all turns up to that run's, from now on; what is shown then."""
        self._hold.must_hold("this summary")
        self._record(Summary(encodable(text), upto))
        self.history = await self._desk.history.shown()
        self._desk.announcer.shown(self.history)
        self._hold.must_hold("use of this summary")
        return self.history


def run_inside() -> ForFrameworks | None:
    """The run to which a framework's own code is held here; None outside of all runs."""
    here = asking()
    given = here.given if isinstance(here, ActiveRun) else None
    return given if isinstance(given, ForFrameworks) else None
