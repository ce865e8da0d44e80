"""An isolated engine that traces what it does, by itself: its spans are in the file that its
message names once its run has ended."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from lastword import Engine, Run


@asynccontextmanager
async def engine() -> AsyncGenerator[Engine]:
    spans, provider, files = InMemorySpanExporter(), TracerProvider(), list[Path]()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    tracer = provider.get_tracer("its own")

    async def first() -> None:
        with tracer.start_as_current_span("waits"):
            pass

    def second() -> None:  # in a thread
        with tracer.start_as_current_span("looks"):
            pass

    async def answer(run: Run) -> None:
        files.append(Path(run.message.text))
        await run.call(first)
        await run.call(second)
        with tracer.start_as_current_span("thinks"):
            pass

    yield answer
    told = [
        {
            "name": span.name,
            "trace": span.context.trace_id,
            "parent": span.parent.span_id if span.parent else None,
        }
        for span in spans.get_finished_spans()
        if span.context
    ]
    files[0].write_text(json.dumps(told))
