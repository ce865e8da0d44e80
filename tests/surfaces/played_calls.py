"""Stories of what runs call: how each call ends, and what a stop leaves of it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from lastword import Run
from lastword.core.story import Begun, Settled
from tests.promise.stories import Latch
from tests.surfaces.playing import done, for_ever, hears, plays, say, story, talks, told
from tests.surfaces.recording import Stage


async def look(where: str) -> str:
    await asyncio.sleep(0)
    return f"a view of {where}"


async def stay(where: str) -> str:
    del where
    await for_ever()
    return ""


async def fail(where: str) -> str:
    raise FileNotFoundError(where)


@story
async def a_call(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await say(run, "uno")
        await run.call(look, "here")
        await say(run, "due")

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def a_call_in_a_file(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await run.call(look, "here")
        await say(run, "uno")

    async with stage.playing(plays(go=go), store=stage.file()) as (session, _):
        await done(await session.send("go"))


@story
async def a_call_that_raises(stage: Stage) -> None:
    async def go(run: Run) -> None:
        with suppress(FileNotFoundError):
            await run.call(fail, "nowhere")
        await say(run, "uno")

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def several_calls_of_which_one_is_stopped(stage: Stage) -> None:
    async def go(run: Run) -> None:
        calls = [run.intend(look, "a"), run.intend(stay, "b"), run.intend(look, "c")]
        for call in calls:
            await call()

    async with stage.playing(plays(go=go)) as (session, _):
        await session.send("go")
        await told(session, lambda e: isinstance(e.fact, Begun) and e.fact.name == "stay")
        await session.stop()


@story
async def calls_at_once(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await asyncio.gather(*(run.call(look, where) for where in "abc"))
        await say(run, "uno")

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def a_call_that_is_being_made(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await run.call(stay, "here")

    async with stage.playing(plays(go=go)) as (session, _):
        await session.send("go")
        await told(session, lambda event: isinstance(event.fact, Begun))


@story
async def what_a_call_writes(stage: Stage) -> None:
    async def go(run: Run) -> None:
        async def build() -> str:
            await run.progress("compiling\n")
            await asyncio.sleep(0)
            await run.progress("linking\n")
            return "built"

        await run.call(build)
        await say(run, "uno")

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def a_call_that_is_replaced(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await say(run, "uno")
        await run.call(stay, "here")

    async with stage.playing(plays(go=go, instead=talks("due"))) as (session, _):
        await session.send("go")
        await told(session, lambda event: isinstance(event.fact, Begun))
        await done(await session.send("instead"))


@story
async def what_leaves_by_the_outbox(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await run.outbox(look, name="mail")("bob")
        await say(run, "uno")

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def a_thread_that_ends_late(stage: Stage) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def dig(where: str) -> str:
        begun.set()
        may_end.wait()
        return where

    async def go(run: Run) -> None:
        await run.call(dig, "deep")

    async with stage.playing(plays(go=go), grace=0.0, deadline=0.1) as (session, _):
        try:
            await session.send("go")
            await asyncio.to_thread(begun.wait)
            await session.stop()
        finally:
            may_end.set()
        await told(session, lambda event: isinstance(event.fact, Settled))


@story
async def a_run_that_does_not_want_to_end(stage: Stage) -> None:
    latch = Latch()

    async def go(run: Run) -> None:
        await say(run, "uno")
        await latch.wait_stubbornly()
        await say(run, "never")

    engine = plays(go=go, again=talks("due"))
    async with stage.playing(engine, grace=0.0, deadline=0.1) as (session, _):
        await session.send("go")
        await latch.came.wait()
        await session.stop()
        again = await session.send("again")
        latch.open.set()
        await told(session, lambda event: isinstance(event.fact, Settled))
        await done(again)
        await hears(session, "due")
