"""Q. What a tracer does breaks no run and delays no stop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from lastword import Outcome, Run, Runtime
from lastword.runtime.tracing import Tracer
from lastword.telemetry import OpenTelemetry
from tests.telemetry.spans import Spans


class Door:
    """An engine that asks a model, calls a tool, and then waits."""

    def __init__(self) -> None:
        self.up = asyncio.Event()
        self.called = 0

    async def tool(self) -> None:
        self.called += 1

    async def __call__(self, run: Run) -> None:
        with run.model_request("m") as request:
            request.first()
            request.used(1, 2)
        await run.call(self.tool)
        await run.emit("said")
        if run.message.text == "wait":
            self.up.set()
            await asyncio.Event().wait()


async def all_is_well(tracer: Tracer, **settings: float) -> None:
    """A run completes, one is stopped, and one takes over."""
    engine = Door()
    async with Runtime(engine, tracer=tracer, **settings) as r:  # pyright: ignore[reportArgumentType] - seconds
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        await session.send("wait")
        await engine.up.wait()
        engine.up.clear()
        receipt = await session.stop()
        assert (receipt.quiet, receipt.durable, len(receipt.runs)) == (True, True, 1)
        old = await session.send("wait")
        await engine.up.wait()
        assert await (await session.send("new")).outcome() == Outcome.COMPLETED
        assert await old.outcome() == Outcome.SUPERSEDED
        assert engine.called == 4
        assert r.counters.models["m"].input_tokens == 4


class Broken:
    """A tracer, or a span, all of whose methods raise; or those that the test names."""

    def __init__(self, only: str = "") -> None:
        self.told: set[str] = set()
        self._only = only

    def __getattr__(self, name: str) -> Callable[..., object]:
        def method(*_: object) -> object:
            self.told.add(name)
            if self._only in ("", name):
                raise RuntimeError(name)
            return self

        return method


@pytest.mark.scenario("Q5")
@pytest.mark.parametrize(
    "only", ["", "here", "enter", "leave", "begin", "stopped", "flush", "end", "reached"]
)
async def test_a_tracer_that_raises_breaks_nothing_and_is_told_of_once(
    only: str, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Broken(only)
    with caplog.at_level(logging.WARNING, "lastword"):
        await all_is_well(broken)  # pyright: ignore[reportArgumentType] - it has every method

    assert caplog.text.count("the tracer failed") == 1
    assert not only or only in broken.told


class Stuck(SpanExporter):
    """A collector that does not answer, asked in the step in which a span ends."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.answers = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked.set()
        self.answers.wait()
        return SpanExportResult.SUCCESS


@pytest.mark.scenario("Q5")
async def test_an_exporter_that_never_returns_delays_no_run_and_no_stop() -> None:
    provider, stuck = TracerProvider(), Stuck()
    provider.add_span_processor(SimpleSpanProcessor(stuck))
    try:
        await all_is_well(OpenTelemetry(provider), deadline=1.0, grace=0.1)
        assert stuck.asked.is_set()
    finally:
        stuck.answers.set()


class Raises(SpanProcessor):
    """A team's own, with a mistake in it."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        raise RuntimeError(span.name)

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError(span.name)


@pytest.mark.scenario("Q5")
async def test_a_span_processor_that_raises_breaks_nothing() -> None:
    provider = TracerProvider()
    provider.add_span_processor(Raises())

    await all_is_well(OpenTelemetry(provider))


@pytest.mark.scenario("Q5")
async def test_what_waits_to_be_ended_does_not_grow_without_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lastword.telemetry._MOST", 5)
    provider, stuck = TracerProvider(), Stuck()
    provider.add_span_processor(SimpleSpanProcessor(stuck))
    try:
        with caplog.at_level(logging.WARNING, "lastword"):
            await all_is_well(OpenTelemetry(provider), deadline=1.0, grace=0.1)
    finally:
        stuck.answers.set()

    assert caplog.text.count("some are lost") == 1


def test_what_is_no_tracer_is_an_error_that_says_what_is() -> None:
    with pytest.raises(TypeError, match=r"lastword\.telemetry\.OpenTelemetry.*has no here\(\)"):
        Runtime(Door(), tracer=Spans().own)  # pyright: ignore[reportArgumentType] - the mistake
