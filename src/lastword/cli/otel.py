"""`lastword serve --otel`: spans to a collector, as the standard OTEL_* variables say.

Nothing is set up that somebody has set up already, as `opentelemetry-instrument` does, and nothing
leaves this machine unless it is asked for by name. What is asked for and not done is an error.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from lastword.runtime.threads import DaemonThreads

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from lastword.runtime.tracing import Tracer

ABOUT = "send OpenTelemetry spans of runs, model calls, tools and stops, as OTEL_* variables say"
_NEEDS = "pip install 'lastword[otel]' opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
_OTHERWISE = (
    "for another, set it up around lastword: opentelemetry-instrument lastword serve --otel"
)
_TAKEN = {  # what is done here of what can be asked for
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
}
_A_MOMENT = 2.0  # seconds that a collector has for what is left at the end


@asynccontextmanager
async def traced(*, wanted: bool) -> AsyncGenerator[Tracer | None]:
    """The tracer for a runtime; when this ends, what it was told has been sent, or is given up."""
    if not wanted:
        yield None
        return
    try:
        from opentelemetry import trace  # noqa: PLC0415 - needs an extra

        from lastword.telemetry import OpenTelemetry  # noqa: PLC0415 - needs an extra

        is_set_up = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
        provider = None if is_set_up else _provider()
    except ModuleNotFoundError as error:
        raise ValueError(f"--otel: {error.name} is not installed; {_NEEDS}") from error
    try:
        yield OpenTelemetry(provider)
    finally:
        if provider is not None:
            loop = asyncio.get_running_loop()
            # not one of Python's own threads, which would be waited for as the program ends
            end = loop.run_in_executor(DaemonThreads(), provider.shutdown)
            await asyncio.wait([end], timeout=_A_MOMENT)


def _provider() -> TracerProvider:
    for name, taken in _TAKEN.items():
        if (told := os.environ.get(name) or taken) != taken:
            raise ValueError(f"--otel: {name} can be {taken} here; it is {told!r}. {_OTHERWISE}")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    named = Resource.create()
    if str(named.attributes[SERVICE_NAME]).startswith("unknown_service"):
        named = named.merge(Resource({SERVICE_NAME: "lastword"}))
    provider = TracerProvider(resource=named, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
