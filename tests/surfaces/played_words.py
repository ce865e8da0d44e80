"""Stories of what runs say: to the end, stopped, replaced, taken back; and what is told beside."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from lastword import Attachment, Message, Run
from lastword.core.entries import LeftOut
from lastword.core.model import MessageId
from lastword.core.story import FeedEvent
from tests.promise.stories import Latch
from tests.surfaces.playing import done, for_ever, hears, plays, say, stays, story, talks
from tests.surfaces.recording import Stage


@story
async def a_short_answer(stage: Stage) -> None:
    async with stage.playing(plays(go=talks("uno", "due"))) as (session, _):
        await done(await session.send("go"))


@story
async def an_answer_that_goes_on(stage: Stage) -> None:
    async with stage.playing(plays(go=stays("uno", "due"))) as (session, _):
        await session.send("go")
        await hears(session, "due")


@story
async def three_turns(stage: Stage) -> None:
    engine = plays(a=talks("uno"), b=talks("due", "tre"), c=talks("quattro"))
    async with stage.playing(engine) as (session, _):
        for text in "abc":
            await done(await session.send(text))


@story
async def words_and_thoughts(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await run.think("hmm ")
        await asyncio.sleep(0)
        await run.think("well ")
        await say(run, "uno")
        await run.think("however ")
        await say(run, "due")

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def thoughts_that_are_stopped(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await run.think("hmm ")
        await run.think("perhaps ")
        await for_ever()

    async with stage.playing(plays(go=go)) as (session, _):
        await session.send("go")
        await hears(session, "perhaps")
        await session.stop()


@story
async def a_typing_mark_and_what_is_done(stage: Stage) -> None:
    async def go(run: Run) -> None:
        async with run.typing():
            await run.progress("searching")
            await say(run, "uno")
        await say(run, "due")

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def a_typing_mark_that_is_stopped(stage: Stage) -> None:
    async def go(run: Run) -> None:
        async with run.typing():
            await say(run, "uno")
            await for_ever()

    async with stage.playing(plays(go=go)) as (session, _):
        await session.send("go")
        await hears(session, "uno")
        await session.stop()


@story
async def stopped_in_its_words(stage: Stage) -> None:
    async with stage.playing(plays(go=stays("uno", "due"))) as (session, _):
        await session.send("go")
        await hears(session, "due")
        await session.stop()


@story
async def stopped_for_a_reason_and_asked_anew(stage: Stage) -> None:
    engine = plays(go=stays("uno"), again=talks("due"))
    async with stage.playing(engine) as (session, _):
        await session.send("go")
        await hears(session, "uno")
        await session.stop(said="that is enough")
        await done(await session.send("again"))


@story
async def stopped_twice(stage: Stage) -> None:
    engine = plays(a=stays("uno"), b=stays("due"))
    async with stage.playing(engine) as (session, _):
        for text, word in (("a", "uno"), ("b", "due")):
            await session.send(text)
            await hears(session, word)
            await session.stop()
        await session.stop()  # there is nothing to stop


@story
async def replaced_in_its_words(stage: Stage) -> None:
    engine = plays(go=stays("uno"), instead=talks("due"))
    async with stage.playing(engine) as (session, _):
        await session.send("go")
        await hears(session, "uno")
        await done(await session.send("instead"))


@story
async def replaced_again_and_again(stage: Stage) -> None:
    engine = plays(a=stays("uno"), b=stays("due"), c=stays("tre"))
    async with stage.playing(engine) as (session, _):
        for text, word in (("a", "uno"), ("b", "due"), ("c", "tre")):
            await session.send(text)
            await hears(session, word)


@story
async def taken_back(stage: Stage) -> None:
    engine = plays(go=stays("uno"), rather=talks("due"))
    async with stage.playing(engine) as (session, _):
        await session.send("go")
        await hears(session, "uno")
        await done(await session.send("rather", on_message="rollback"))


@story
async def it_fails(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await say(run, "uno")
        raise RuntimeError("the model is down")

    async with stage.playing(plays(go=go, again=talks("due"))) as (session, _):
        await done(await session.send("go"))
        await done(await session.send("again"))


@story
async def what_a_model_costs(stage: Stage) -> None:
    async def go(run: Run) -> None:
        run.used("a-model", 100, 7)
        await say(run, "uno")
        run.used("a-model", 120, 9)

    async with stage.playing(plays(go=go)) as (session, _):
        await done(await session.send("go"))


@story
async def what_came_with_a_message(stage: Stage) -> None:
    async with stage.playing(plays(look=talks("uno"))) as (session, _):
        picture = Attachment("image/png", data="aGVsbG8=", name="a.png")
        await done(await session.send("look", by="ann", attachments=(picture,)))


@story
async def several_messages_as_one_turn(stage: Stage) -> None:
    async with stage.playing(plays(b=talks("uno"))) as (session, _):
        both = [Message(MessageId("x"), "a", "ann"), Message(MessageId("y"), "b", "bob")]
        await done(*await session.send(both))


@story
async def earlier_turns_are_summarised(stage: Stage) -> None:
    async def shorten(run: Run) -> None:
        await run.summarise("There was one.", upto=run.id)
        await say(run, "due")

    async with stage.playing(plays(go=talks("uno"), shorten=shorten)) as (session, _):
        await done(await session.send("go"))
        await done(await session.send("shorten"))


@story
async def a_provider_declines(stage: Stage) -> None:
    async def show(run: Run) -> None:
        run.declined(413)
        run.leave_out(LeftOut(run.id, run.id, "attachments", "a picture of a cat"))
        await say(run, "uno")

    async with stage.playing(plays(show=show)) as (session, _):
        await done(await session.send("show"))


@story
async def a_provider_declines_for_good(stage: Stage) -> None:
    async def show(run: Run) -> None:
        run.declined(400)
        raise RuntimeError("it was not taken")

    async with stage.playing(plays(show=show, go=talks("uno"))) as (session, _):
        await done(await session.send("show"))
        await done(await session.send("go"))


@story
async def what_a_sink_did_not_deliver(stage: Stage) -> None:
    async def sink(event: FeedEvent) -> None:
        if "due" in event.text:
            raise ConnectionError("the network is gone")

    async def go(run: Run) -> None:
        await say(run, "uno")
        with suppress(ConnectionError):
            await run.emit("due ")
        await say(run, "tre")

    async with stage.playing(plays(go=go), sink=sink) as (session, _):
        await done(await session.send("go"))


@story
async def stopped_while_a_sink_delivers(stage: Stage) -> None:
    latch = Latch()

    async def sink(event: FeedEvent) -> None:
        if "due" in event.text:
            await latch.wait()

    async with stage.playing(plays(go=stays("uno", "due")), sink=sink) as (session, _):
        await session.send("go")
        await latch.came.wait()
        stopping = session.stop()
        latch.open.set()
        await stopping


@story
async def stored_before_it_is_shown(stage: Stage) -> None:
    async with stage.playing(plays(go=stays("uno", "due")), store=stage.file()) as (session, _):
        await session.send("go")
        await hears(session, "due")
        await session.stop()
