"""Event streams, messages and a storm of stops over HTTP, beside bare servers of the same kind."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from bench import storm as of_everything
from bench.children import LONGEST, Child, child, number
from bench.turns import heading, quantile, row

HERE = Path(__file__).parent.parent  # on the disk that the repository is on
ROUNDS = 3
STREAMS = {100: (500, 0.0025), 1000: (40, 0.05)}  # watchers: how many events, how far apart
SENDERS, TURNS, TURN = (1, 32), 2, 1.2
RUNS, PACE, CALM, AFTER = 1000, 0.05, 1.5, 0.5  # of the storm; seconds
STARTS = 3
OURS, STARLETTE, RAW = "lastword", "starlette", "raw"


async def main(sessions: int | None = None) -> None:
    if sessions is not None:
        of_everything.storm(HERE, sessions)
        return
    with tempfile.TemporaryDirectory(prefix="bench-", suffix=".db", dir=HERE) as name:
        folder = Path(name)
        for watchers in STREAMS:
            streams(folder, watchers)
        for senders in SENDERS:
            messages(folder, senders)
        storm(folder)
        starts(folder)
    of_everything.storm(HERE)


@contextmanager
def served(side: str, folder: Path, clients: str, count: int) -> Generator[tuple[Child, Child]]:
    """A server, and those who ask it, in processes of their own."""
    with child("bench.server_sides", side, str(folder)) as server:
        port = str(server.hear()["port"])
        with child("bench.server_client", clients, port, str(count)) as client:
            client.hear()
            yield server, client


# streams


def streams(folder: Path, watchers: int) -> None:
    """The same events to so many watchers of each side, in turns."""
    count, pause = STREAMS[watchers]
    rates: dict[str, list[float]] = {}
    chunks: dict[str, list[float]] = {}
    held: dict[str, float] = {}
    with ExitStack() as stack:
        sides = dict[str, tuple[Child, Child]]()
        for side in (OURS, STARLETTE, RAW):
            name = f"{side}-streams"
            server = stack.enter_context(child("bench.server_sides", name, str(folder)))
            port, empty = str(server.hear()["port"]), server.ask("measure")["memory"]
            told = "bench.server_client", "watchers", port, str(watchers)
            client = stack.enter_context(child(*told))
            client.hear()
            held[side] = (server.ask("measure")["memory"] - empty) / watchers
            sides[side] = server, client
            rates[side], chunks[side] = [], []
        for turn in range(ROUNDS):
            for side in sorted(sides, reverse=bool(turn % 2)):  # nobody is always first
                rate, texts = published(*sides[side], watchers, count, pause)
                rates[side].append(rate)
                chunks[side].append(texts)
    heading(f"{count} events, one in {pause * 1e3:g} ms, to {watchers:,} watchers of one session")
    print("  deliveries for each second of the server's CPU, the best and the median of", ROUNDS)
    for side in rates:
        compared(side, side, {name: max(every) for name, every in rates.items()}, "best")
    for side in rates:
        compared(side, side, {name: median(every) for name, every in rates.items()}, "median")
    for side, every in chunks.items():
        number(f"events in each chunk: {side}", median(every), "")
    for side in held if watchers >= 1000 else ():
        compared(f"memory for each watcher: {side}", side, held, "KiB")


def compared(what: str, side: str, values: Mapping[str, float], unit: str) -> None:
    beside = [(name, values[name]) for name in (STARLETTE, RAW) if name != side]
    number(what, values[side], unit, *(beside if side == OURS else ()))


def published(
    server: Child, client: Child, watchers: int, count: int, pause: float
) -> tuple[float, float]:
    """Deliveries for each second of CPU, and events in each chunk."""
    client.ask("[]")
    before = server.ask("measure")["cpu"]
    server.ask(f"{count} {pause}")
    heard = client.hear()
    spent = server.ask("measure")["cpu"] - before
    if heard["waiting"] or heard["texts"] != watchers * count:
        raise AssertionError(heard)
    return heard["texts"] / spent, heard["texts"] / heard["chunks"]


# messages


def messages(folder: Path, senders: int) -> None:
    """Messages that are on the disk when they are accepted, in turns."""
    rates: dict[str, list[float]] = {OURS: [], STARLETTE: []}
    took: dict[str, list[float]] = {OURS: [], STARLETTE: []}
    with ExitStack() as stack:
        sides = dict[str, Child]()
        for side in rates:
            own = folder / f"{side}-{senders}"
            own.mkdir()
            opened = served(f"{side}-messages", own, "senders", senders)
            sides[side] = stack.enter_context(opened)[1]
            sides[side].ask("[0.3]")  # so that every session is there
        for turn in range(TURNS):
            for side in sorted(sides, reverse=bool(turn % 2)):
                heard = sides[side].ask(f"[{TURN}]")
                rates[side].append(len(heard["took"]) / heard["spent"])
                took[side] += heard["took"]
    heading(f"messages accepted and on the disk, {senders} at a time")
    best = {side: max(every) for side, every in rates.items()}
    number(OURS, best[OURS], "a second", (f"{STARLETTE}, a file", best[STARLETTE]))
    number(f"{STARLETTE}, append and fdatasync", best[STARLETTE], "a second")
    for part, value in {"p50": 0.5, "p99": 0.99}.items():
        other = quantile(took[STARLETTE], value)
        row(f"{part} {OURS}", quantile(took[OURS], value), (f"{STARLETTE}, a file", other))


# a storm


def storm(folder: Path) -> None:
    with served("lastword-storm", folder, "storm", RUNS) as (server, client):
        before = server.ask(f"{round(LONGEST / PACE)} {PACE}") and server.ask("measure")["cpu"]
        began = time.perf_counter()
        heard = client.ask(f"[{CALM}, {AFTER}]")
        busy = (server.ask("measure")["cpu"] - before) / (time.perf_counter() - began)
    stops, others = heard["took"], RUNS - len(heard["took"])
    heading(f"{len(stops)} stops at once over HTTP, among {RUNS:,} runs of {1 / PACE:g} words/s")
    for part, value in {"p50": 0.5, "p99": 0.99, "worst": 1.0}.items():
        row(f"{part} from the stop to its receipt", quantile(stops, value))
    for part, value in {"p50": 0.5, "largest": 1.0}.items():
        calm, gap = quantile(heard["calm"], value), quantile(heard["storm"], value)
        row(f"{part} of the {others} other streams' gaps", gap, ("before the storm", calm))
        row(f"{part} of the same, before the storm", calm)
    wanted = (f"what {RUNS:,} runs would say alone", RUNS / PACE)
    number("words heard before the storm", heard["calm_texts"], "a second", wanted)
    number("of a core, the server's", 100 * busy, "%")


# the first moment


def starts(folder: Path) -> None:
    """`lastword serve`, until it has printed its address."""
    took = list[float]()
    for _ in range(STARTS):
        began = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-m", "lastword", "serve", "--store", f"sqlite:{folder}/start.db"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            line = process.stdout.readline() if process.stdout else ""
            took.append(time.perf_counter() - began)
            process.terminate()
            process.communicate()
        if not line.startswith("Listening at http"):
            raise AssertionError(line)
    nothing = list[float]()
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        nothing.append(time.perf_counter() - began)
    heading(f"from the start of the process, the median of {STARTS}")
    beside = ("python -c pass", median(nothing)), ("3 s", 3.0)
    row("lastword serve has printed its address", median(took), *beside)
