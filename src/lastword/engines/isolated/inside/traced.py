"""What is traced in a run's process is part of what its host traces, if OpenTelemetry is there.

It is not imported for that: where nobody has imported it, nothing is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from lastword.runtime.tracing import Headers

_API = "opentelemetry.trace"


def enter(headers: Headers) -> None:
    """From here on, this task is part of that."""
    if headers and _API in sys.modules:
        from opentelemetry import context, propagate  # noqa: PLC0415 - it is there

        context.attach(propagate.extract(dict(headers)))


@contextmanager
def inside(headers: Headers) -> Generator[None]:
    """Meanwhile this is part of that."""
    if not headers or _API not in sys.modules:
        yield
        return
    from opentelemetry import context, propagate  # noqa: PLC0415 - it is there

    entered = context.attach(propagate.extract(dict(headers)))
    try:
        yield
    finally:
        context.detach(entered)
