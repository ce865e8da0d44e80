"""What a process for each run costs, beside the same engine in the program: starts, words, calls,
memory, stops, and what others notice of a run that blocks.

The two sides take turns. Time that those who take part in something stood in line for a processor
is taken off, as the kernel counts it, so that a busy machine changes the ratios little.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from bench.isolated_agent import agent_costs
from bench.isolated_engine import CALLS, WORDS, engine
from bench.isolated_sides import Took, timed
from lastword import Engine, FeedEvent, Outcome, Runtime
from lastword.engines.isolated import Isolated

STARTS, STOPS, ROUNDS, MANY = 30, 15, 5, 20
_ME = "bench.isolated_engine:engine"


class Place:
    """A runtime, and when it was heard from last."""

    def __init__(self, runtime: Runtime, *, apart: bool) -> None:
        self.runtime = runtime
        self._apart = apart
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

    async def timed(self, work: Callable[[], Awaitable[object]]) -> Took:
        return await timed(work, apart=self._apart)

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
        places.append(Place(runtime, apart=isinstance(made, Isolated)))
        await places[0].first_word()
        yield places[0]


async def first_words(place: Place, many: int, rest: float) -> list[Took]:
    """Of sessions of their own, one after another."""
    took: list[Took] = []
    for _ in range(many):
        await asyncio.sleep(rest)  # until those that are kept ready are
        took.append(await place.timed(place.first_word))
    return took


async def stops(place: Place, text: str) -> list[Took]:
    """Of runs that have said a word."""
    took: list[Took] = []
    for _ in range(STOPS):
        name = await place.first_word(text)
        took.append(await place.timed(lambda name=name: place.stopped(name)))
        await asyncio.sleep(0.2)
    return took


async def takeovers(place: Place) -> list[Took]:
    """Of runs that spin: the new run's first word."""
    took: list[Took] = []
    for _ in range(STOPS):
        name = await place.first_word("spins")
        await asyncio.sleep(0.3)
        took.append(await place.timed(lambda name=name: place.first_word("hello", name)))
        await place.stopped(name)
    return took


def worked(took: list[Took]) -> float:
    return statistics.median(one.worked for one in took)


def passed(took: list[Took]) -> float:
    return statistics.median(one.passed for one in took)


def say(what: str, here: float, there: float, goal: str = "") -> None:
    """In milliseconds."""
    told = f"{what:<46} {1e3 * here:9.2f} ms {1e3 * there:9.2f} ms {there / here:7.2f} x"
    print(f"{told}   goal {goal}" if goal else told)


def say_alone(what: str, there: list[Took], goal: str) -> None:
    """What is nothing in one process, or never ends there."""
    less, all_ = 1e3 * worked(there), 1e3 * passed(there)
    print(f"{what:<46} {'':>12} {less:9.2f} ms, in line {all_:9.2f} ms   goal {goal}")


async def _starts(here: Place, warm: Place, forked: Place) -> None:
    """In turns."""
    sides: tuple[list[Took], list[Took], list[Took]] = ([], [], [])
    for _ in range(STARTS // 5):
        for place, rest, side in zip((here, warm, forked), (0.0, 0.3, 0.1), sides, strict=True):
            side.extend(await first_words(place, 5, rest))
    one, two, three = map(worked, sides)
    say("first word, with a process that is ready", one, two, "4.5")
    say("first word, forked when it is needed", one, three, "50")
    one, two, three = map(passed, sides)
    say("  with what was stood in line: ready", one, two)
    say("  the same, forked", one, three)


async def _in_turns(
    text: str, here: Place, there: Place, of: Callable[[Took], float]
) -> tuple[float, float]:
    sides: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for place, side in zip((here, there), sides, strict=True):
            side.append(of(await place.timed(lambda place=place: place.whole(text))))
    return statistics.median(sides[0]), statistics.median(sides[1])


async def _beside(warm: Place) -> None:
    usual = await first_words(warm, STARTS, 0.3)
    stuck = await warm.first_word("spins")
    beside = await first_words(warm, STARTS, 0.3)
    await warm.stopped(stuck)
    ratio = passed(beside) / passed(usual)
    print(f"others' first word beside a run that spins{'':<20} {ratio:.2f} x their usual   goal 2")


async def main() -> None:
    """All of it."""
    print(f"{'':<46} {'in-process':>12} {'isolated':>12}")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            opened(engine) as here,
            opened(Isolated(_ME)) as warm,
            opened(Isolated(_ME, warm=0)) as forked,
            opened(engine, f"sqlite:{folder}/here.db") as stored,
            opened(Isolated(_ME), f"sqlite:{folder}/there.db") as stored_there,
        ):
            await _starts(here, warm, forked)
            what = f"{WORDS:,} words that are streamed, this program's CPU"
            say(what, *await _in_turns("words", here, warm, lambda one: one.ran), "1.3")
            say("  the same, time", *await _in_turns("words", here, warm, lambda o: o.worked))
            both = await _in_turns("calls", stored, stored_there, lambda one: one.worked)
            say(f"{CALLS} calls, with SQLite", *both, "1.8")
            say(
                f"{CALLS} calls, in memory",
                *await _in_turns("calls", here, warm, lambda o: o.worked),
            )
            say(
                "stop of a polite run",
                worked(await stops(here, "waits")),
                worked(await stops(warm, "waits")),
            )
            say_alone("  the same", await stops(warm, "waits"), "10 ms")
            say_alone(
                "stop of a run that spins (in-process: never)", await stops(warm, "spins"), "300 ms"
            )
            say_alone("takeover of it: the new run's first word", await takeovers(warm), "10 ms")
            await _beside(warm)
    await agent_costs(MANY)
