"""R7. What was sent to steer a run is given to it once, or is the next turn."""

import asyncio
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime, StaleRun
from lastword.stores.contract import Write
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, check_log, runtime, stop


class Slow(MemoryStore):
    """A disk whose writes take their time."""

    async def commit(self, write: Write) -> None:
        await asyncio.sleep(0.01)
        await super().commit(write)


@pytest.mark.scenario("R7")
@pytest.mark.parametrize("asks_again", [False, True])
def test_who_gives_up_waiting_for_steering_loses_none_of_it(
    *, asks_again: bool, schedules: int
) -> None:
    async def story() -> None:
        latch = Latch()
        given: list[tuple[str, str]] = []  # by which run, and what

        async def engine(run: Run) -> None:
            given.append((run.id, run.message.text))
            if run.message.text != "go":
                return
            await latch.wait()
            for patience in (0.005, 0.015) if asks_again else (0.005,):
                try:
                    async with asyncio.timeout(patience):
                        taken = await run.steering()
                    given.extend((run.id, message.text) for message in taken)
                except TimeoutError:
                    pass

        async with runtime(engine, store=Slow()) as r:
            session = r.session("s")
            go = await session.send("go")
            await latch.came.wait()
            steers = [await session.send(text, on_message="steer") for text in ("left", "right")]
            latch.open.set()
            outcomes = [await ticket.outcome() for ticket in (go, *steers)]
            while session.busy:
                await asyncio.sleep(0.01)

            assert outcomes == [Outcome.COMPLETED] * 3
            texts = "\n\n".join(text for _, text in given).split("\n\n")
            assert texts == ["go", "left", "right"]
            shown = [item.text for item in await session.history() if item.role == "user"]
            assert "\n\n".join(shown).split("\n\n") == texts
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("R7")
def test_what_was_taken_and_never_given_is_in_the_receipt_of_a_stop(schedules: int) -> None:
    async def story() -> None:
        latch, waits = Latch(), asyncio.Event()

        async def engine(run: Run) -> None:
            await latch.wait()
            waits.set()
            await run.steering()
            raise AssertionError("it was never given")

        class Stuck(MemoryStore):
            async def commit(self, write: Write) -> None:
                if waits.is_set() and write.entries and not stopped.is_set():
                    await stopped.wait()
                await super().commit(write)

        stopped = asyncio.Event()
        async with runtime(engine, store=Stuck()) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            await session.send("left", on_message="steer")
            latch.open.set()
            await waits.wait()
            await asyncio.sleep(0.01)
            answer = session.stop()
            stopped.set()
            receipt = await answer

            assert [(one.message.text, one.fate) for one in receipt.messages] == [
                ("left", "dropped")
            ]

    explore(story, schedules)


@pytest.mark.scenario("R7")
async def test_what_was_given_back_is_told_once_by_a_file_too(tmp_path: Path) -> None:
    path = f"sqlite:{tmp_path / 'log.db'}"
    latch, again = Latch(), asyncio.Queue[str]()

    async def impatient(run: Run) -> None:
        if run.message.text == "go":
            await latch.wait()
            steering = asyncio.create_task(run.steering())
            await asyncio.sleep(0)
            steering.cancel()
            return
        again.put_nowait(run.message.text)
        await asyncio.Event().wait()

    async with Runtime(impatient, store=path) as r:
        session = r.session("s")
        go = await session.send("go")
        await latch.came.wait()
        steer = await session.send("left", on_message="steer")
        latch.open.set()
        assert await go.outcome() == Outcome.COMPLETED
        assert await asyncio.wait_for(again.get(), 60) == "left"
        await stop(session)
        assert await steer.outcome() == Outcome.STOPPED
        shown = [item.text for item in await session.history() if item.role == "user"]
        assert shown == ["go", "left"]
        await check_log(session)


@pytest.mark.scenario("W64")
@pytest.mark.parametrize("gone", [0, 1])
async def test_a_stop_by_the_name_of_a_message_that_was_taken_back_is_stale(gone: int) -> None:
    async def engine(run: Run) -> None:
        await asyncio.Event().wait()

    async with runtime(engine, stoppers=["ann"]) as r:
        session = r.session("s")
        await (await session.send("first", by="dan")).started()
        steer = [await session.send(by, by=by, on_message="steer") for by in ("bob", "cai")]
        await (await session.send("second", by="dan")).started()  # theirs is the next turn, as one
        taken, left = steer[gone], steer[1 - gone]
        await session.remove(taken.message.id, by=taken.message.by)

        with pytest.raises(StaleRun):
            session.stop(run=taken.run, by="ann")
        [waits] = session.waiting.messages
        assert (waits.message, waits.run) == (left.message, left.run)
        await session.stop(run=left.run, by=left.message.by)

        assert await left.outcome() == "withdrawn"
