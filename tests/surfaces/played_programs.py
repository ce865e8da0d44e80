"""Stories of programs that wait for a person, and of processes."""

from __future__ import annotations

from lastword import Engine, Run, Session, cells
from lastword.cells import Ok, PausableCell, Tool
from lastword.core.entries import Note
from lastword.core.receipt import ProcessNews
from tests.promise.workshop import POLITE, is_up, until
from tests.surfaces.playing import done, for_ever, hears, plays, say, story, talks, told
from tests.surfaces.recording import Stage

READ = Tool("read", {"type": "object", "properties": {"path": {"type": "string"}}}, "Reads.")
ONE = 'found = await read(path="a")\nprint("after")\nfound'
TWO = 'first = await read(path="a")\nsecond = await read(path="b")\n[first, second]'


def runs(source: str, *, stays: bool = False) -> Engine:
    """Begins a program, and leaves it where it stands."""

    async def play(run: Run) -> None:
        await say(run, "uno")
        cell = await PausableCell.start(run, source, tools=[READ])
        await cell.wait()
        await say(run, "due")
        if stays:
            await for_ever()

    return cells.engine(plays(go=play, then=talks("tre")))


async def resumed(session: Session, value: str) -> None:
    """What the one program waits on is answered."""
    [cell] = session.programs
    assert cell.record.frontier
    [call] = cell.record.frontier.pending
    at = cell.record.frontier.generation
    await done(await cells.resume(session, cell.id, at, {call.id: Ok(value)}))


@story
async def a_program_waits(stage: Stage) -> None:
    async with stage.playing(runs(ONE)) as (session, _):
        await done(await session.send("go"))


@story
async def a_program_is_answered(stage: Stage) -> None:
    async with stage.playing(runs(ONE)) as (session, _):
        await done(await session.send("go"))
        await resumed(session, "A")
        await until(lambda: not session.programs)


@story
async def a_program_waits_twice(stage: Stage) -> None:
    async with stage.playing(runs(TWO)) as (session, _):
        await done(await session.send("go"))
        await resumed(session, "A")
        await until(lambda: session.programs and session.programs[0].record.paused)


@story
async def a_program_is_frozen_by_a_stop(stage: Stage) -> None:
    async with stage.playing(runs(ONE, stays=True)) as (session, _):
        await session.send("go")
        await hears(session, "due")
        await session.stop()


@story
async def a_program_that_fails(stage: Stage) -> None:
    async with stage.playing(runs("1 / 0")) as (session, _):
        await done(await session.send("go"))
        await done(await session.send("then"))


@story
async def a_process_and_its_end(stage: Stage) -> None:
    async def go(run: Run) -> None:
        process = await run.spawn(shell="echo hello")
        await process.wait()
        await say(run, "uno")

    async with stage.playing(plays(go=go), level="group") as (session, _):
        await done(await session.send("go"))


@story
async def a_process_is_ended_by_a_stop(stage: Stage) -> None:
    async def go(run: Run) -> None:
        await is_up(await run.spawn(shell=POLITE))
        await say(run, "uno")
        await for_ever()

    async with stage.playing(plays(go=go), level="group", grace=0.2) as (session, _):
        await session.send("go")
        await hears(session, "uno")
        await session.stop()


@story
async def a_process_that_is_kept(stage: Stage) -> None:
    async def go(run: Run) -> None:
        run.job(await run.spawn(shell=POLITE, on_stop="keep"))
        await say(run, "uno")

    engine = plays(go=go, then=talks("due"))
    async with stage.playing(engine, level="group", grace=0.2) as (session, _):
        await done(await session.send("go"))
        [job] = session.processes
        await job.end()
        await told(
            session,
            lambda event: isinstance(event.fact, ProcessNews) and event.fact.state == "ended",
        )
        await done(await session.send("then"))


@story
async def what_ended_meanwhile_is_noted(stage: Stage) -> None:
    async def go(run: Run) -> None:
        job = run.job(await run.spawn(shell="true", on_stop="keep"))
        await until(lambda: not job.alive)
        await say(run, "uno")

    async with stage.playing(plays(go=go), level="group") as (session, _):
        await done(await session.send("go"))
        await told(session, lambda event: isinstance(event.fact, Note))
