"""What happened in a runtime, counted: for whoever watches over many of them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from lastword.core.model import Outcome
from lastword.core.receipt import Receipt

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # seconds


class Counters:
    """One runtime's, since it was opened."""

    def __init__(self) -> None:
        self.accepted = 0  # messages
        self.runs: Counter[Outcome] = Counter()
        self.stops = [0] * (len(BOUNDS) + 1)  # by how long they took: up to each bound, and longer
        self.stopping = 0.0  # seconds in all
        self.refused = 0  # effects
        self.processes: Counter[str] = Counter()  # by what became of them at a stop

    def stopped(self, receipt: Receipt) -> None:
        """A stop or a takeover was answered."""
        self.stops[bisect_left(BOUNDS, receipt.took)] += 1
        self.stopping += receipt.took
        self.refused += receipt.dropped
        self.processes.update(p.fate for p in receipt.processes if p.fate != "kept")
