"""Runs, model calls, tools and stops as OpenTelemetry spans: `Runtime(…, tracer=OpenTelemetry())`.

A span begins in the step in which its work does, so that whatever is traced inside is below it. It
ends in a thread of its own, with the time at which the work ended: no run and no stop waits for
what a span processor or an exporter does then. No word of a message, an argument or a result is in
any of them.

Attributes are those of the GenAI semantic conventions where they fit, and `lastword.*` otherwise.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import Token
from importlib import metadata
from typing import cast

from opentelemetry import context as contexts
from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.util.types import AttributeValue

from lastword.core.model import Outcome
from lastword.core.model import Status as CallStatus
from lastword.core.receipt import Receipt
from lastword.runtime.threads import DaemonThreads
from lastword.runtime.trace import UNNAMED
from lastword.runtime.tracing import (
    Begins,
    CallEnded,
    RequestEnded,
    RunEnded,
    SpanEnd,
    TraceContext,
    TracedCall,
    TracedRequest,
    TracedRun,
)

__all__ = ["OpenTelemetry"]

log = logging.getLogger("lastword")
_SECOND = 1_000_000_000  # nanoseconds
_MOST = 10_000  # spans that wait to be ended; of more than that the end is not told
_BEGUN = "lastword.tool.begun"
_FATES = ("ended", "killed", "kept", "unconfirmed")  # of processes


class OpenTelemetry:
    """A tracer for a `Runtime`. Spans go to `provider`, or to the one that is set for the program.

    One of them may serve several runtimes.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        version = metadata.version("lastword")
        self._tracer = trace.get_tracer("lastword", version, tracer_provider=provider)
        self._aside = _Aside()

    def here(self) -> TraceContext:
        """The current context."""
        return contexts.get_current()

    def enter(self, context: TraceContext) -> object:
        """Make it the current one; what `leave` is given."""
        return contexts.attach(_context(context))

    def leave(self, entered: object) -> None:
        """Make the one before it the current one again."""
        contexts.detach(cast("Token[Context]", entered))

    def arrived(self, headers: Mapping[str, str]) -> TraceContext | None:
        """What the headers of a request say, unless whoever serves it traces it already."""
        if trace.get_current_span().get_span_context().is_valid:
            return None
        return propagate.extract(headers)

    def leaving(self, context: TraceContext) -> Mapping[str, str]:
        """It, as the headers of a request that is made in it."""
        headers: dict[str, str] = {}
        propagate.inject(headers, _context(context))
        return headers

    def begin(
        self, what: Begins, within: TraceContext | None, links: Sequence[TraceContext]
    ) -> _Running:
        """A span that is current to nobody yet."""
        name, kind, attributes = _beginning(what)
        parent = _context(within)
        if not isinstance(what, TracedRun):
            parent = _innermost(parent)
        span = self._tracer.start_span(
            name, context=parent, kind=kind, attributes=attributes, links=_links(links)
        )
        return _Running(span, parent, self._aside)

    def stopped(
        self,
        receipt: Receipt,
        ago: float,
        within: TraceContext | None,
        runs: Sequence[TraceContext],
    ) -> None:
        """One span, from the fence to the receipt, with a link to each run that it ended."""
        now = time.time_ns()

        def tell() -> None:
            span = self._tracer.start_span(
                "lastword.stop",
                context=_context(within),
                attributes=_stopping(receipt),
                links=_links(runs),
                start_time=now - int(ago * _SECOND),
            )
            if not receipt.quiet or not receipt.durable:
                why = "not quiet" if not receipt.quiet else "not durable"
                span.set_status(Status(StatusCode.ERROR, why))
            span.end(now)

        self._aside.do(tell)

    def flush(self, seconds: float = 1.0) -> bool:
        """Wait until all that has ended was told to the provider; whether it was in that time."""
        return self._aside.flush(seconds)


class _Running:
    """A span that has not ended."""

    __slots__ = ("_aside", "_span", "context")

    def __init__(self, span: Span, parent: Context, aside: _Aside) -> None:
        self._span = span
        self._aside = aside
        self.context: TraceContext = trace.set_span_in_context(span, parent)

    def link(self, context: TraceContext) -> None:
        for link in _links([context]):
            self._span.add_link(link.context)

    def reached(self) -> None:
        self._span.add_event(_BEGUN)

    def end(self, over: SpanEnd) -> None:
        now, span = time.time_ns(), self._span

        def tell() -> None:
            attributes, error, why = _ending(over)
            span.set_attributes(attributes)
            if error:
                span.set_attribute("error.type", error)
                span.set_status(Status(StatusCode.ERROR, why or None))
            span.end(now)

        self._aside.do(tell)


