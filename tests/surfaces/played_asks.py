"""Stories of what a person is asked: answered, withdrawn, and by runs below."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from lastword import Run, Session
from lastword.agent.permission import Question, Questions
from lastword.errors import LastwordError
from tests.promise.stories import Latch
from tests.promise.workshop import until
from tests.surfaces.playing import Play, done, for_ever, plays, say, stays, story, talks
from tests.surfaces.recording import Stage


async def pay(amount: int) -> str:
    await asyncio.sleep(0)
    return f"paid {amount}"


async def go(run: Run) -> None:
    await say(run, "uno")
    with suppress(LastwordError):
        await run.call(pay, 7)
    await say(run, "due")


def sends(child: Play, *, keep: bool = False) -> Play:
    """Has a run below do something."""

    async def play(run: Run) -> None:
        await say(run, "uno")
        sent = await run.child("pay", engine=child, keep=keep)
        if keep:
            await for_ever()
        await sent.outcome()
        await say(run, "due")

    return play


async def below(run: Run) -> None:
    with suppress(LastwordError):
        await run.call(pay, 7)


async def twice_below(run: Run) -> None:
    await run.call(pay, 7)
    await run.call(pay, 8)


def asking() -> tuple[Questions, dict[str, Any]]:
    questions = Questions()
    return questions, {"before_tool": questions.as_before_tool()}


async def asked(session: Session, before: Question | None = None) -> Question:
    """What is asked, once something else is than before."""
    known = before.id if before else ""
    await until(lambda: any(one.id != known for one in session.questions))
    return session.questions[0]


@story
async def asked_and_allowed(stage: Stage) -> None:
    questions, settings = asking()
    async with stage.playing(plays(go=go), **settings) as (session, _):
        ticket = await session.send("go")
        question = await asked(session)
        questions.answer(question.id, True, question.generation, by="ann")
        await done(ticket)


@story
async def asked_and_denied(stage: Stage) -> None:
    questions, settings = asking()
    async with stage.playing(plays(go=go), **settings) as (session, _):
        ticket = await session.send("go")
        question = await asked(session)
        questions.answer(question.id, False, question.generation, by="ann")
        await done(ticket)


@story
async def asked_and_answered_for_good(stage: Stage) -> None:
    async def twice(run: Run) -> None:
        await run.call(pay, 7)
        await run.call(pay, 7)
        await say(run, "uno")

    questions, settings = asking()
    async with stage.playing(plays(go=twice), **settings) as (session, _):
        ticket = await session.send("go")
        question = await asked(session)
        questions.answer(question.id, True, question.generation, always=True)
        await done(ticket)


@story
async def it_is_asked_for(stage: Stage) -> None:
    _, settings = asking()
    async with stage.playing(plays(go=go), **settings) as (session, _):
        await session.send("go")
        await asked(session)


@story
async def stopped_while_it_is_asked_for(stage: Stage) -> None:
    questions, settings = asking()
    async with stage.playing(plays(go=go), **settings) as (session, _):
        await session.send("go")
        question = await asked(session)
        await session.stop()
        with suppress(LastwordError):  # it comes too late
            questions.answer(question.id, True, question.generation)


@story
async def replaced_while_it_is_asked_for(stage: Stage) -> None:
    _, settings = asking()
    engine = plays(go=go, instead=talks("tre"))
    async with stage.playing(engine, **settings) as (session, _):
        await session.send("go")
        await asked(session)
        await done(await session.send("instead"))


@story
async def asked_after_a_takeover(stage: Stage) -> None:
    questions, settings = asking()
    engine = plays(first=stays("zero"), go=go)
    async with stage.playing(engine, **settings) as (session, _):
        await session.send("first")
        ticket = await session.send("go")
        question = await asked(session)
        questions.answer(question.id, True, question.generation)
        await done(ticket)


@story
async def asked_while_an_answer_that_was_replaced_still_ends(stage: Stage) -> None:
    latch = Latch()

    async def first(run: Run) -> None:
        await say(run, "zero")
        await latch.wait_stubbornly()

    questions, settings = asking()
    async with stage.playing(plays(first=first, go=go), **settings) as (session, _):
        await session.send("first")
        await latch.came.wait()
        ticket = await session.send("go")
        question = await asked(session)
        latch.open.set()
        await ticket.receipt()
        questions.answer(question.id, True, question.generation)
        await done(ticket)


@story
async def asked_while_another_waits(stage: Stage) -> None:
    _, settings = asking()
    engine = plays(go=go)
    async with stage.playing(engine, on_message="queue", **settings) as (session, _):
        await session.send("go")
        await session.send("then")
        await asked(session)


@story
async def a_child_asks(stage: Stage) -> None:
    questions, settings = asking()
    async with stage.playing(plays(go=sends(below)), **settings) as (session, _):
        ticket = await session.send("go")
        question = await asked(session)
        questions.answer(question.id, True, question.generation, by="ann")
        await done(ticket)


@story
async def a_child_is_stopped_while_it_asks(stage: Stage) -> None:
    _, settings = asking()
    async with stage.playing(plays(go=sends(below)), **settings) as (session, _):
        await session.send("go")
        await asked(session)
        await session.stop()


@story
async def a_child_that_is_kept_asks_again(stage: Stage) -> None:
    questions, settings = asking()
    engine = plays(go=sends(twice_below, keep=True))
    async with stage.playing(engine, **settings) as (session, _):
        await session.send("go")
        first = await asked(session)
        await session.stop()
        questions.answer(first.id, True, first.generation)
        await asked(session, first)
