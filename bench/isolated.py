"""What a process for each run costs, beside the same engine in the program: starts, words, calls,
memory, stops, and what others notice of a run that blocks.

The two sides take turns. What is told first is the quickest tenth, in which nobody, or nearly, has
stood in line for a processor; then the median.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from bench.isolated_agent import agent_costs
from bench.isolated_engine import CALLS, WORDS, engine
from bench.isolated_sides import Took, mostly, quick, timed
from lastword import Engine, FeedEvent, Outcome, Runtime
from lastword.engines.isolated import Isolated

STARTS, STOPS, ROUNDS, MANY = 30, 15, 11, 20
_ME = "bench.isolated_engine:engine"


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

    async def first_word(self, text: str = "hello", name: str = "") -> str:
        name = name or self.name()
        self.heard[name].clear()
        await self.runtime.session(name).send(text)
        await self.heard[name].wait()
        return name

    async def whole(self, text: str) -> None:
        ticket = await self.runtime.session(self.name()).send(text)
        if await ticket.outcome() != Outcome.COMPLETED:
            raise RuntimeError(ticket.error)

    async def stopped(self, name: str) -> None:
        receipt = await self.runtime.session(name).stop()
        if not receipt.quiet:
            raise RuntimeError(str(receipt))


@asynccontextmanager
async def opened(made: Engine, store: str = "memory:") -> AsyncGenerator[Place]:
    """A runtime in which a first run has ended."""
    places: list[Place] = []

    async def sink(event: FeedEvent) -> None:
        places[0].hear(event)

    async with Runtime(made, store=store, sink=sink) as runtime:
        places.append(Place(runtime))
        await places[0].first_word()
        yield places[0]


async def first_words(place: Place, many: int, rest: float) -> list[Took]:
    """Of sessions of their own, one after another."""
    took: list[Took] = []
    for _ in range(many):
        await asyncio.sleep(rest)  # until those that are kept ready are
        took.append(await timed(place.first_word))
    return took


async def stops(place: Place, text: str) -> list[Took]:
    """Of runs that have said a word."""
    took: list[Took] = []
    for _ in range(STOPS):
        name = await place.first_word(text)
        took.append(await timed(lambda name=name: place.stopped(name)))
        await asyncio.sleep(0.2)
    return took


async def takeovers(place: Place) -> list[Took]:
    """Of runs that spin: the new run's first word."""
    took: list[Took] = []
    for _ in range(STOPS):
        name = await place.first_word("spins")
        await asyncio.sleep(0.3)
        took.append(await timed(lambda name=name: place.first_word("hello", name)))
        await place.stopped(name)
    return took


def say(what: str, here: float, there: float, goal: str = "") -> None:
    """In milliseconds."""
    told = f"{what:<46} {1e3 * here:9.2f} ms {1e3 * there:9.2f} ms {there / here:7.2f} x"
    print(f"{told}   goal {goal}" if goal else told)


def say_both(what: str, here: Sequence[Took], there: Sequence[Took], goal: str = "") -> None:
    """Where nobody stands in line, and then with that."""
    say(what, quick(here), quick(there), goal)
    say("  with what is stood in line", mostly(here), mostly(there))


def say_alone(what: str, there: Sequence[Took], goal: str) -> None:
    """What is nothing in one process, or never ends there."""
    less, all_ = 1e3 * quick(there), 1e3 * mostly(there)
    print(f"{what:<46} {'':>12} {less:9.2f} ms, in line {all_:9.2f} ms   goal {goal}")


async def _starts(here: Place, warm: Place, forked: Place) -> None:
    sides: tuple[list[Took], list[Took], list[Took]] = ([], [], [])
    for _ in range(STARTS // 5):
        for place, rest, side in zip((here, warm, forked), (0.0, 0.3, 0.1), sides, strict=True):
            side.extend(await first_words(place, 5, rest))
    say_both("first word, with a process that is ready", sides[0], sides[1], "4.5")
    say_both("first word, forked when it is needed", sides[0], sides[2], "50")


async def _in_turns(text: str, here: Place, there: Place) -> tuple[list[Took], list[Took]]:
    sides: tuple[list[Took], list[Took]] = ([], [])
    for _ in range(ROUNDS):
        for place, side in zip((here, there), sides, strict=True):
            side.append(await timed(lambda place=place: place.whole(text)))
    return sides


async def _beside(warm: Place) -> None:
    usual = await first_words(warm, STARTS, 0.3)
    stuck = await warm.first_word("spins")
    beside = await first_words(warm, STARTS, 0.3)
    await warm.stopped(stuck)
    ratio = mostly(beside) / mostly(usual)
    print(f"others' first word beside a run that spins{'':<20} {ratio:.2f} x their usual   goal 2")


async def main() -> None:
    """All of it."""
    print(f"{'':<46} {'in-process':>12} {'isolated':>12}")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            opened(engine) as here,
            opened(Isolated(_ME)) as warm,
            opened(Isolated(_ME, warm=0)) as forked,
            opened(engine, f"sqlite:{folder}/here.db") as stored_here,
            opened(Isolated(_ME), f"sqlite:{folder}/there.db") as stored_there,
        ):
            await _starts(here, warm, forked)
            words = await _in_turns("words", here, warm)
            one, two = (min(took.ran for took in side) for side in words)
            say(f"{WORDS:,} words that are streamed, this program's CPU", one, two, "1.3")
            say_both("  the same, time", *words)
            stored = await _in_turns("calls", stored_here, stored_there)
            say_both(f"{CALLS} calls, with SQLite", *stored, "1.8")
            say_both(f"{CALLS} calls, in memory", *await _in_turns("calls", here, warm))
            say_alone("stop of a polite run", await stops(warm, "waits"), "10 ms")
            spinning = await stops(warm, "spins")
            say_alone("stop of a run that spins (in-process: never)", spinning, "300 ms")
            say_alone("takeover of it: the new run's first word", await takeovers(warm), "10 ms")
            await _beside(warm)
    await agent_costs(MANY)
