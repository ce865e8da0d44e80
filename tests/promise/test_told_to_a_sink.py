"""R23. A call or a question that a sink hears of is an effect: a stop waits for it, or names it."""

from __future__ import annotations

import asyncio
from typing import Literal, TypeAlias

import pytest

from lastword import FeedEvent, Run
from lastword.core.asks import Answer
from lastword.core.question import Question
from lastword.core.receipt import Unconfirmed
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, a_while, check_log, heard_by, runtime

pytestmark = pytest.mark.scenario("R23")
Kind: TypeAlias = Literal["called", "asked"]
BOTH = pytest.mark.parametrize("kind", ["called", "asked"])


async def search(words: str) -> str:
    await asyncio.sleep(0)
    return f"found {words}"


async def ask(run: Run) -> Answer:
    return await run.ask(
        Question("q", run.session, run.generation, run.id, "shell", "{}", "make", "c")
    )


class Door:
    """A sink that stands still with events of one kind, and an engine that brings one about."""

    def __init__(self, kind: Kind, *, stubborn: bool = False) -> None:
        self.kind = kind
        self.stubborn = stubborn
        self.latch = Latch()
        self.heard: list[FeedEvent] = []

    async def __call__(self, event: FeedEvent) -> None:
        if event.kind == self.kind:
            await (self.latch.wait_stubbornly() if self.stubborn else self.latch.wait())
        self.heard.append(event)

    async def engine(self, run: Run) -> None:
        await (run.call(search, "it") if self.kind == "called" else ask(run))
        await asyncio.sleep(10_000)


@pytest.mark.parametrize("pace", [0.0, 5.0])
def test_a_sink_hears_of_calls_and_questions_in_the_order_of_the_feed(
    pace: float, schedules: int
) -> None:
    async def story() -> None:
        heard: list[FeedEvent] = []
        asking = asyncio.Event()

        async def sink(event: FeedEvent) -> None:
            await asyncio.sleep(0)
            heard.append(event)
            if event.kind == "asked":
                asking.set()

        runs: list[Run] = []

        async def engine(run: Run) -> None:
            runs.append(run)
            await run.emit("one")
            await run.call(search, "it")
            await run.emit("two")
            await ask(run)
            await run.emit("three")

        async with runtime(engine, sink=sink, pace=pace, hears="effects") as r:
            session = r.session("s")
            seen = heard_by(session)
            ticket = await session.send("go")
            await asking.wait()
            runs[0].asks.answer("q", runs[0].generation, Answer(allowed=True, by="ann"))
            assert await ticket.outcome() == "completed"
            await a_while()

            assert [one.kind for one in heard] == ["text", "called", "text", "asked", "text"]
            assert [one for one in seen if one in heard] == heard
            await check_log(session)

    explore(story, schedules)


@BOTH
def test_a_stop_waits_until_the_sink_has_told_of_it(kind: Kind, schedules: int) -> None:
    async def story() -> None:
        door = Door(kind)

        async with runtime(door.engine, sink=door, hears="effects") as r:
            session = r.session("s")
            await session.send("go")
            await door.latch.came.wait()
            stopping = asyncio.ensure_future(session.stop())
            await asyncio.sleep(0.5)
            assert not stopping.done()
            door.latch.open.set()
            receipt = await stopping
            arrived = len(door.heard)
            await a_while()

            assert receipt.quiet
            assert [one.kind for one in door.heard] == [kind]
            assert len(door.heard) == arrived
            await check_log(session)

    explore(story, schedules)


@BOTH
def test_a_sink_that_never_returns_from_it_is_named(kind: Kind) -> None:
    async def story() -> None:
        door = Door(kind, stubborn=True)

        async with runtime(door.engine, sink=door, hears="effects") as r:
            session = r.session("s")
            await session.send("go")
            await door.latch.came.wait()
            receipt = await session.stop()

            assert not receipt.quiet
            assert Unconfirmed("delivery", "Door") in receipt.unconfirmed
            door.latch.open.set()
            await receipt.settled()

    explore(story, 10)


@BOTH
def test_what_waited_behind_another_delivery_at_a_stop_is_never_told(
    kind: Kind, schedules: int
) -> None:
    async def story() -> None:
        door = Door(kind)
        slow = Latch()

        async def sink(event: FeedEvent) -> None:
            if event.kind == "progress":
                await slow.wait()
            await door(event)

        async def engine(run: Run) -> None:
            run.task(run.progress("looking"), name="looking")
            await slow.came.wait()
            await door.engine(run)

        async with runtime(engine, sink=sink, hears="effects") as r:
            session = r.session("s")
            seen = heard_by(session)
            await session.send("go")
            while not any(one.kind == kind for one in seen):
                await asyncio.sleep(0.1)
            stopping = session.stop()
            slow.open.set()
            door.latch.open.set()
            receipt = await stopping
            await a_while()

            assert [one.kind for one in door.heard] == ["progress"]
            assert receipt.dropped >= 1
            await check_log(session)

    explore(story, schedules)
