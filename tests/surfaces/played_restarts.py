"""Stories that begin with what another process left behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from lastword import Engine, Run, Runtime, Session
from lastword.core.model import SessionId
from lastword.core.story import Begun
from tests.promise.disk import Disk
from tests.promise.workshop import until
from tests.surfaces.played_asks import asked, asking, pay
from tests.surfaces.played_calls import stay
from tests.surfaces.played_programs import ONE, resumed, runs
from tests.surfaces.playing import done, hears, plays, say, stays, story, talks, told
from tests.surfaces.recording import SESSION, Stage


class Found(Disk):
    """What a dead process left. Its sessions are settled when they are asked for, so that somebody
    may look at one as it was left."""

    async def unfinished(self) -> tuple[SessionId, ...]:
        return ()


async def left(
    engine: Engine, before: Callable[[Session], Awaitable[object]], **settings: Any
) -> Disk:
    """What a process leaves that dies after that."""
    disk = Disk()
    async with Runtime(engine, store=disk, **settings) as runtime:
        session = runtime.session(SESSION)
        await before(session)
        await session.log()  # it is stored
        return disk.found(Found())


@story
async def an_answer_is_lost(stage: Stage) -> None:
    async def before(session: Session) -> None:
        await session.send("go")
        await hears(session, "uno")

    engine = plays(go=stays("uno"), again=talks("due"))
    found = await left(engine, before)
    async with stage.playing(engine, store=found) as (session, _):
        await session.loaded()
        await done(await session.send("again"))


@story
async def a_call_is_in_doubt_after_a_death(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await say(run, "uno")
        await run.call(stay, "here")

    async def before(session: Session) -> None:
        await session.send("go")
        await told(session, lambda event: isinstance(event.fact, Begun))

    engine = plays(go=go)
    found = await left(engine, before)
    async with stage.playing(engine, store=found) as (session, _):
        await session.loaded()


@story
async def nobody_is_asked_any_more_after_a_death(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await say(run, "uno")
        await run.call(pay, 7)

    async def before(session: Session) -> None:
        await session.send("go")
        await asked(session)

    _, settings = asking()
    engine = plays(go=go)
    found = await left(engine, before, **settings)
    async with stage.playing(engine, store=found, **settings) as (session, _):
        await session.loaded()


@story
async def what_waited_waits_after_a_death(stage: Stage) -> None:
    async def before(session: Session) -> None:
        for text in "abc":
            await session.send(text)
        await hears(session, "uno")

    engine = plays(a=stays("uno"), b=talks("due"), c=talks("tre"))
    found = await left(engine, before, on_message="queue")
    async with stage.playing(engine, store=found, on_message="queue") as (session, _):
        await session.loaded()
        await session.resume()
        await hears(session, "tre")
        await until(lambda: not session.busy)


@story
async def what_waited_runs_after_a_death(stage: Stage) -> None:
    async def before(session: Session) -> None:
        for text in "ab":
            await session.send(text)
        await hears(session, "uno")

    engine = plays(a=stays("uno"), b=talks("due"))
    found = await left(engine, before, on_message="queue")
    async with stage.playing(engine, store=found, on_restart="run") as (session, _):
        await session.loaded()
        await hears(session, "due")
        await until(lambda: not session.busy)


@story
async def a_program_outlives_its_process(stage: Stage) -> None:
    async def before(session: Session) -> None:
        await done(await session.send("go"))

    engine = runs(ONE)
    found = await left(engine, before)
    async with stage.playing(engine, store=found) as (session, _):
        await session.loaded()
        await resumed(session, "A")
        await until(lambda: not session.programs)


@story
async def a_file_is_opened_again(stage: Stage) -> None:
    engine = plays(go=stays("uno"), again=talks("due"))
    file = stage.file()
    async with Runtime(engine, store=file) as runtime:
        session = runtime.session(SESSION)
        await session.send("go")
        await hears(session, "uno")
    async with stage.playing(engine, store=file) as (session, _):
        await done(await session.send("again"))
