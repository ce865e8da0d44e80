"""What a server has done, as Prometheus reads it: counts, and no name of a session or person.

What is told does not grow with what happens here: every label has a few values. If the store does
not answer, what only it knows is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple, TypeAlias, TypeVar

from lastword.core.model import Outcome, Reason, Status
from lastword.errors import LastwordError
from lastword.runtime.counters import Counters, Histogram, ModelCounters
from lastword.runtime.runtime import Runtime
from lastword.server.desk import ApiRequest, Reply, ServerState
from lastword.server.neighbours import Neighbours

_PATIENCE = 1.0  # seconds in which a store is to answer
_OUTCOMES = tuple(o for o in Outcome if o not in {Outcome.WITHDRAWN, Outcome.REFUSED})
_STATUSES = (Status.COMPLETED, Status.NOT_STARTED, Status.MAY_HAVE_EXECUTED)
_FATES = ("ended", "killed", "unconfirmed")
_HOW = ("forwarded", "relayed", "unanswered")
_ENDS = ("completed", "failed", "cancelled")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
S = TypeVar("S", bound=str)
Labels: TypeAlias = Mapping[str, str]
Sample: TypeAlias = tuple[str, Labels, float]  # what its name has more, its labels, its value


class Metric(NamedTuple):
    """One metric, as Prometheus knows it."""

    name: str
    kind: str
    about: str
    samples: list[Sample]

    def lines(self) -> Iterator[str]:
        """As they are read."""
        yield f"# HELP {self.name} {self.about}"
        yield f"# TYPE {self.name} {self.kind}"
        for more, labels, value in self.samples:
            told = ",".join(f'{name}="{one.translate(_ESCAPES)}"' for name, one in labels.items())
            yield f"{self.name}{more}{f'{{{told}}}' if told else ''} {value}"


async def metrics(asked: ApiRequest) -> Reply:
    """Runs, stops, tools, models, processes and the store, counted."""
    counters = asked.desk.runtime.counters
    every = [
        *_done(counters),
        *_asked_of(counters.models),
        *_now(asked.desk),
        *_among(asked.desk.neighbours),
        *await _stored(asked.desk.runtime),
    ]
    told = "".join(f"{line}\n" for metric in every for line in metric.lines())
    return Reply(told.encode(), media="text/plain; version=0.0.4; charset=utf-8")


def _done(counters: Counters) -> Iterator[Metric]:
    """What happened since the server was started."""
    accepted, refused = counters.accepted, counters.refused
    yield _counter("messages_accepted", "Messages that were accepted.", [({}, accepted)])
    yield _counter("runs", "Runs that have ended.", _by("outcome", _OUTCOMES, counters.runs))
    yield _counter("tool_calls", "Tool calls.", _by("status", _STATUSES, counters.calls))
    yield _counter("stops", "Stops and takeovers.", _by("reason", Reason, counters.reasons))
    yield _histogram("stop_seconds", "From the fence to the receipt.", [({}, counters.stops)])
    yield _counter("effects_refused", "Effects of runs refused after a stop.", [({}, refused)])
    ended = _by("fate", _FATES, counters.processes)
    yield _counter("processes_ended", "Processes that stops have ended.", ended)


def _asked_of(models: Mapping[str, ModelCounters]) -> Iterator[Metric]:
    """What was asked of models, and what came of it."""
    every = [({"model": name}, of) for name, of in sorted(models.items())]
    yield _counter(
        "model_requests",
        "Requests to models that have ended.",
        [(name | {"outcome": end}, of.requests[end]) for name, of in every for end in _ENDS],
    )
    yield _counter(
        "model_errors",
        "Requests to models that failed.",
        [(name | {"kind": kind}, of.errors[kind]) for name, of in every for kind in of.errors],
    )
    yield _counter(
        "model_tokens",
        "Tokens that models were given, and gave.",
        [
            (name | {"direction": direction}, many)
            for name, of in every
            for direction, many in (("input", of.input_tokens), ("output", of.output_tokens))
        ],
    )
    yield _histogram(
        "model_request_seconds",
        "From a request to a model to the end of its answer.",
        [(name, of.took) for name, of in every],
    )
    yield _histogram(
        "model_first_token_seconds",
        "From a request to a model to the first of its answer.",
        [(name, of.first) for name, of in every],
    )


def _now(desk: ServerState) -> Iterator[Metric]:
    """How it stands."""
    sessions = desk.runtime.at_hand
    active = sum(session.active is not None for session in sessions)
    yield _gauge("runs_active", "Runs that go on.", [({}, active)])
    waiting = sum(len(session.queue) for session in sessions)
    yield _gauge("messages_waiting", "Messages that wait.", [({}, waiting)])
    yield _gauge("sessions_at_hand", "Sessions in memory.", [({}, len(sessions))])
    watchers = desk.shares.watchers.total()
    yield _gauge("watchers", "Event streams that are open.", [({}, watchers)])
    writable = int(desk.runtime.store_trouble is None)
    yield _gauge("store_writable", "Whether the store takes writes.", [({}, writable)])
    since = desk.runtime.counters.since
    yield _gauge("start_time_seconds", "When it was started, since 1970.", [({}, since)])


def _among(neighbours: Neighbours | None) -> Iterator[Metric]:
    """How it stands with the other servers of the same database, if it knows any."""
    known = [neighbours] if neighbours else []
    asked = _by("how", _HOW, neighbours.counts if neighbours else {})
    yield _counter("forwarded", "Requests about sessions that another server has.", asked)
    left: list[tuple[Labels, float]] = [({}, max(of.lease_left, 0.0)) for of in known]
    yield _gauge("lease_seconds", "For which the lease is good.", left)
    many: list[tuple[Labels, float]] = [({}, len(of.peers.known) + 1) for of in known]
    yield _gauge("nodes", "Servers over the database.", many)


async def _stored(runtime: Runtime) -> list[Metric]:
    """What the store holds, if it says so soon."""
    try:
        async with asyncio.timeout(_PATIENCE):
            size = await runtime.store_size()
    except (LastwordError, TimeoutError):
        return []
    files = [({"file": name}, many) for name, many in size.files]
    return [
        _gauge("store_sessions", "Sessions that the store has.", [({}, size.sessions)]),
        _gauge("store_bytes", "Bytes of the store's files.", files),
    ]


def _by(label: str, values: Iterable[S], counts: Mapping[S, int]) -> list[tuple[Labels, int]]:
    return [({label: str(one)}, counts.get(one, 0)) for one in values]


def _counter(name: str, about: str, counts: Iterable[tuple[Labels, int]]) -> Metric:
    samples: list[Sample] = [("", labels, count) for labels, count in counts]
    return Metric(f"lastword_{name}_total", "counter", about, samples)


def _gauge(name: str, about: str, counts: Iterable[tuple[Labels, float]]) -> Metric:
    return Metric(f"lastword_{name}", "gauge", about, [("", ls, count) for ls, count in counts])


def _histogram(name: str, about: str, told: Iterable[tuple[Labels, Histogram]]) -> Metric:
    samples = list[Sample]()
    for labels, one in told:
        heaps = list(accumulate(one.counts))
        bounds = (*map(str, one.bounds), "+Inf")
        for bound, heap in zip(bounds, heaps, strict=True):
            samples.append(("_bucket", {**labels, "le": bound}, heap))
        samples += [("_sum", labels, one.total), ("_count", labels, heaps[-1])]
    return Metric(f"lastword_{name}", "histogram", about, samples)
