"""One run as it is counted and traced: its calls of tools, and its requests to models.

Each has one end. What is still open when the run loses its session is ended with it, so that no
span outlives the right to act, whatever becomes of the code that opened it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, Protocol, TypeAlias

from lastword.core.entries import Nature
from lastword.core.model import CallId, Outcome, Status
from lastword.runtime.counters import Counters
from lastword.runtime.tracing import (
    CallEnded,
    Headers,
    RequestEnded,
    RunEnded,
    TraceContext,
    TracedCall,
    TracedRequest,
    TracedRun,
    TracedSpan,
)

LogCost: TypeAlias = Callable[[str, int, int], None]  # a model, and tokens in and out
_NOTHING: AbstractContextManager[None] = nullcontext()  # around what nobody is told of
UNNAMED = "_OTHER"  # an error that has no name, as OpenTelemetry calls it
_STATUSES = range(400, 600)  # of HTTP, that are errors


class AskedIn(NamedTuple):
    """Where a message was sent, to a tracer; and under which policy it was taken."""

    context: TraceContext
    policy: str


class TraceableCall(Protocol):
    """A call of a tool, as its ledger has it."""

    id: CallId
    name: str
    nature: Nature
    isolated: bool
    status: Status
    raised: str


class ModelRequest:
    """A request to a model, from when it is made to the end of its answer. Any thread may tell."""

    def __init__(
        self, trace: RunTrace, what: TracedRequest, span: TracedSpan | None, log: LogCost
    ) -> None:
        self._trace = trace
        self._span = span
        self._log = log
        self._began = trace.now()
        self.what = what
        self.over = RequestEnded()  # what is known of it so far

    def first(self) -> None:
        """Something of the answer has come. What counts is the first time that this is said."""
        if self.over.first is None:
            self.first_after(self._trace.now() - self._began)

    def first_after(self, seconds: float) -> None:
        """The same, for who has measured it."""
        self.over = self.over._replace(first=seconds)

    def used(self, input_tokens: int, output_tokens: int, *, model: str = "") -> None:
        """What it cost, once that is known; and the model that answered, as it calls itself."""
        self.cost(input_tokens, output_tokens, model)
        self._log(model or self.what.model, input_tokens, output_tokens)

    def cost(self, input_tokens: int, output_tokens: int, model: str) -> None:
        """The same, of which the log hears from somebody else. What is said last counts."""
        self.over = self.over._replace(
            model=model, input_tokens=input_tokens, output_tokens=output_tokens
        )

    def failed(self, kind: str) -> None:
        """It came to nothing, though nothing is raised; `kind` is one of a few words."""
        self.over = self.over._replace(error=kind)

    def inside(self) -> AbstractContextManager[None]:
        """Around what is done to have it answered."""
        return self._span.inside() if self._span else _NOTHING

    def cut_off(self) -> None:
        """Nobody waits for its answer any more."""
        self.over = self.over._replace(cancelled=True)
        self.end()

    def end(self, error: BaseException | None = None) -> None:
        """It was answered, or this was raised. What is said a second time is not heard."""
        if error is not None:
            failed = isinstance(error, Exception)
            kind = kind_of(error) if failed else ""
            self.over = self.over._replace(error=kind, cancelled=not failed)
        self._trace.request_ended(self, self._span, self._trace.now() - self._began)


class RunTrace:
    """One run's."""

    __slots__ = ("_calls", "_counters", "_over", "_requests", "_span", "now", "what")

    def __init__(
        self,
        span: TracedSpan | None,  # if somebody traces
        counters: Counters,
        now: Callable[[], float],  # the loop's clock, which any thread may read
        what: TracedRun,
    ) -> None:
        self.now = now
        self.what = what
        self._counters = counters
        self._span = span
        self._calls: dict[CallId, TracedSpan] = {}
        self._requests: dict[ModelRequest, None] = {}  # that are open
        self._over = False

    @property
    def context(self) -> TraceContext | None:
        """Of what is done in it; None if nobody is told."""
        return self._span.context if self._span else None

    def leaving(self, call: CallId | None = None) -> Headers:
        """Where what is done of it, or of that call of it, in another process belongs."""
        span = self._calls.get(call, self._span) if call else self._span
        return span.leaving() if span else ()

    def enter(self) -> None:
        """From here on this task is the run's."""
        if self._span:
            self._span.enter()

    def joined(self, asked: Sequence[AskedIn]) -> None:
        """It answers these messages, too."""
        if self._span:
            for one in asked:
                self._span.link(one.context)

    def over(self, outcome: Outcome, error: str) -> None:
        """It has lost its session, or has ended; its calls are settled."""
        self._over = True
        for request in tuple(self._requests):
            request.cut_off()
        if self._span:
            self._span.end(RunEnded(outcome, error))

    # calls of tools

    def call_made(self, call: TraceableCall) -> None:
        """What comes before a tool is next."""
        if self._span and call.id not in self._calls and (span := self._begun(self._span, call)):
            self._calls[call.id] = span

    def call_reached(self, call: TraceableCall) -> None:
        """The tool's first line is next. Any thread may tell."""
        if self._span and (span := self._calls.get(call.id)):
            span.reached()

    def inside(self, call: TraceableCall) -> AbstractContextManager[None]:
        """Around the tool."""
        span = self._calls.get(call.id)
        return span.inside() if span else _NOTHING

    def call_settled(self, call: TraceableCall, *, error: bool = False) -> None:
        """It is known what became of it."""
        self._counters.calls[call.status] += 1
        if not self._span:
            return
        if span := self._calls.pop(call.id, None) or self._begun(self._span, call):
            raised = call.raised or UNNAMED if error else ""
            span.end(CallEnded(call.status, raised))

    def _begun(self, of: TracedSpan, call: TraceableCall) -> TracedSpan | None:
        run = self.what
        what = TracedCall(run.session, run.run, call.id, call.name, call.nature, call.isolated)
        return of.begin(what)

    # requests to models

    def request(self, model: str, provider: str, log: LogCost) -> ModelRequest:
        """A model is asked. Any thread may tell."""
        what = TracedRequest(self.what.session, self.what.run, model, provider)
        span = self._span.begin(what) if self._span else None
        request = ModelRequest(self, what, span, log)
        self._requests[request] = None
        if self._over:  # by a stop of a moment ago
            request.cut_off()
        return request

    def request_ended(self, request: ModelRequest, span: TracedSpan | None, took: float) -> None:
        """Its answer is all there, or will not come. Any thread may tell."""
        if self._requests.pop(request, self) is None:
            self._counters.requested(request.what.model, request.over, took)
            if span:
                span.end(request.over)

    def used(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """What a request cost of which nobody has told when it was made."""
        self._counters.used(model, input_tokens, output_tokens)


def kind_of(error: BaseException) -> str:
    """What kind of failure it is: the HTTP status that a provider answered, or an error's name."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):  # as httpx has it
        status = getattr(getattr(error, "response", None), "status_code", None)
    return str(status) if status in _STATUSES else type(error).__name__
