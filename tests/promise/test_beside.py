"""R10. What is told beside the answer: kept only if it was let out, and of its own run's calls."""

import asyncio

import pytest

from lastword import Outcome, Run
from lastword.core.entries import Native, Text, Thinking
from lastword.core.story import FeedEvent, Progress
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, heard_by, runtime, stop


@pytest.mark.scenario("R10")
def test_thinking_that_was_not_let_out_is_not_in_the_log(schedules: int) -> None:
    async def story() -> None:
        latch, heard = Latch(), list[FeedEvent]()

        async def slow(event: FeedEvent) -> None:
            heard.append(event)
            await latch.wait()

        async def engine(run: Run) -> None:
            thoughts = [run.think(f"{number}") for number in range(5)]
            await asyncio.gather(*thoughts)

        async with runtime(engine, sink=slow) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            stopping = asyncio.create_task(stop(session))
            await asyncio.sleep(0.1)
            latch.open.set()
            assert (await stopping).quiet
            thought = [e.text for e in await session.log() if isinstance(e, Thinking)]

            assert thought == [event.text for event in heard]
            assert len(thought) == 1

    explore(story, schedules)


@pytest.mark.scenario("R10")
@pytest.mark.parametrize("with_sink", [False, True])
async def test_what_was_thought_and_said_is_in_the_log_in_that_order(*, with_sink: bool) -> None:
    async def sink(_: FeedEvent) -> None:
        return

    native = Native("e", "{}")

    async def engine(run: Run) -> None:
        await run.emit("first ")
        await run.think("hm", native=native)
        await run.emit("then ")
        await run.emit("last")
        told = (await r.session("s").view()).entries
        seen.extend(e for e in told if isinstance(e, Text | Thinking))

    seen: list[Text | Thinking] = []
    async with runtime(engine, sink=sink if with_sink else None) as r:
        ticket = await r.session("s").send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = [e for e in await r.session("s").log() if isinstance(e, Text | Thinking)]

    run = ticket.run
    assert log == [Text(run, "first "), Thinking(run, "hm", native), Text(run, "then last")]
    assert "".join(e.text for e in seen) == "first hmthen last"


@pytest.mark.scenario("R10")
async def test_progress_names_a_call_of_its_own_run_or_none() -> None:
    told: list[tuple[str, object]] = []

    async def engine(run: Run) -> None:
        async def tool() -> None:
            await run.progress("mine")
            if run.session == "one":
                ticket = await r.session("two").send("go")
                await ticket.outcome()
                other = heard_by(r.session("two"))
                while not [e for e in other if e.kind == "finished"]:
                    await asyncio.sleep(0)
                told.extend(
                    (e.fact.text, e.fact.call) for e in other if isinstance(e.fact, Progress)
                )
                await runs[1].progress("through another's handle")

        runs.append(run)
        if run.session == "two":
            await run.progress("not in a call")
        else:
            await run.call(tool)

    runs: list[Run] = []
    async with runtime(engine) as r:
        one = r.session("one")
        events = heard_by(one)
        ticket = await one.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        while not [e for e in events if e.kind == "finished"]:
            await asyncio.sleep(0)
        mine = [(e.fact.text, e.fact.call) for e in events if isinstance(e.fact, Progress)]

    assert mine == [("mine", f"{ticket.run}.1")]
    assert told == [("not in a call", None)]
