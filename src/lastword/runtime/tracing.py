"""What a runtime tells a tracer of its runs, in the step in which it happens.

Nothing depends on what the tracer does: what it raises is logged once and left at that, and it is
never awaited. It is asked for one thing only, a *context*, which nobody here looks into: what is
done in that context is, to the tracer, part of what the context stands for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from lastword.core.entries import Nature
from lastword.core.model import CallId, Generation, Outcome, RunId, SessionId, Status
from lastword.core.receipt import Receipt

T = TypeVar("T")
TraceContext: TypeAlias = object
Headers: TypeAlias = tuple[tuple[str, str], ...]
"""A context on its way to another process."""
log = logging.getLogger("lastword")
_METHODS = ("here", "enter", "leave", "arrived", "leaving", "begin", "stopped", "flush")


class TracedRun(NamedTuple):
    """A run begins."""

    session: SessionId
    run: RunId
    generation: Generation
    above: SessionId | None  # of a child: the session of the run that started it
    policy: str  # under which its first message was taken; empty if nobody knows any more


class TracedCall(NamedTuple):
    """A tool is to be called."""

    session: SessionId
    run: RunId
    call: CallId
    name: str
    nature: Nature
    isolated: bool


class TracedRequest(NamedTuple):
    """A model is asked."""

    session: SessionId
    run: RunId
    model: str
    provider: str


class RunEnded(NamedTuple):
    """How a run ended; `error` is the kind of a failure."""

    outcome: Outcome
    error: str = ""


class CallEnded(NamedTuple):
    """What became of a call; `error` is the name of what the tool raised."""

    status: Status
    error: str = ""


class RequestEnded(NamedTuple):
    """How a request to a model ended, and what it cost as far as that is known."""

    model: str = ""  # that answered
    input_tokens: int | None = None
    output_tokens: int | None = None
    first: float | None = None  # seconds to the first of the answer, if it came in pieces
    error: str = ""  # the kind of a failure
    cancelled: bool = False


Begins: TypeAlias = TracedRun | TracedCall | TracedRequest
SpanEnd: TypeAlias = RunEnded | CallEnded | RequestEnded


class OpenSpan(Protocol):
    """Something that goes on, as a tracer has it. Any thread may tell it."""

    @property
    def context(self) -> TraceContext:
        """Of what is done in it."""
        ...

    def link(self, context: TraceContext) -> None:
        """It has to do with this, too."""
        ...

    def reached(self) -> None:
        """Of a call: the tool's first line is next."""
        ...

    def end(self, over: SpanEnd) -> None:
        """It has ended, or nobody will hear of it any more. Told once."""
        ...


class Tracer(Protocol):
    """Who is told. `lastword.telemetry` has one for OpenTelemetry."""

    def here(self) -> TraceContext:
        """The context of whoever asks."""
        ...

    def enter(self, context: TraceContext) -> object:
        """From here on, in this task or thread, that is the context; what `leave` is given."""
        ...

    def leave(self, entered: object) -> None:
        """From here on it is again what it was."""
        ...

    def arrived(self, headers: Mapping[str, str]) -> TraceContext | None:
        """The context that a request over HTTP says it is part of; None: that of here."""
        ...

    def leaving(self, context: TraceContext) -> Mapping[str, str]:
        """A context as headers, for another process in which what is traced is part of it."""
        ...

    def begin(
        self, what: Begins, within: TraceContext | None, links: Sequence[TraceContext]
    ) -> OpenSpan:
        """Something begins: a run, in the context of who sent its message; or something in a run,
        in that run's context."""
        ...

    def stopped(
        self,
        receipt: Receipt,
        ago: float,
        within: TraceContext | None,
        runs: Sequence[TraceContext],
    ) -> None:
        """A stop or a takeover is answered, which was asked for in that context, and ended these
        runs. Its fence was so many seconds ago."""
        ...

    def flush(self, seconds: float) -> bool:
        """Wait in this thread until everything that was told has been taken in; whether it has."""
        ...


