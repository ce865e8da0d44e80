"""What a server has done, as Prometheus reads it: counts, and no name of a session or person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate

from lastword.core.model import Outcome
from lastword.runtime.counters import BOUNDS
from lastword.server.desk import ApiRequest, Reply

_RUNS = (o for o in Outcome if o not in {Outcome.WITHDRAWN, Outcome.REFUSED})
_OUTCOMES = tuple(_RUNS)
_FATES = ("ended", "killed", "unconfirmed")


async def metrics(asked: ApiRequest) -> Reply:
    """Runs by outcome, stops and how long they took, effects refused, processes ended, watchers."""
    desk = asked.desk
    counters, sessions = desk.runtime.counters, desk.runtime.at_hand
    lines = [
        *_counter("messages_accepted", "Messages that were accepted.", counters.accepted),
        *_by("runs", "Runs that have ended.", "outcome", {o: counters.runs[o] for o in _OUTCOMES}),
        *_counter("effects_refused", "Effects of runs refused after a stop.", counters.refused),
        *_by(
            "processes_ended",
            "Processes that stops have ended.",
            "fate",
            {fate: counters.processes[fate] for fate in _FATES},
        ),
        *_histogram(
            "stop_seconds", "From the fence to the receipt.", counters.stops, counters.stopping
        ),
        *_gauge("runs_active", "Runs that go on.", sum(s.active is not None for s in sessions)),
        *_gauge("messages_waiting", "Messages that wait.", sum(len(s.queue) for s in sessions)),
        *_gauge("sessions_at_hand", "Sessions in memory.", len(sessions)),
        *_gauge("watchers", "Event streams that are open.", desk.shares.watchers.total()),
    ]
    media = "text/plain; version=0.0.4; charset=utf-8"
    return Reply("".join(f"{line}\n" for line in lines).encode(), media=media)


def _head(name: str, about: str, kind: str) -> list[str]:
    return [f"# HELP lastword_{name} {about}", f"# TYPE lastword_{name} {kind}"]


def _counter(name: str, about: str, value: int) -> list[str]:
    name = f"{name}_total"
    return [*_head(name, about, "counter"), f"lastword_{name} {value}"]


def _gauge(name: str, about: str, value: int) -> list[str]:
    return [*_head(name, about, "gauge"), f"lastword_{name} {value}"]


def _by(name: str, about: str, label: str, values: Mapping[str, int]) -> list[str]:
    name = f"{name}_total"
    rows = [f'lastword_{name}{{{label}="{one}"}} {count}' for one, count in values.items()]
    return [*_head(name, about, "counter"), *rows]


def _histogram(name: str, about: str, counts: Iterable[int], total: float) -> list[str]:
    heaps = list(accumulate(counts))
    bounds = [*map(str, BOUNDS), "+Inf"]
    rows = [
        f'lastword_{name}_bucket{{le="{bound}"}} {count}'
        for bound, count in zip(bounds, heaps, strict=True)
    ]
    rows += [f"lastword_{name}_sum {total}", f"lastword_{name}_count {heaps[-1]}"]
    return [*_head(name, about, "histogram"), *rows]
