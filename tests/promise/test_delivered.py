"""R19, R20, R21. A delivery was made, or was not, or may have been: and that is what is told."""

import asyncio

import pytest

from lastword import Outcome, Run
from lastword.core.entries import Finished, Text, Unshown
from lastword.core.model import RunId
from lastword.core.story import FeedEvent
from lastword.core.transcript import build
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, mark_of, runtime, stop


@pytest.mark.scenario("R19")
def test_a_delivery_that_was_cancelled_at_the_deadline_stays_named(schedules: int) -> None:
    async def story() -> None:
        latch = Latch()

        async def slow_wire(_: FeedEvent) -> None:
            latch.came.set()
            await asyncio.Event().wait()

        async def engine(run: Run) -> None:
            await run.emit("said")

        async with runtime(engine, sink=slow_wire, deadline=1.0, grace=0.5) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await asyncio.create_task(stop(session))
            settled = await receipt.settled()

            for told in (receipt, settled):
                assert not told.quiet
                assert [one.kind for one in told.unconfirmed] == ["delivery"]
            assert "slow_wire, which may have arrived" in str(settled)

    explore(story, schedules)


@pytest.mark.scenario("R19")
def test_a_delivery_that_got_home_before_the_deadline_is_not_named(schedules: int) -> None:
    async def story() -> None:
        latch = Latch()

        async def slow_wire(_: FeedEvent) -> None:
            await latch.wait()

        async def engine(run: Run) -> None:
            await run.emit("said")

        async with runtime(engine, sink=slow_wire) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            stopping = asyncio.create_task(stop(session))
            await asyncio.sleep(0.1)
            latch.open.set()

            assert (await stopping).quiet

    explore(story, schedules)


@pytest.mark.scenario("R19")
def test_what_a_child_may_have_delivered_stays_named_in_the_receipt_above(schedules: int) -> None:
    async def story() -> None:
        latch = Latch()

        async def wire() -> None:
            latch.came.set()
            await asyncio.Event().wait()

        async def child(run: Run) -> None:
            await run.fence(wire)()

        async def engine(run: Run) -> None:
            await (await run.child("go", engine=child)).outcome()

        async with runtime(engine, deadline=1.0, grace=0.5) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await asyncio.create_task(stop(session))
            settled = await receipt.settled()

            assert "wire, which may have arrived" in str(settled)

    explore(story, schedules)


@pytest.mark.scenario("R20")
@pytest.mark.parametrize("in_thread", [False, True], ids=["async", "thread"])
async def test_text_whose_delivery_failed_is_not_told_to_the_model_as_seen(
    *, in_thread: bool
) -> None:
    def judged(event: FeedEvent) -> None:
        if event.text == "lost ":
            raise ConnectionError("the network is gone")

    async def wire(event: FeedEvent) -> None:
        judged(event)

    async def engine(run: Run) -> None:
        await run.emit("one ")
        with pytest.raises(ConnectionError):
            await run.emit("lost ")
        await run.emit("two")

    async with runtime(engine, sink=judged if in_thread else wire) as r:
        session = r.session("s")
        assert await (await session.send("go")).outcome() == Outcome.COMPLETED
        shown = [(item.role, item.text) for item in await session.history()]

    assert shown == [("user", "go"), ("assistant", "one two")]


@pytest.mark.scenario("R20")
def test_what_failed_when_the_run_had_been_stopped_is_told_to_the_model(schedules: int) -> None:
    async def story() -> None:
        latch = Latch()

        async def wire(_: FeedEvent) -> None:
            await latch.wait()
            raise ConnectionError("the network is gone")

        async def engine(run: Run) -> None:
            if run.message.text == "go":
                await run.emit("lost")

        async with runtime(engine, sink=wire) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            stopping = asyncio.create_task(stop(session))
            await asyncio.sleep(0.1)
            latch.open.set()
            assert (await stopping).quiet
            history = [(item.role, item.text) for item in await session.history()]

            assert history[0] == ("user", "go")
            assert history[-1] == ("note", "This of that answer did not reach the person: 'lost'")

    explore(story, schedules)


@pytest.mark.scenario("R20")
def test_what_did_not_reach_the_person_is_left_out_wherever_it_stands() -> None:
    run = RunId("s#1")
    log = [Text(run, "abc"), Text(run, "def"), Text(run, "ghi")]
    unshown = [Unshown(run, 8, 1), Unshown(run, 7, 3), Unshown(run, 1, 1)]
    finished = Finished(run, Outcome.FAILED, (), started=True)

    shown = build([*log, *unshown, finished])

    assert [item.text for item in shown if item.role == "assistant"] == ["afgh"]


@pytest.mark.scenario("R21")
@pytest.mark.parametrize("how", ["stop", "takeover"])
def test_the_typing_mark_comes_down_beside_a_slow_delivery(how: str, schedules: int) -> None:
    async def story() -> None:
        told: list[tuple[str, object]] = []
        edit, down = Latch(), asyncio.Event()

        async def wire(event: FeedEvent) -> None:
            if event.kind == "text":
                await edit.wait()
            told.append((event.kind, mark_of(event)))
            if event.kind == "typing" and not mark_of(event):
                down.set()

        async def engine(run: Run) -> None:
            if run.message.text == "go":
                async with run.typing():
                    await run.emit("said")

        async with runtime(engine, sink=wire) as r:
            session = r.session("s")
            await session.send("go")
            await edit.came.wait()
            if how == "stop":
                session.stop()
            else:
                await session.send("next")
            await down.wait()
            assert told == [("typing", True), ("typing", False)]
            edit.open.set()

    explore(story, schedules)


@pytest.mark.scenario("R21")
def test_the_mark_is_not_taken_down_before_what_put_it_up_has_left(schedules: int) -> None:
    async def story() -> None:
        told: list[object] = []
        mark = Latch()

        async def wire(event: FeedEvent) -> None:
            if mark_of(event):
                await mark.wait()
            told.append(mark_of(event))

        async def engine(run: Run) -> None:
            async with run.typing():
                await asyncio.Event().wait()

        async with runtime(engine, sink=wire) as r:
            session = r.session("s")
            await session.send("go")
            await mark.came.wait()
            stopping = asyncio.create_task(stop(session))
            await asyncio.sleep(0.1)
            mark.open.set()
            assert (await stopping).quiet
            assert told == [True, False]

    explore(story, schedules)
