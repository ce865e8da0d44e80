"""What waits for a person: answered once or withdrawn, whoever comes when, in every session above,
and after a restart."""

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lastword import Outcome, Run, Runtime, Session, Status, cells
from lastword.agent.permission import Question, Questions
from lastword.agent.rules import Rules
from lastword.cells import Ok, PausableCell
from lastword.core.entries import Answered, Asked, Entry, Finished, Result, Withdrawn
from lastword.core.model import SessionId
from lastword.core.story import FeedEvent
from lastword.errors import AlreadyRunning, AnswerRefused, CellGone, QuestionWithdrawn
from lastword.runtime.asks import Asks
from lastword.surfaces.following import Following, whole
from lastword.testing.seeded import explore
from tests.cells.programs import ASK
from tests.promise.disk import Disk
from tests.promise.stories import Latch, check_log, heard_by, runtime, stop
from tests.promise.workshop import until

VICTIM = "tests.agent.asked_victim"


async def shell(command: str) -> str:
    return command


def about_asks(log: tuple[Entry, ...]) -> list[Asked | Answered | Withdrawn]:
    return [entry for entry in log if isinstance(entry, Asked | Answered | Withdrawn)]


@asynccontextmanager
async def asking(depth: int = 0) -> AsyncGenerator[tuple[Runtime, Questions]]:
    """A run so many levels below the person's asks for a call; those above it wait."""
    questions = Questions(Rules.parse(["ask shell"]))

    async def engine(run: Run) -> None:
        if len(run.sessions) <= depth:
            child = await run.child("deeper")
            await child.outcome()
            await asyncio.Event().wait()
        await run.call(shell, "make")

    async with runtime(engine, before_tool=questions.as_before_tool()) as r:
        yield r, questions


async def asked(questions: Questions) -> Question:
    await until(questions.open)
    [question] = questions.open()
    return question


@pytest.mark.scenario("W55", part="agent")
async def test_an_answer_after_a_stop_from_another_thread_is_refused_before_the_loop_knows() -> (
    None
):
    async with asking() as (r, questions):
        session = r.session("s")
        await session.send("go")
        question = await asked(questions)
        stopping = threading.Thread(target=session.stop_soon)
        stopping.start()
        stopping.join()  # the loop has heard nothing of it

        assert questions.open() == session.questions == session.asks == ()
        with pytest.raises(QuestionWithdrawn, match="came too late"):
            questions.answer(question.id, True, question.generation, always=True)
        assert (await session.stop()).quiet
        log = await session.log()

    assert [type(entry) for entry in about_asks(log)] == [Asked, Withdrawn]
    assert questions.rules("s").decide("shell", "make")[0] == "ask"  # nothing was said for good


@pytest.mark.scenario("W55", part="agent")
def test_of_two_answers_and_a_stop_at_once_one_is_the_end_of_it(schedules: int) -> None:
    async def story() -> None:
        taken: list[str] = []
        async with asking() as (r, questions):
            session = r.session("s")
            await session.send("go")
            question = await asked(questions)

            async def answer(by: str) -> None:
                try:
                    questions.answer(question.id, True, question.generation, by=by)
                    taken.append(by)
                except AnswerRefused:
                    pass

            await asyncio.gather(answer("ann"), stop(session), answer("bob"))
            log = await session.log()
            await check_log(session)

        first, *ends = about_asks(log)
        assert isinstance(first, Asked)
        assert [end.by if isinstance(end, Answered) else "" for end in ends] == (taken or [""])
        assert [type(entry) for entry in log].index(Finished) > log.index(ends[0])

    explore(story, schedules)


