"""A tracer whose spans a test can look at, as the SDK of OpenTelemetry has them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.trace import StatusCode, Tracer

from lastword import Engine, Runtime
from lastword.telemetry import OpenTelemetry

Tree: TypeAlias = Mapping[str, Any]


class Spans(SpanProcessor):
    """Every span there is, in the order in which they began, and those that have ended."""

    def __init__(self) -> None:
        self.begun: list[ReadableSpan] = []
        self.ended: list[ReadableSpan] = []
        self._lock = threading.Lock()
        self.provider = TracerProvider()
        self.provider.add_span_processor(self)
        self.tracer = OpenTelemetry(self.provider)  # a runtime's
        self.own: Tracer = self.provider.get_tracer("the program's own")

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        with self._lock:
            self.begun.append(span)

    def on_end(self, span: ReadableSpan) -> None:
        with self._lock:
            self.ended.append(span)

    @asynccontextmanager
    async def runtime(self, engine: Engine, **settings: Any) -> AsyncGenerator[Runtime]:
        """One that is traced; when this ends, everything that has ended is here."""
        async with Runtime(engine, tracer=self.tracer, **settings) as runtime:
            yield runtime
        await self.told()

    async def told(self) -> None:
        """Return when all that has ended is here."""
        while not await asyncio.to_thread(self.tracer.flush, 60.0):
            pass

    @property
    def open(self) -> list[str]:
        """The names of those that have not ended."""
        ended = {key(span) for span in self.ended}
        return [span.name for span in self.begun if key(span) not in ended]

    def named(self, name: str) -> list[ReadableSpan]:
        """Those that have ended, in the order in which they began."""
        order = {key(span): place for place, span in enumerate(self.begun)}
        found = [span for span in self.ended if span.name == name]
        return sorted(found, key=lambda span: order[key(span)])

    def one(self, name: str) -> ReadableSpan:
        [found] = self.named(name)
        return found

    def tree(self, below: ReadableSpan | None = None) -> Tree:
        """The names of those that have ended, each with what is below it."""
        parent = key(below) if below else None
        return {
            span.name: self.tree(span)
            for span in sorted(self.ended, key=lambda span: span.name)
            if (span.parent.span_id if span.parent else None) == parent
        }


def key(span: ReadableSpan) -> int:
    assert span.context
    return span.context.span_id


def trace_of(span: ReadableSpan) -> int:
    assert span.context
    return span.context.trace_id


def told_of(span: ReadableSpan, *names: str) -> list[Any]:
    """These attributes of it; None for those that it has not."""
    return [(span.attributes or {}).get(name) for name in names]


def status_of(span: ReadableSpan) -> tuple[StatusCode, str | None]:
    return span.status.status_code, span.status.description


def links_of(span: ReadableSpan) -> list[int]:
    """The spans that it has links to."""
    return [link.context.span_id for link in span.links]


def parent_of(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None
