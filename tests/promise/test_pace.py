"""R22. A sink with a pace: text is gathered before the hold, and said as it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import pytest

from lastword import FeedEvent, Run, Runtime
from lastword.core.entries import Called, Entry, Text
from lastword.testing.seeded import explore
from tests.promise.stories import a_while, heard_by, runtime

pytestmark = pytest.mark.scenario("R22")
PACE = 30.0


class Network:
    """Takes a message now and then."""

    def __init__(self, takes: float = 0.0) -> None:
        self.heard: list[str] = []
        self.came = asyncio.Event()
        self.takes = takes  # seconds for each

    async def __call__(self, event: FeedEvent) -> None:
        if self.takes:
            await asyncio.sleep(self.takes)
        self.heard.append(event.text if event.kind == "text" else f"({event.kind})")
        self.came.set()


def said(log: Iterable[Entry]) -> str:
    return "".join(entry.text for entry in log if isinstance(entry, Text))


def test_what_is_said_while_the_sink_rests_leaves_as_one(schedules: int) -> None:
    async def story() -> None:
        network = Network()

        async def engine(run: Run) -> None:
            await run.emit("one ")
            await network.came.wait()
            for word in ("two ", "three ", "four"):
                await run.emit(word)

        async with runtime(engine, sink=network, pace=PACE) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == "completed"
            log = await session.log()

        assert network.heard == ["one ", "two three four"]
        assert said(log) == "".join(network.heard)

    explore(story, schedules)


def test_what_was_gathered_and_had_not_left_at_a_stop_was_never_said(schedules: int) -> None:
    async def story() -> None:
        network, gathered = Network(), asyncio.Event()

        async def engine(run: Run) -> None:
            await run.emit("one ")
            await network.came.wait()
            await run.emit("two ")
            await run.emit("three")
            gathered.set()
            await asyncio.Event().wait()

        async with runtime(engine, sink=network, pace=PACE) as r:
            session = r.session("s")
            events = heard_by(session)
            await session.send("go")
            await gathered.wait()
            receipt = await session.stop()
            await a_while()
            log = await session.log()

        assert network.heard == ["one "]
        assert said(log) == "one "
        told = [event.text for event in events if event.kind == "text"]
        assert told in (["one "], [])  # or it was stopped before the watcher came to it
        assert receipt.quiet
        assert receipt.dropped == 1

    explore(story, schedules)


def test_what_comes_after_words_comes_after_them_everywhere(schedules: int) -> None:
    async def story() -> None:
        network = Network()

        async def look() -> str:
            network.heard.append("(looked)")
            return "seen"

        async def engine(run: Run) -> None:
            await run.emit("one ")
            await network.came.wait()
            await run.emit("two")
            await run.progress("looking")
            await run.emit("three")
            await run.call(look)

        async with runtime(engine, sink=network, pace=0.01) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == "completed"
            log = await session.log()

        assert network.heard == ["one ", "two", "(progress)", "three", "(looked)"]
        assert said(log) == "one twothree"
        assert isinstance([e for e in log if isinstance(e, Text | Called)][-1], Called)

    explore(story, schedules)


def test_a_sink_that_fails_fails_the_run_whose_words_it_lost(schedules: int) -> None:
    async def story() -> None:
        async def broken(event: FeedEvent) -> None:
            raise ConnectionError(event.text)

        async def engine(run: Run) -> None:
            await run.emit("lost")

        async with runtime(engine, sink=broken, pace=PACE) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == "failed"
            log = await session.log()
            shown = [item.text for item in await session.history() if item.role == "assistant"]

        assert "ConnectionError: lost" in {getattr(entry, "error", "") for entry in log}
        assert shown == []

    explore(story, schedules)


def test_a_run_that_fails_has_said_what_it_said(schedules: int) -> None:
    async def story() -> None:
        network = Network()

        async def engine(run: Run) -> None:
            await run.emit("one ")
            await network.came.wait()
            await run.emit("two")
            raise OSError("no more")

        async with runtime(engine, sink=network, pace=PACE) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await ticket.outcome() == "failed"
            log = await session.log()

        assert network.heard == ["one ", "two"]
        assert said(log) == "one two"
        assert ticket.error == "OSError: no more"

    explore(story, schedules)


def test_that_words_were_lost_is_told_to_the_run_and_not_to_its_typing_mark(
    schedules: int,
) -> None:
    async def story() -> None:
        async def broken(event: FeedEvent) -> None:
            if event.kind == "text":
                raise ConnectionError(event.text)

        async def engine(run: Run) -> None:
            async with run.typing(every=1.0):
                await run.emit("lost")
                await asyncio.sleep(100)

        async with runtime(engine, sink=broken, pace=0.5) as r:
            ticket = await r.session("s").send("go")
            assert await ticket.outcome() == "failed"
            assert ticket.error == "ConnectionError: lost"

    explore(story, schedules)


def test_a_run_that_was_stopped_says_nothing_through_another_that_goes_on(schedules: int) -> None:
    async def story() -> None:
        network, runs, tried = Network(), dict[str, Run](), asyncio.Event()

        async def engine(run: Run) -> None:
            runs[run.session] = run
            if run.session == "goes on":
                await run.emit("one ")
                await tried.wait()
                await run.emit("two")
                return
            try:
                await asyncio.Event().wait()
            finally:
                with suppress(asyncio.CancelledError):
                    await runs["goes on"].emit("from beyond ")
                tried.set()

        async with runtime(engine, sink=network, pace=PACE) as r:
            going = await r.session("goes on").send("go")
            await network.came.wait()
            stopped = r.session("stopped")
            ticket = await stopped.send("go")
            await ticket.started()
            while "stopped" not in runs:
                await asyncio.sleep(0)
            await stopped.stop()
            assert await going.outcome() == "completed"

        assert network.heard == ["one ", "two"]

    explore(story, schedules)


async def test_who_says_more_than_can_be_gathered_waits() -> None:
    network, said = Network(), list[int]()

    async def engine(run: Run) -> None:
        for number in range(12):
            await run.emit("x" * 10_000)
            said.append(number)

    async with runtime(engine, sink=network, pace=0.001) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == "completed"

    assert "".join(network.heard) == "x" * 120_000
    assert max(map(len, network.heard)) <= 50_000


async def test_a_pace_is_for_a_sink() -> None:
    async def engine(run: Run) -> None: ...

    with pytest.raises(ValueError, match="pace is for a sink, and there is none"):
        Runtime(engine, pace=1.0)
    with pytest.raises((TypeError, ValueError), match="pace"):
        Runtime(engine, sink=print, pace=-1.0)


def test_a_run_ends_with_its_engine_though_a_helper_goes_on_talking(schedules: int) -> None:
    async def story() -> None:
        async def engine(run: Run) -> None:
            async def beat() -> None:
                while True:
                    await run.emit(".")
                    await asyncio.sleep(1)

            run.task(beat(), name="beat")
            await asyncio.sleep(10)

        async with runtime(engine, sink=Network(takes=3), pace=PACE, on_message="queue") as r:
            session = r.session("s")
            tickets = [await session.send(text) for text in ("one", "two")]
            await a_while()

            assert [ticket.known_outcome for ticket in tickets] == ["completed", "completed"]

    explore(story, max(schedules // 10, 5))


def test_what_a_run_does_waits_for_the_words_before_it_and_for_no_others(schedules: int) -> None:
    async def story() -> None:
        begun: list[float] = []
        now = asyncio.get_running_loop().time

        async def tool() -> None:
            begun.append(now())

        async def engine(run: Run) -> None:
            async def talk() -> None:
                for _ in range(500):
                    await run.emit(".")
                    await asyncio.sleep(1)

            talking = run.task(talk(), name="talk")
            await asyncio.sleep(10)
            await run.call(tool)
            await talking

        async with runtime(engine, sink=Network(), pace=PACE) as r:
            ticket = await r.session("s").send("go")
            started = now()
            assert await ticket.outcome() == "completed"

        assert [at - started < 3 * PACE for at in begun] == [True]

    explore(story, max(schedules // 10, 5))


def test_what_was_said_before_steering_was_taken_stands_before_it(schedules: int) -> None:
    async def story() -> None:
        network, sent = Network(), asyncio.Event()

        async def engine(run: Run) -> None:
            await run.emit("hello. ")
            await sent.wait()
            await run.emit("I will delete A. ")
            await run.steering()
            await run.emit("All right.")

        async with runtime(engine, sink=network, pace=PACE) as r:
            session = r.session("s")
            ticket = await session.send("go")
            await network.came.wait()
            await session.send("keep A!", on_message="steer")
            sent.set()
            assert await ticket.outcome() == "completed"
            shown = [item.text for item in await session.history()]

        assert shown == ["go", "hello. I will delete A. ", "keep A!", "All right."]

    explore(story, schedules)


def test_a_run_that_cancels_itself_has_said_what_it_said(schedules: int) -> None:
    async def story() -> None:
        network = Network()

        async def engine(run: Run) -> None:
            await run.emit("one ")
            await network.came.wait()
            await run.emit("two")
            raise asyncio.CancelledError

        async with runtime(engine, sink=network, pace=PACE) as r:
            ticket = await r.session("s").send("go")
            assert await ticket.outcome() == "failed"

        assert network.heard == ["one ", "two"]

    explore(story, schedules)