@pytest.mark.scenario("W55", part="agent")
async def test_what_a_run_below_asks_is_shown_and_on_record_in_every_session_above() -> None:
    async with asking(depth=2) as (r, questions):
        session = r.session("s")
        events = heard_by(session)
        await session.send("go")
        question = await asked(questions)
        middle, below = question.above[1], question.session
        lines = [r.session(name) for name in (session.id, middle, below)]

        assert [one.questions for one in lines] == [(question,)] * 3
        questions.answer(question.id, True, question.generation, by="ann")
        assert [one.questions for one in lines] == [()] * 3
        logs = [about_asks(await one.log()) for one in lines]
        await until(lambda: any(isinstance(event.fact, Answered) for event in events))
        await session.stop()

    for log, name in zip(logs, (session.id, middle, below), strict=True):
        one, answer = log
        assert isinstance(one, Asked)
        assert isinstance(answer, Answered)
        assert (answer.by, answer.call) == ("ann", question.call)
        assert one.run.startswith(f"{name}#")  # who waits there is the run of that session


@pytest.mark.scenario("W55", part="agent")
def test_a_question_and_its_answer_are_stored_in_every_session_above_before_the_call_is_made(
    schedules: int,
) -> None:
    async def story() -> None:
        disk, questions, made = Disk(), Questions(), list[str]()
        below = SessionId("s#1/1")

        def stored(session: SessionId) -> list[type]:
            return [type(entry) for entry in about_asks(disk.entries_of(session))]

        async def pay(sum: int) -> None:
            made.append(f"{sum}")
            assert [stored(one) for one in (SessionId("s"), below)] == [[Asked, Answered]] * 2

        async def engine(run: Run) -> None:
            if run.above is None:
                await (await run.child("deeper")).outcome()
            else:
                await run.call(pay, 5)

        before = questions.as_before_tool()
        async with runtime(engine, store=disk, before_tool=before) as r:
            ticket = await r.session("s").send("go")
            await until(questions.open)
            await until(lambda: [stored(one) for one in (SessionId("s"), below)] == [[Asked]] * 2)
            [question] = questions.open()
            questions.answer(question.id, True, question.generation, by="ann")

            assert await ticket.outcome() is Outcome.COMPLETED
            assert made == ["5"]
            results = [e for e in await r.session(below).log() if isinstance(e, Result)]
            assert [result.error for result in results] == [False]

    explore(story, max(schedules // 5, 10))


def withdrawn(events: list[FeedEvent]) -> bool:
    return any(isinstance(event.fact, Withdrawn) for event in events)


@pytest.mark.scenario("W55", part="agent")
async def test_a_question_is_withdrawn_above_though_only_the_session_below_was_stopped() -> None:
    async with asking(depth=2) as (r, questions):
        session = r.session("s")
        events = heard_by(session)
        await session.send("go")
        question = await asked(questions)
        await r.session(question.above[1]).stop()
        await until(lambda: withdrawn(events))

        assert session.questions == ()
        assert session.busy
        assert [type(entry) for entry in about_asks(await session.log())] == [Asked, Withdrawn]
        await session.stop()


@pytest.mark.scenario("W55", part="agent")
async def test_what_a_run_below_asks_ends_with_the_run_above_before_that_has_ended() -> None:
    async with asking(depth=1) as (r, questions):
        session = r.session("s")
        await session.send("go")
        await asked(questions)
        await session.stop()
        log = await session.log()

    kinds = [type(entry) for entry in log]
    assert kinds.index(Asked) < kinds.index(Withdrawn) < kinds.index(Finished)


@pytest.mark.scenario("W55", part="agent")
async def test_a_stop_takes_back_what_a_program_waits_on_in_its_own_step() -> None:
    async def engine(run: Run) -> None:
        await (await PausableCell.start(run, "await ask(1)", tools=[ASK])).wait()

    async with Runtime(cells.engine(engine)) as r:
        session = r.session("s")
        await (await session.send("go")).outcome()
        [ask] = session.asks
        stopping = session.stop()

        assert session.asks == ()
        with pytest.raises(CellGone, match="frozen"):
            await cells.resume(session, ask.cell, ask.generation, {ask.call: Ok(7)})
        assert [cell.cell for cell in (await stopping).cells] == [ask.cell]


@pytest.mark.scenario("W55", part="agent")
async def test_what_was_allowed_for_good_holds_for_the_runs_below() -> None:
    questions, done, again = Questions(Rules.parse(["ask shell"])), list[str](), Latch()

    async def engine(run: Run) -> None:
        done.append(await run.call(shell, "make"))
        if len(run.sessions) == 1:
            await (await run.child("deeper")).outcome()
            again.came.set()

    async with Runtime(engine, before_tool=questions.as_before_tool()) as r:
        await r.session("s").send("go")
        question = await asked(questions)
        questions.answer(question.id, True, question.generation, always=True)
        await again.came.wait()

    assert done == ["make", "make"]


async def killed(*told: str) -> None:
    argv = [sys.executable, "-m", VICTIM, *told]
    died = await asyncio.to_thread(subprocess.run, argv, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()


async def restarted(session: Session) -> Following:
    await session.loaded()
    return Following(session, await whole(session))


@pytest.mark.scenario("W56", part="agent")
async def test_after_kill_9_a_question_is_withdrawn_and_a_program_answered_once(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lastword.db"
    await killed(str(file))

    async def engine(run: Run) -> None: ...

    async with Runtime(cells.engine(engine), store=f"sqlite:{file}") as r:
        session = r.session("s")
        events = heard_by(session)
        following = await restarted(session)
        picture, log = following.picture, await session.log()
        await until(lambda: any(event.kind == "recovery" for event in events))
        told = next(event.text for event in events if event.kind == "recovery")

        assert [type(entry) for entry in about_asks(log)] == [Asked, Withdrawn]
        [result] = [entry for entry in log if isinstance(entry, Result)]
        assert result.status is Status.NOT_STARTED  # what is asked for has not been made
        assert "no longer asked for: shell" in told
        assert session.questions == ()
        assert picture.questions == {}
        assert [bool(wait.until) for wait in picture.waits.values()] == [True]

        [ask] = session.asks
        answer = {ask.call: Ok(7)}
        first = await cells.resume(session, ask.cell, ask.generation, answer, by="ann")
        with pytest.raises(AlreadyRunning):
            await cells.resume(session, ask.cell, ask.generation, answer, by="bob")
        assert session.asks == ()
        await session.resume()
        assert await first.outcome() == Outcome.COMPLETED
        [stored] = await session.cells()
        assert stored.record.ending
        assert stored.record.ending.result == "7"


@pytest.mark.scenario("W56", part="agent")
async def test_an_answer_that_waits_is_found_after_kill_9_and_no_second_one_is_taken(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lastword.db"
    await killed(str(file), "answered")

    async def engine(run: Run) -> None: ...

    async with Runtime(cells.engine(engine), store=f"sqlite:{file}") as r:
        session = r.session("s")
        await session.loaded()
        [stored], [message] = await session.cells(), session.queue
        assert stored.record.frontier
        [call] = stored.record.frontier.pending
        assert session.asks == ()  # somebody was first
        with pytest.raises(AlreadyRunning):
            await cells.resume(session, stored.id, 1, {call.id: Ok(8)})
        await session.remove(message.id)
        [ask] = session.asks  # it came to nothing: as it was
        assert ask.call == call.id
        second = await cells.resume(session, stored.id, 1, {call.id: Ok(8)})
        await session.resume()
        assert await second.outcome() == Outcome.COMPLETED


@pytest.mark.scenario("R15")
async def test_a_session_in_which_something_was_asked_leaves_memory_too() -> None:
    questions, asks = Questions(), list[weakref.ref[Asks]]()

    async def engine(run: Run) -> None:
        asks.append(weakref.ref(run.asks))
        await run.call(shell, "make")

    async with runtime(engine, before_tool=questions.as_before_tool(), rest=0.01) as r:
        ticket = await r.session("s").send("go")
        question = await asked(questions)
        questions.answer(question.id, True, question.generation)
        assert await ticket.outcome() is Outcome.COMPLETED
        del ticket

        def gone() -> bool:
            gc.collect()
            return asks[0]() is None

        await until(gone)
        with pytest.raises(AnswerRefused, match="answered"):
            await r.session("s").answer(question.id, True, question.generation)
