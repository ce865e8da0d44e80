"""W57. What is told to who watches is told to who comes later, too."""

import asyncio

import pytest

from lastword import Run, Runtime
from lastword.core.entries import Finished, LeftOut, Note, Summary
from lastword.core.scene import TurnItem, Words
from lastword.core.story import FeedEvent
from lastword.surfaces.following import Following
from tests.core.picture_laws import lasting
from tests.promise.workshop import until

NOTES = (Note, LeftOut, Summary, Finished)


@pytest.mark.scenario("W57", part="surfaces")
async def test_what_is_noted_is_told_live_as_it_is_after_a_reload() -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "first":
            await run.emit("One.")
            return
        job = run.job(await run.spawn(shell="true", on_stop="keep"))
        await until(lambda: not job.alive)
        run.leave_out(LeftOut(run.id, run.id, "attachments", "a picture of a cat"))
        await run.summarise("There was one.", upto=run.id)
        await run.emit("Two.")
        await asyncio.Event().wait()

    async with Runtime(engine, level="tree", clock=lambda: 7.0) as runtime:
        session = runtime.session("s")
        live, heard = Following(session), list[FeedEvent]()
        await live.begin()

        async def follow() -> None:
            async for event, _ in live.heard():
                heard.append(event)

        following = asyncio.create_task(follow())
        await (await session.send("first")).outcome()
        await session.send("second")
        await until(lambda: any(event.text == "Two." for event in heard))
        await session.stop(said="that is enough")
        await until(lambda: live.picture.seen == session.last_event)
        following.cancel()
        again = Following(session)
        await again.begin()
        log = await session.log()

    told = [event.fact for event in heard if isinstance(event.fact, NOTES)]
    assert told == [entry for entry in log if isinstance(entry, NOTES)]
    assert {type(fact) for fact in told} == set(NOTES)
    assert lasting(live.picture)["items"] == lasting(again.picture)["items"]


@pytest.mark.scenario("W53", part="surfaces")
async def test_what_waited_with_a_message_that_was_taken_back_is_seen_to_be_answered() -> None:
    go = asyncio.Event()

    async def engine(run: Run) -> None:
        if run.message.text == "first":
            await go.wait()
        await run.emit(f"re: {run.message.text}")

    async with Runtime(engine, on_message="collect") as runtime:
        session = runtime.session("s")
        live = Following(session)
        await live.begin()
        first = await session.send("first")
        await first.started()
        [gone, kept] = [await session.send(text) for text in ("gone", "kept")]
        await session.remove(gone.message.id)
        go.set()
        await kept.outcome()
        for _ in live.at_once():
            pass
        again = Following(session)
        await again.begin()

    said = [part.text for part in _words(live)]
    assert said == ["re: first", "re: kept"]
    assert said == [part.text for part in _words(again)]


def _words(following: Following) -> list[Words]:
    turns = [item for item in following.picture.items if isinstance(item, TurnItem)]
    return [part for turn in turns for part in turn.parts if isinstance(part, Words)]
