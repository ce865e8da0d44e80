"""R4. A watcher that reads slowly is handed no effect of a run that was fenced meanwhile."""

import asyncio
from typing import Literal

import pytest

from lastword import Run, Session
from lastword.core import story
from lastword.core.cell import CellId, CellRecord, StoredCell
from lastword.core.model import (
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    Reason,
    RunId,
    SessionId,
    Status,
)
from lastword.core.question import Question
from lastword.core.receipt import Receipt
from lastword.core.story import FACTS, Fact, FeedEvent, is_effect, may_leave
from lastword.testing.seeded import explore
from tests.promise.stories import Latch, a_while, runtime

SAID = 50


@pytest.mark.scenario("R4")
@pytest.mark.parametrize("how", ["stopped", "taken over", "stopped above"])
def test_a_slow_watcher_is_handed_no_effect_once_it_is_fenced(
    how: Literal["stopped", "taken over", "stopped above"], schedules: int
) -> None:
    async def story() -> None:
        latch, watched = Latch(), asyncio.Event()
        late: list[FeedEvent] = []
        fenced = asyncio.Event()

        async def watch(session: Session) -> None:
            events = session.events(after=0)
            watched.set()
            async for event in events:
                if fenced.is_set():
                    late.append(event)
                await asyncio.sleep(0.01)  # it is slow

        async def speak(run: Run) -> None:
            if run.message.text != "old":
                return
            async with run.typing():
                for number in range(SAID):
                    await run.emit(f"{number} ")
                await run.think("hm")
                await run.progress("going")
                call = run.intend(print)
                await latch.wait()
            call.skip("never")

        async def engine(run: Run) -> None:
            if how != "stopped above":
                await speak(run)
                return
            below.append((await run.child("old", engine=speak)).session)
            await asyncio.Event().wait()

        below: list[str] = []
        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("old")
            await latch.came.wait()
            while how == "stopped above" and not below:
                await asyncio.sleep(0)
            watching = asyncio.create_task(watch(r.session(below[0]) if below else session))
            await watched.wait()
            await asyncio.sleep(0.055)
            if how == "taken over":
                await session.send("new")
            else:
                session.stop()
            fenced.set()
            await a_while()
            watching.cancel()

            texts = [event for event in late if is_effect(event.fact)]
            assert texts == []
            numbers = [event.number for event in late]
            assert numbers == sorted(set(numbers))
            assert "finished" in [event.kind for event in late]

    explore(story, schedules)


@pytest.mark.scenario("R4")
def test_what_a_run_said_before_it_ended_by_itself_is_handed_out_however_late(
    schedules: int,
) -> None:
    async def story() -> None:
        async def engine(run: Run) -> None:
            if run.session == "s":
                await (await run.child("go")).outcome()
            await run.emit("said")

        async with runtime(engine) as r:
            session = r.session("s")
            await (await session.send("go")).outcome()
            await (await session.send("again")).outcome()
            heard = [event async for event in _up_to(session, session.last_event)]

            assert [event.text for event in heard if event.kind == "text"] == ["said", "said"]
            assert [event.number for event in heard] == list(range(1, session.last_event + 1))

    explore(story, max(schedules // 10, 3))


async def _up_to(session: Session, last: int):  # noqa: ANN202 - an async generator of events
    async for event in session.events(after=0):
        yield event
        if event.number == last:
            return


RUN, CALL, SESSION = RunId("s#1"), CallId("s#1.1"), SessionId("s")
STOPPED = Receipt(SESSION, Generation(4), Reason.STOPPED, 0.0)
QUESTION = Question("q", SESSION, Generation(3), RUN, "shell", "{}")
CELL = StoredCell(
    SESSION, CellRecord(CellId("c"), "pausable", 1, None, False, (), (), (), None), "", run=RUN
)


@pytest.mark.scenario("R4")
@pytest.mark.parametrize(
    ("fact", "effect"),
    [
        (story.Text(RUN, "x"), True),
        (story.Thinking(RUN, "x"), True),
        (story.Progress(RUN, "x"), True),
        (story.Used(RUN, "m", 1, 1), True),
        (story.Typing(RUN, on=True), True),
        (story.Typing(RUN, on=False), False),
        (story.Called(RUN, CALL, "t", "{}"), True),
        (story.Begun(RUN, CALL, "t"), True),
        (story.Result(RUN, CALL, Status.COMPLETED), False),
        (story.Result(RUN, CALL, Status.MAY_HAVE_EXECUTED), False),
        (story.Asked(RUN, CALL, "t", ""), True),
        (story.Answered(RUN, CALL, allowed=True), False),
        (story.Asked(RUN, CALL, "t", "", question=QUESTION), True),
        (story.Withdrawn(RUN, CALL), False),
        (story.ProcessNews(RUN, -1, "sh", "starting"), True),
        (story.ProcessNews(RUN, 5, "sh", "started"), False),
        (story.ProcessNews(RUN, 5, "sh", "ended"), False),
        (story.Said(Message(MessageId("m"), "x"), RUN), False),
        (story.Began(RUN, Generation(3), ()), False),
        (story.Finished(RUN, Outcome.STOPPED, (), started=True), False),
        (story.Unshown(RUN, 1, 1), False),
        (story.Note(None, "x"), False),
        (story.Summary("x", RUN), False),
        (story.Declined(RUN, 400), False),
        (story.LeftOut(RUN, RUN, "calls", "x"), False),
        (story.QueueNews((), hushed=False), False),
        (story.ProgramNews(RUN, CELL), False),
        (story.Recovery(), False),
        (STOPPED, False),
        (story.Settled(STOPPED), False),
    ],
)
def test_an_effect_may_leave_until_its_generation_is_fenced(fact: Fact, *, effect: bool) -> None:
    assert is_effect(fact) == effect
    event = FeedEvent(1, SESSION, Generation(3), fact)
    assert may_leave(event, Generation(3))
    assert may_leave(event, Generation(4)) == (not effect)


@pytest.mark.scenario("R4")
def test_of_every_fact_it_is_known_whether_it_is_an_effect() -> None:
    [cases] = [
        mark.args[1]
        for mark in test_an_effect_may_leave_until_its_generation_is_fenced.pytestmark  # pyright: ignore[reportFunctionMemberAccess] - pytest's
        if mark.name == "parametrize"
    ]

    assert {type(fact) for fact, _ in cases} == set(FACTS)
