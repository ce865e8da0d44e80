"""S. The typing mark: up while a run speaks, down once and for all when it may not."""

import asyncio

import pytest

from lastword import FeedEvent, Run
from lastword.testing.recorder import Recorder
from lastword.testing.seeded import explore
from tests.promise.stories import a_while, heard_by, mark_of, runtime, talk


@pytest.mark.scenario("S6")
def test_the_typing_mark_is_taken_down_once_and_never_put_up_again(schedules: int) -> None:
    async def story() -> None:
        marks: list[object] = []

        async def slow(event: FeedEvent) -> None:
            if event.kind == "typing" and mark_of(event) is False:
                marks.append(mark_of(event))
                await asyncio.sleep(5)  # the stop's own answer is slow to send
            elif event.kind == "typing":
                marks.append(mark_of(event))

        async def engine(run: Run) -> None:
            async with run.typing(every=0.5):
                await talk(run)

        async with runtime(engine, sink=slow, deadline=60) as r:
            session = r.session("s")
            events = heard_by(session)
            await session.send("go")
            while marks.count(True) < 2:  # until it has been put up again
                await asyncio.sleep(0.01)
            stopping = session.stop()
            shown = list(marks)
            await stopping
            await a_while()

            assert marks == [*shown, False]
            assert [mark_of(e) for e in events if e.kind == "typing"] == marks

    explore(story, schedules)


@pytest.mark.scenario("S6")
def test_a_run_that_ends_takes_its_own_mark_down_and_a_stop_counts_none(schedules: int) -> None:
    async def story() -> None:
        heard, forever = Recorder(), asyncio.Event()

        async def engine(run: Run) -> None:
            async with run.typing(), run.typing():  # one inside the other is one mark
                await (forever.wait() if run.message.text == "stop me" else asyncio.sleep(1))
            await run.progress("after the mark")

        async with runtime(engine, sink=heard) as r:
            session = r.session("s")
            await (await session.send("go")).outcome()
            assert [mark_of(event) for event in heard] == [
                True,
                False,
                None,
            ]  # down before it went on

            await session.send("stop me")
            await asyncio.sleep(1)
            receipt = await session.stop()
            assert [mark_of(event) for event in heard] == [True, False, None, True, False]
            assert receipt.dropped == 0

    explore(story, schedules)
