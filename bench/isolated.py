"""What a process for each run costs, beside the same engine in the program: starts, words, calls,
stops, and what others notice of a run that blocks.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from lastword import Engine, FeedEvent, Outcome, Run, Runtime
from lastword.engines.isolated import Isolated

STARTS, CALLS, WORDS, STOPS = 20, 100, 20_000, 10
_ME = "bench.isolated:engine"


async def _tool() -> str:
    return "done"


async def engine(run: Run) -> None:
    """Does what its message says."""
    match run.message.text:
        case "words":
            for _ in range(WORDS):
                await run.emit("word ", soon=True)
        case "calls":
            for _ in range(CALLS):
                await run.call(_tool)
        case "spins":
            await run.emit("here")
            while True:
                pass
        case "waits":
            await run.emit("here")
            await asyncio.Event().wait()
        case _:
            await run.emit("here")


class Place:
    """A runtime, and when it was heard from last."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.heard: dict[str, asyncio.Event] = {}
        self._names = 0

    def hear(self, event: FeedEvent) -> None:
        if event.kind == "text":
            self.heard[event.session].set()

    def name(self) -> str:
        self._names += 1
        name = f"s{self._names}"
        self.heard[name] = asyncio.Event()
        return name

    async def first_word(self, text: str = "hello") -> tuple[float, str]:
        name, began = self.name(), time.perf_counter()
        await self.runtime.session(name).send(text)
        await self.heard[name].wait()
        return time.perf_counter() - began, name


@asynccontextmanager
async def _place(made: Engine, store: str = "memory:") -> AsyncGenerator[Place]:
    places: list[Place] = []

    async def sink(event: FeedEvent) -> None:
        places[0].hear(event)

    async with Runtime(made, store=store, sink=sink) as runtime:
        places.append(Place(runtime))
        await places[0].first_word()
        yield places[0]


async def _starts(place: Place, *, rest: float) -> float:
    took: list[float] = []
    for _ in range(STARTS):
        took.append((await place.first_word())[0])
        await asyncio.sleep(rest)
    return statistics.median(took)


async def _whole(place: Place, text: str) -> tuple[float, float]:
    """Seconds, and those of this program's processor."""
    began, ran = time.perf_counter(), time.process_time()
    name = place.name()
    ticket = await place.runtime.session(name).send(text)
    if await ticket.outcome() != Outcome.COMPLETED:
        raise RuntimeError(ticket.error)
    return time.perf_counter() - began, time.process_time() - ran


async def _stops(place: Place, text: str) -> float:
    took: list[float] = []
    for _ in range(STOPS):
        _, name = await place.first_word(text)
        began = time.perf_counter()
        receipt = await place.runtime.session(name).stop()
        took.append(time.perf_counter() - began)
        if not receipt.quiet:
            raise RuntimeError(str(receipt))
        await asyncio.sleep(0.1)
    return statistics.median(took)


def _say(what: str, here: float, there: float) -> None:
    print(f"{what:<44} {1e3 * here:9.2f} ms {1e3 * there:9.2f} ms {there / here:7.1f} x")


async def main() -> None:
    """All of it."""
    print(f"{'':<44} {'in-process':>12} {'isolated':>12}")
    async with _place(engine) as here:
        starts = await _starts(here, rest=0)
        words, calls, polite = (
            await _whole(here, "words"),
            await _whole(here, "calls"),
            await _stops(here, "waits"),
        )
    async with _place(Isolated(_ME, warm=2)) as warm:
        _say("first word, with a process that is ready", starts, await _starts(warm, rest=0.3))
        theirs = await _whole(warm, "words")
        _say(f"{WORDS:,} words that are streamed", words[0], theirs[0])
        _say("  of this program's processor", words[1], theirs[1])
        _say(f"{CALLS} calls, in memory", calls[0], (await _whole(warm, "calls"))[0])
        _say("stop of a polite run", polite, await _stops(warm, "waits"))
        spinning = await _stops(warm, "spins")
        print(f"{'stop of a run that spins':<44} {'never':>12} {1e3 * spinning:9.2f} ms")
        usual = await _starts(warm, rest=0.2)
        _, stuck = await warm.first_word("spins")
        beside = await _starts(warm, rest=0.2)
        await warm.runtime.session(stuck).stop()
        print(f"others' first word, beside one that spins: {beside / usual:.2f} x their usual")
    async with _place(Isolated(_ME, warm=0)) as forked:
        _say("first word, forked when it is needed", starts, await _starts(forked, rest=0.05))
    with tempfile.TemporaryDirectory() as folder:
        async with _place(engine, f"sqlite:{folder}/here.db") as here:
            calls = await _whole(here, "calls")
        async with _place(Isolated(_ME), f"sqlite:{folder}/there.db") as there:
            _say(f"{CALLS} calls, with SQLite", calls[0], (await _whole(there, "calls"))[0])