def must_be_tracer(tracer: object) -> None:
    """An error that says what could be given instead."""
    missing = [name for name in _METHODS if not callable(getattr(tracer, name, None))]
    if tracer is not None and missing:
        given = f"{type(tracer).__module__}.{type(tracer).__name__}"
        what = "tracer must be a lastword.telemetry.OpenTelemetry, or something with its methods"
        raise TypeError(f"{what}; a {given} has no {missing[0]}()")


class Tracing:
    """A runtime's tracer, as the runtime tells it: whatever it raises."""

    __slots__ = ("_failed", "_tracer")

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._failed = False

    def here(self) -> TraceContext | None:
        """The context of whoever asks. Any thread may ask."""
        return self.tell(self._tracer.here)

    def enter(self, context: TraceContext) -> None:
        """From here on, for as long as this task is, that is the context."""
        self.tell(self._tracer.enter, context)

    @contextmanager
    def inside(self, context: TraceContext | None) -> Generator[None]:
        """Meanwhile that is the context."""
        entered = None if context is None else self.tell(self._tracer.enter, context)
        try:
            yield
        finally:
            if entered is not None:
                self.tell(self._tracer.leave, entered)

    def arriving(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Around what a request over HTTP asks for."""
        return self.inside(self.tell(self._tracer.arrived, headers))

    def leaving(self, context: TraceContext) -> Mapping[str, str]:
        """It, as headers."""
        return self._tracer.leaving(context)

    def begin(
        self,
        what: Begins,
        within: TraceContext | None,
        links: Sequence[TraceContext] = (),
    ) -> TracedSpan | None:
        """Something begins; None if the tracer failed."""
        opened = self.tell(self._tracer.begin, what, within, links)
        return None if opened is None else TracedSpan(self, opened)

    def stopped(
        self,
        receipt: Receipt,
        ago: float,
        within: TraceContext | None,
        runs: Sequence[TraceContext | None],
    ) -> None:
        """A stop or a takeover is answered, whose fence was so many seconds ago."""
        known = [context for context in runs if context is not None]
        self.tell(self._tracer.stopped, receipt, ago, within, known)

    def flush(self, seconds: float) -> None:
        """Wait in this thread until everything was taken in, but no longer than that."""
        if self.tell(self._tracer.flush, seconds) is False:
            log.warning("the tracer has not taken in everything seconds=%g", seconds)

    def tell(self, what: Callable[..., T], *told: Any) -> T | None:  # noqa: ANN401 - as it takes
        """Call a method of the tracer's; None if it raises."""
        try:
            return what(*told)
        except Exception as error:  # it may be anybody's, and must break nothing
            if not self._failed:
                self._failed = True
                why = type(error).__name__
                log.warning("the tracer failed, and may again error=%s", why, exc_info=error)
            return None


class TracedSpan:
    """What a tracer has opened, as the runtime tells it. Any thread may."""

    __slots__ = ("_opened", "_tracing")

    def __init__(self, tracing: Tracing, opened: OpenSpan) -> None:
        self._tracing = tracing
        self._opened = opened

    @property
    def context(self) -> TraceContext:
        """Of what is done in it."""
        return self._opened.context

    def leaving(self) -> Headers:
        """For what is done of it in another process."""
        return tuple((self._tracing.tell(self._tracing.leaving, self.context) or {}).items())

    def begin(self, what: Begins) -> TracedSpan | None:
        """Something begins in it."""
        return self._tracing.begin(what, self.context)

    def enter(self) -> None:
        """From here on this task is part of it."""
        self._tracing.enter(self.context)

    def inside(self) -> AbstractContextManager[None]:
        """Meanwhile this is what goes on."""
        return self._tracing.inside(self.context)

    def link(self, context: TraceContext) -> None:
        """It has to do with this, too."""
        self._tracing.tell(self._opened.link, context)

    def reached(self) -> None:
        """Of a call: the tool's first line is next."""
        self._tracing.tell(self._opened.reached)

    def end(self, over: SpanEnd) -> None:
        """It has ended, or nobody will hear of it any more. Told once."""
        self._tracing.tell(self._opened.end, over)
