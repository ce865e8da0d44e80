"""What a run offers to engines around a framework, besides what it offers to everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeVar

from lastword.core.entries import Declined, LeftOut, Native, Nature, Summary, Text, Thinking, Used
from lastword.core.model import RunId, SessionId
from lastword.core.repair import less
from lastword.core.shown import Shown
from lastword.core.transcript import Suspects
from lastword.errors import ImpossibleMove
from lastword.processes.isolated import prepared
from lastword.runtime.active_run import ActiveRun
from lastword.runtime.asking import asking
from lastword.runtime.call import Call
from lastword.runtime.checks import (
    encodable,
    must_be_name,
    must_be_native,
    must_be_one_of,
    must_be_text,
)
from lastword.runtime.executor import Act, ActKind, FencedExecutor
from lastword.runtime.hold import Hold
from lastword.runtime.journal import EntryLog
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.trace import ModelRequest

R = TypeVar("R")


def _unsaid() -> Any:  # noqa: ANN401 - nothing: it never returns
    raise ImpossibleMove("nobody has said what makes this call: call(body), or begin() and end()")


class ShownPast(Protocol):
    """What the model is shown of the session."""

    @property
    def declined(self) -> bool: ...
    @property
    def suspects(self) -> Suspects: ...
    async def shown(self) -> Sequence[Shown]: ...


class News(Protocol):
    """What the session has to tell the model."""

    @property
    def untold(self) -> Sequence[object]: ...
    def shown(self, history: Sequence[Shown]) -> None: ...
    def notes(self, run: RunId) -> tuple[str, ...]: ...


class FrameworkHost(Protocol):
    """What it needs of its session."""

    id: SessionId
    threads: DaemonThreads

    @property
    def journal(self) -> EntryLog: ...
    @property
    def history(self) -> ShownPast: ...
    @property
    def announcer(self) -> News: ...
    def grace_of(self, asked: float | None) -> float: ...


class ForFrameworks:
    """The part of a `Run` that knows how frameworks work."""

    history: Sequence[Shown]  # what the model is to be shown; this run's message is last
    _desk: FrameworkHost
    _going: ActiveRun
    _hold: Hold
    _loop: asyncio.AbstractEventLoop
    _declined: bool  # when it began
    _suspects: Suspects

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where it lives; what its tools do may be done on another."""
        return self._loop

    def must_hold(self, what: str = "this") -> None:
        """Raise `Superseded` once the run may no longer act."""
        self._hold.must_hold(what)

    async def may(self, what: str) -> None:
        """Return if this may begin, in the step that follows; otherwise raise `Superseded`.

        Any event loop may ask.
        """
        await self._hold.steady()
        with self._hold.acting(what):
            pass

    def seal(self, native: Native, *, of: Literal["text", "thinking"] = "text") -> None:
        """What it said, or thought, so far is whole; this is what its provider wants with it."""
        must_be_native(native)
        if self._hold.granted:
            entry = Text if of == "text" else Thinking
            self._desk.journal.add(entry(self._hold.run, "", native))

    @contextmanager
    def model_request(self, model: str, *, provider: str = "") -> Generator[ModelRequest]:
        """Around a request to a model, from when it is made until all of its answer has come: how
        long that took, what it cost and how it failed is counted and traced.

        `model` and `provider` are as who runs this calls them. Raises `Superseded`, before
        anything is asked, once the run may no longer act.
        """
        request = self.asks_model(model, provider)
        try:
            with request.inside():
                yield request
        except BaseException as error:
            request.end(error)
            raise
        request.end()

    def asks_model(self, model: str, provider: str) -> ModelRequest:
        """The same, for who says itself when it has ended: `end`. Any thread may ask."""
        must_be_name(model, "a model's name")
        must_be_name(provider, "a provider's name")
        self._hold.must_hold("this request to the model")
        return self._going.trace.request(model, provider, self.costs)

    def traced(self, call: Call[Any] | None = None) -> tuple[tuple[str, str], ...]:
        """Where what is done of it, or of a call of it, in another process belongs to a tracer."""
        return self._going.trace.leaving(call.id if call else None)

    def used(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """A model was asked, and this is what it cost; if nothing was said of it as it was asked
        (`model_request`)."""
        self._going.trace.used(model, input_tokens, output_tokens)
        self.costs(model, input_tokens, output_tokens)

    def costs(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """What a request cost that was told of as it was made, for the log."""
        if self._hold.granted:
            cost = Used(self._hold.run, encodable(model), input_tokens, output_tokens)
            self._desk.journal.add(cost)
            self._hold.publish(cost)

    def costs_soon(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """The same, from any event loop."""
        self._loop.call_soon_threadsafe(self.costs, model, input_tokens, output_tokens)

    def asked(
        self,
        name: str,
        arguments: str,
        body: Callable[[], Awaitable[R] | R] = _unsaid,
        *,
        nature: Nature = "",
        native: Native | None = None,
        late: bool = False,
    ) -> Call[R]:
        """Write down a call as a model asked for it, for an engine that knows only later how.

        `arguments` is what the model said, JSON or not. `body` is called when the call is made; it
        may also be given then, `await call(body)`. If there is more than the tool in it, the call
        is `late`: it begins with `call.under_way()`. One that is carried out elsewhere has none:
        `await call.begin()`, and then `call.end(...)`.

        A call of an agent that a tool runs is `inner` by nature: receipts and whoever finds a lost
        run are told of it; the session's own model, which did not ask for it, is not.
        """
        must_be_text(name, "a tool's name")
        must_be_text(arguments, "what a model gave as arguments")
        must_be_native(native)
        intend = self._going.ledger.intend
        name, said = encodable(name), encodable(arguments)
        return intend(body, (), {}, name, nature=nature, arguments=said, native=native, late=late)

    def acting(self, name: str, kind: ActKind = "tool") -> Act:
        """Around what is an effect and no call of the session's own model, named so in receipts.

        `async with run.acting("checkpoint", "write"):`, or `with` in a thread. It is refused with
        `Superseded` once the run has lost its session; a stop waits for it, or names it.
        """
        must_be_text(name, "what an act is called")
        must_be_one_of(kind, ("tool", "write"), "kind")
        return Act(self._hold, name, kind)

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
        return self._desk.announcer.notes(self._hold.run) if self._hold.granted else ()

    def declined(self, status: int) -> bool:
        """A provider did not take what was asked; whether that was so the last time too."""
        if self._hold.granted:
            self._desk.journal.add(Declined(self._hold.run, status))
        return self._declined

    def less(self, history: Sequence[Shown]) -> tuple[LeftOut, ...]:
        """What to leave out next of what was not taken; `without` leaves it out."""
        return less(history, self._suspects(), self._hold.run)

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
        if self._desk.announcer.untold:
            self._desk.announcer.shown(self.history)
        self._hold.must_hold("use of this summary")
        return self.history


def run_inside() -> ForFrameworks | None:
    """The run to which a framework's own code is held here; None outside of all runs."""
    here = asking()
    given = here.given if isinstance(here, ActiveRun) else None
    return given if isinstance(given, ForFrameworks) else None
