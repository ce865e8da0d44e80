"""What happened in a runtime, counted: for whoever watches over many of them.

How much there is to tell does not grow with what happened: of names that come from outside, which
are models and kinds of errors, the first few are told apart, and the rest is one.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter

from lastword.core.model import Outcome, Reason, Status
from lastword.core.receipt import Receipt
from lastword.runtime.tracing import RequestEnded

STOPS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # seconds
MODELS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
MOST_NAMES = 20  # of models, and of kinds of errors of one, that are told apart
OTHER = "other"
_NAMELESS = "unknown"


class Histogram:
    """How often something took how long."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)  # up to each bound, and longer
        self.total = 0.0  # seconds in all

    def observe(self, seconds: float) -> None:
        """Once more."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds


class ModelCounters:
    """What was asked of one model."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()  # by how they ended
        self.errors: Counter[str] = Counter()  # by kind
        self.took = Histogram(MODELS)  # those that were answered, from first to last
        self.first = Histogram(MODELS)  # until something of the answer came
        self.input_tokens = 0
        self.output_tokens = 0


class Counters:
    """One runtime's, since it was opened."""

    def __init__(self, since: float = 0.0) -> None:
        self.since = since  # in seconds since 1970
        self.accepted = 0  # messages
        self.runs: Counter[Outcome] = Counter()
        self.calls: Counter[Status] = Counter()
        self.stops = Histogram(STOPS)  # from the fence to the receipt
        self.reasons: Counter[Reason] = Counter()  # of stops
        self.refused = 0  # effects
        self.processes: Counter[str] = Counter()  # by what became of them at a stop
        self.models: dict[str, ModelCounters] = {}
        self._lock = threading.Lock()  # models are asked in any thread

    def stopped(self, receipt: Receipt) -> None:
        """A stop or a takeover was answered."""
        self.stops.observe(receipt.took)
        self.reasons[receipt.reason] += 1
        self.refused += receipt.dropped
        self.processes.update(p.fate for p in receipt.processes if p.fate != "kept")

    def requested(self, model: str, over: RequestEnded, took: float) -> None:
        """A request to a model has ended. Any thread may tell."""
        with self._lock:
            of = self._of(model)
            how = "failed" if over.error else "cancelled" if over.cancelled else "completed"
            of.requests[how] += 1
            if over.error:
                of.errors[_among(of.errors, over.error)] += 1
            if how == "completed":
                of.took.observe(took)
            if over.first is not None:
                of.first.observe(over.first)
            of.input_tokens += over.input_tokens or 0
            of.output_tokens += over.output_tokens or 0

    def used(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """The same, where no more of it is known than what it cost."""
        with self._lock:
            of = self._of(model)
            of.input_tokens += input_tokens
            of.output_tokens += output_tokens

    def _of(self, model: str) -> ModelCounters:
        return self.models.setdefault(_among(self.models, model or _NAMELESS), ModelCounters())


def _among(known: dict[str, ModelCounters] | Counter[str], name: str) -> str:
    """The name, if it is one of those that are told apart."""
    return name if name in known or len(known) < MOST_NAMES else OTHER
