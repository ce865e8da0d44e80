"""A storm on one server, and how long a stop takes in it beside the same stop when nothing else
goes on: words, watchers, exports, floods of connections, slow bodies, and tool calls under
thousands of rules, all at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.children import Child, Said, child, number
from bench.storm_clients import CALLERS, CONNECTS, NONE_LEFT, STOPPED, WATCHERS, Took
from bench.turns import heading, quantile, row

SESSIONS, EXPORTS, BODIES = 1000, 2, 300
RATE = 100  # stops a second
CALM, SETTLE, STORM = 10.0, 3.0, 30.0  # seconds
ROOM = 0.04  # seconds that a stop may take longer than on an idle server
PARTS = {"p50": 0.5, "p99": 0.99, "worst": 1.0}


def storm(where: Path, sessions: int = SESSIONS) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="bench-", suffix=".db", dir=where) as name,
        ExitStack() as stack,
    ):
        server = stack.enter_context(child("bench.storm_server", name))
        port = str(server.hear()["port"])

        def joined(kind: str, count: int) -> Child:
            told = "bench.storm_clients", kind, port, str(count), str(server.pid)
            made = stack.enter_context(child(*told))
            made.hear()
            return made

        stops = joined("stops", STOPPED)
        calm = during(server, stops, {}, CALM)
        others = {
            "exports": joined("exports", EXPORTS),
            "crowd": joined("crowd", sessions),
            "flood": joined("flood", CONNECTS),
            "slow": joined("slow", BODIES),
        }
        during(server, stops, others, SETTLE)
        tell(calm, during(server, stops, others, STORM), sessions)


def during(server: Child, stops: Child, others: dict[str, Child], seconds: float) -> Said:
    """What all of them saw while the stops were made."""
    before = server.ask("measure")
    for one in others.values():
        one.ask("from now on")
    seen = {"stops": stops.ask(f"[{seconds}, {RATE}]")}
    after = server.ask("measure")
    for kind, one in others.items():
        seen[kind] = one.ask("until now")
    spent = {name: after[name] - before[name] for name in ("cpu", "loop", "line")}
    return {**after, **spent, "clients": seen, "load": os.getloadavg()[0]}


def tell(calm: Said, storm: Said, sessions: int) -> None:
    heading(f"{RATE} stops a second, on an idle server")
    idle = stops_of(calm)
    for part, value in PARTS.items():
        row(f"{part} from the stop to its receipt", quantile([one.all for one in idle], value))
    heading(f"{RATE} stops a second, among {sessions:,} sessions of one word a second")
    stormy, median = stops_of(storm), quantile([one.all for one in idle], 0.5)
    lines: dict[str, Callable[[Took], float]] = {
        "from the stop to its receipt": lambda one: one.all,
        "of the same, less the loop's run-queue wait": lambda one: one.all - one.loop,
        "of the client's own wait in it": lambda one: one.client,
    }
    for what, of in lines.items():
        for part, value in PARTS.items():
            row(f"{part} {what}", quantile(map(of, stormy), value), ("p50 when idle", median))
    late = quantile(storm["clients"]["stops"]["late"], 0.99)
    row("p99 of how late the client was to write", late)
    waited = quantile([one.loop for one in stormy], 0.99)
    goal = median + ROOM + waited
    took = quantile([one.all for one in stormy], 0.99)
    row("the goal: p50 when idle + 40 ms + p99 of the wait", goal)
    row("p99, beside it", took, ("the goal; at most 1", goal))
    around(storm, sessions)


def stops_of(phase: Said) -> list[Took]:
    """Those that were answered; those that were not, or not as they should be, are told."""
    stops = phase["clients"]["stops"]
    number("stops answered", len(stops["took"]), "")
    unasked = stops["seen"].pop(NONE_LEFT, 0)  # all that spoke are being stopped, or begin again
    number("not asked, since nothing spoke", unasked, "")
    number("refused or failed", sum(stops["seen"].values()), "")
    for what, count in stops["seen"].items():
        number(f"  {what}", count, "")
    return [Took(*one) for one in stops["took"]]


def around(storm: Said, sessions: int) -> None:
    """What else went on."""
    clients: dict[str, dict[str, Any]] = storm["clients"]
    heading("meanwhile")
    row("the loop's longest round, by its thread's clock", storm["ran"])
    row("p99 of its rounds, by its thread's clock", storm["ran_p99"])
    row("the loop's longest round, on the wall", storm["passed"])
    row("p99 of its rounds, on the wall", storm["passed_p99"])
    passed = clients["stops"]["passed"]
    for name, what in {"cpu": "the server", "loop": "its loop"}.items():
        number(f"of a core, {what}", 100 * storm[name] / passed, "%")
    number("the loop's thread stood in line", 100 * storm["line"] / passed, "% of the time")
    seen = {kind: one["seen"] for kind, one in clients.items()}
    wanted = (f"what {WATCHERS} watchers of each would hear", sessions * WATCHERS)
    number("words heard", seen["crowd"].get("words", 0) / passed, "a second", wanted)
    number("streams that ended", seen["crowd"].get("streams that ended", 0), "")
    number(f"exports of 20,000 entries, {EXPORTS} at a time", seen["exports"].get("exports", 0), "")
    number("connections of nobody's", seen["flood"].get("connections", 0) / passed, "a second")
    number(f"slow bodies, {BODIES} at a time", seen["slow"].get("bodies", 0), "")
    number("tool calls under 20,000 rules, as many asked", CALLERS, "a second")
    for kind, one in clients.items():
        number(f"of a core, {kind}", 100 * one["ran"] / one["passed"], "%")
        number("  and stood in line", 100 * one["line"] / one["passed"], "% of the time")
    number("load average", storm["load"], "")