class _Aside:
    """What is done in order, in a thread that is there while there is something to do."""

    def __init__(self) -> None:
        self._threads = DaemonThreads()
        self._waiting: deque[Callable[[], None]] = deque()
        self._quiet = threading.Condition()
        self._busy = False
        self._full = False

    def do(self, work: Callable[[], None]) -> None:
        with self._quiet:
            if len(self._waiting) >= _MOST:
                self._say_full()
                return
            self._waiting.append(work)
            if self._busy:
                return
            self._busy = True
        self._threads.submit(self._work)

    def flush(self, seconds: float) -> bool:
        with self._quiet:
            return self._quiet.wait_for(lambda: not self._busy, seconds)

    def _work(self) -> None:
        while True:
            with self._quiet:
                if not self._waiting:
                    self._busy = False
                    self._quiet.notify_all()
                    return
                work = self._waiting.popleft()
            try:
                work()
            except Exception as error:  # a processor's, say: the next may go better
                log.debug("a span was not told error=%s", type(error).__name__, exc_info=error)

    def _say_full(self) -> None:
        if not self._full:
            self._full = True
            log.warning("spans are not taken in as fast as they end; some are lost")


def _context(given: TraceContext | None) -> Context:
    """An empty one where none is given: never that of whoever happens to be here."""
    return given if isinstance(given, Context) else Context()


def _innermost(run: Context) -> Context:
    """Where something in a run is done: in a span of the program's own below the run's, maybe."""
    here = contexts.get_current()
    of_run = trace.get_current_span(run).get_span_context()
    found = trace.get_current_span(here).get_span_context()
    return here if found.is_valid and found.trace_id == of_run.trace_id else run


def _links(given: Sequence[TraceContext]) -> list[Link]:
    found = (trace.get_current_span(_context(one)).get_span_context() for one in given)
    return [Link(one) for one in found if one.is_valid]


def _beginning(what: Begins) -> tuple[str, SpanKind, dict[str, AttributeValue]]:
    """A span's name, its kind, and what is known of it from the start."""
    of: dict[str, AttributeValue] = {
        "gen_ai.conversation.id": what.session,
        "lastword.run.id": what.run,
    }
    match what:
        case TracedRun():
            of |= {
                "gen_ai.operation.name": "invoke_agent",
                "lastword.generation": what.generation,
                **_told("lastword.run.policy", what.policy),
                **_told("lastword.run.above", what.above),
            }
            return "lastword.run", SpanKind.INTERNAL, of
        case TracedCall():
            of |= {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": what.name,
                "gen_ai.tool.call.id": what.call,
                "gen_ai.tool.type": "function",
                "lastword.tool.isolated": what.isolated,
                **_told("lastword.tool.nature", what.nature),
            }
            return f"execute_tool {what.name}", SpanKind.INTERNAL, of
        case TracedRequest():
            of |= {
                "gen_ai.operation.name": "chat",
                **_told("gen_ai.request.model", what.model),
                **_told("gen_ai.provider.name", what.provider),
            }
            return f"chat {what.model}".strip(), SpanKind.CLIENT, of


def _ending(over: SpanEnd) -> tuple[dict[str, AttributeValue], str, str]:
    """What is known at its end; of an error, its type and what is said of it."""
    match over:
        case RunEnded():
            failed = over.error or UNNAMED if over.outcome is Outcome.FAILED else ""
            return {"lastword.run.outcome": over.outcome.value}, failed, ""
        case CallEnded():
            doubtful = over.status is CallStatus.MAY_HAVE_EXECUTED
            raised = over.error if over.status is CallStatus.COMPLETED else ""
            why = over.status.value if doubtful else ""
            told: dict[str, AttributeValue] = {"lastword.tool.status": over.status.value}
            return told, raised or why.replace(" ", "_"), why
        case RequestEnded():
            told = {
                "lastword.request.cancelled": over.cancelled,
                **_told("gen_ai.response.model", over.model),
                **_told("gen_ai.usage.input_tokens", over.input_tokens),
                **_told("gen_ai.usage.output_tokens", over.output_tokens),
                **_told("gen_ai.response.time_to_first_chunk", over.first),
            }
            return told, over.error, ""


def _stopping(receipt: Receipt) -> dict[str, AttributeValue]:
    calls = [call.status for call in receipt.calls]
    fates = [process.fate for process in receipt.processes]
    return {
        "gen_ai.conversation.id": receipt.session,
        "lastword.generation": receipt.generation,
        "lastword.stop.reason": receipt.reason.value,
        "lastword.stop.quiet": receipt.quiet,
        "lastword.stop.durable": receipt.durable,
        "lastword.stop.runs": len(receipt.runs),
        "lastword.stop.refused": receipt.dropped,
        "lastword.stop.calls.completed": calls.count(CallStatus.COMPLETED),
        "lastword.stop.calls.not_started": calls.count(CallStatus.NOT_STARTED),
        "lastword.stop.calls.may_have_executed": calls.count(CallStatus.MAY_HAVE_EXECUTED),
        **{f"lastword.stop.processes.{fate}": fates.count(fate) for fate in _FATES},
        "lastword.stop.children": len(receipt.children),
        "lastword.stop.messages": len(receipt.messages),
        "lastword.stop.unconfirmed": len(receipt.unconfirmed),
        **_told("lastword.stop.level", receipt.level),
    }


def _told(name: str, value: str | float | None) -> dict[str, AttributeValue]:
    """An attribute, if there is something to say."""
    return {} if value is None or value == "" else {name: value}
