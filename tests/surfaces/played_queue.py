"""Stories of messages that wait: their order, what is done to them, and what a stop leaves."""

from __future__ import annotations

from lastword import FeedEvent, Run
from lastword.core.entries import Began
from lastword.core.queue import QueueNews
from tests.promise.disk import Disk
from tests.promise.stories import Latch
from tests.surfaces.played_calls import look
from tests.surfaces.playing import (
    Play,
    done,
    for_ever,
    hears,
    plays,
    say,
    stays,
    story,
    talks,
    told,
)
from tests.surfaces.recording import Stage


def waits_at(latch: Latch, *words: str) -> Play:
    """Says this, and goes on until the door is opened."""

    async def play(run: Run) -> None:
        await say(run, *words)
        await latch.wait()

    return play


@story
async def one_after_another(stage: Stage) -> None:
    latch = Latch()
    engine = plays(a=waits_at(latch, "uno"), b=talks("due"), c=talks("tre"))
    async with stage.playing(engine, on_message="queue") as (session, _):
        tickets = [await session.send(text) for text in "abc"]
        await latch.came.wait()
        latch.open.set()
        await done(*tickets)


@story
async def what_waits_is_dropped_by_a_stop(stage: Stage) -> None:
    engine = plays(a=stays("uno"))
    async with stage.playing(engine, on_message="queue") as (session, _):
        for text in "abc":
            await session.send(text)
        await hears(session, "uno")
        await session.stop()


@story
async def what_waits_outlives_a_stop(stage: Stage) -> None:
    engine = plays(a=stays("uno"), b=talks("due"))
    settings = {"on_message": "queue", "queue_on_stop": "keep"}
    async with stage.playing(engine, **settings) as (session, _):
        _, second = [await session.send(text) for text in "ab"]
        await hears(session, "uno")
        await session.stop()
        await session.resume()
        await done(second)


@story
async def what_waits_after_a_stop_still_does(stage: Stage) -> None:
    engine = plays(a=stays("uno"))
    settings = {"on_message": "queue", "queue_on_stop": "keep"}
    async with stage.playing(engine, **settings) as (session, _):
        for text in "ab":
            await session.send(text)
        await hears(session, "uno")
        await session.stop()


@story
async def what_waits_is_changed(stage: Stage) -> None:
    latch = Latch()
    engine = plays(a=waits_at(latch, "uno"), better=talks("due"), d=talks("tre"))
    async with stage.playing(engine, on_message="queue") as (session, _):
        first, second, third, fourth = [await session.send(text) for text in "abcd"]
        await latch.came.wait()
        await session.edit(second.message.id, "better")
        await session.remove(third.message.id)
        await session.move(fourth.message.id, 0)
        latch.open.set()
        await done(first, second, fourth)


@story
async def one_of_those_that_wait_is_stopped(stage: Stage) -> None:
    latch = Latch()
    engine = plays(a=waits_at(latch, "uno"), c=talks("due"))
    async with stage.playing(engine, on_message="queue") as (session, _):
        first, second, third = [await session.send(text) for text in "abc"]
        await latch.came.wait()
        await session.stop(run=second.run)
        latch.open.set()
        await done(first, third)


@story
async def who_may_stop_their_own(stage: Stage) -> None:
    engine = plays(a=stays("uno"), b=talks("due"))
    async with stage.playing(engine, on_message="queue", stoppers=("carol",)) as (session, _):
        await session.send("a", by="ann")
        second = await session.send("b", by="bob")
        await hears(session, "uno")
        await session.stop(by="ann")
        await done(second)


@story
async def collected_for_one_turn(stage: Stage) -> None:
    latch = Latch()
    engine = plays(a=waits_at(latch, "uno"), c=talks("due"))
    async with stage.playing(engine, on_message="collect") as (session, _):
        tickets = [await session.send(text) for text in "abc"]
        await latch.came.wait()
        latch.open.set()
        await done(*tickets)


@story
async def one_of_those_collected_is_taken_back(stage: Stage) -> None:
    latch = Latch()
    engine = plays(a=waits_at(latch, "uno"), c=talks("due"))
    async with stage.playing(engine, on_message="collect") as (session, _):
        first, second, third = [await session.send(text) for text in "abc"]
        await latch.came.wait()
        await session.remove(second.message.id)
        latch.open.set()
        await done(first, third)


@story
async def steered(stage: Stage) -> None:
    latch = Latch()

    async def go(run: Run) -> None:
        await say(run, "uno")
        await latch.wait()
        [joined] = await run.steering()
        await say(run, f"for-{joined.text}")

    async with stage.playing(plays(go=go), on_message="steer") as (session, _):
        first = await session.send("go")
        await latch.came.wait()
        await session.send("left")
        latch.open.set()
        await done(first)


@story
async def steered_before_a_call_is_made(stage: Stage) -> None:
    latch = Latch()

    async def go(run: Run) -> None:
        await say(run, "uno")
        call = run.intend(look, "here")
        await latch.wait()
        await run.steering()
        await call()
        await say(run, "due")

    async with stage.playing(plays(go=go), on_message="steer") as (session, _):
        first = await session.send("go")
        await latch.came.wait()
        await session.send("left")
        latch.open.set()
        await done(first)


@story
async def stopped_before_words_to_steer_are_given(stage: Stage) -> None:
    latch = Latch()

    async def go(run: Run) -> None:
        await say(run, "uno")
        await latch.wait()
        await run.steering()
        await for_ever()

    async with stage.playing(plays(go=go), on_message="steer", store=Disk()) as (session, _):
        await session.send("go")
        await latch.came.wait()
        second = await session.send("left")
        latch.open.set()

        def joins(event: FeedEvent) -> bool:
            return isinstance(event.fact, Began) and second.message.id in event.fact.messages

        await told(session, joins)
        await session.stop()


@story
async def words_to_steer_that_came_too_late(stage: Stage) -> None:
    latch = Latch()
    engine = plays(go=waits_at(latch, "uno"), left=talks("due"))
    async with stage.playing(engine, on_message="steer") as (session, _):
        first = await session.send("go")
        await latch.came.wait()
        second = await session.send("left")
        latch.open.set()
        await done(first, second)


@story
async def words_to_steer_that_a_stop_drops(stage: Stage) -> None:
    async with stage.playing(plays(go=stays("uno")), on_message="steer") as (session, _):
        await session.send("go")
        await hears(session, "uno")
        await session.send("left")
        await told(session, lambda event: isinstance(event.fact, QueueNews))
        await session.stop()
