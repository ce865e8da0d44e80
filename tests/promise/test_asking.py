"""R1. A run that was stopped or replaced asks in vain, whenever it asks; one that is current asks
for itself, and not as a person."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

import pytest

from lastword import Outcome, Run, Runtime, Session, Superseded, Ticket
from lastword.agent.permission import Question, Questions
from lastword.core.entries import Said
from lastword.errors import NotAllowed
from lastword.testing.recorder import Recorder
from lastword.testing.seeded import explore
from tests.promise.heard import hearing
from tests.promise.stories import Latch, a_while, check_log, runtime, stop

Act: TypeAlias = Callable[[Runtime, Session], Awaitable[Any]]
ACTS: dict[str, Act] = {
    "send": lambda _, session: session.send("and next"),
    "send by": lambda _, session: session.send("and next", by="ann", on_message="takeover"),
    "stop": lambda _, session: stop(session),
    "resume": lambda _, session: session.resume(by="ann"),
    "edit": lambda _, session: session.edit("kept", "edited"),
    "remove": lambda _, session: session.remove("kept"),
    "move": lambda _, session: session.move("kept", 0),
    "delete": lambda runtime, session: runtime.delete(session.id),
    "stop all": lambda runtime, _: runtime.stop_all(),
    "close": lambda runtime, _: runtime.close(),
}


async def _quietly(act: Coroutine[Any, Any, Any]) -> None:
    with suppress(Superseded):
        await act


@pytest.mark.scenario("R1")
@pytest.mark.parametrize("taken_over", [False, True], ids=["stopped", "taken over"])
@pytest.mark.parametrize("act", ACTS)
def test_what_a_run_asks_for_once_it_has_lost_its_session_is_not_done(
    act: str, *, taken_over: bool, schedules: int
) -> None:
    async def story() -> None:
        asked: list[bool] = []  # whether it was current, as it began to ask
        began = Latch()

        async def engine(run: Run) -> None:
            if run.message.text != "old":
                await asyncio.Event().wait()
            began.came.set()
            try:
                await asyncio.Event().wait()
            finally:
                for session in (r.session("s"), r.session("other")):
                    asked.append(run.current)

                    async def ask(session: Session = session) -> None:
                        await ACTS[act](r, session)

                    helper = asyncio.create_task(_quietly(ask()))
                    await asyncio.sleep(0)
                    await helper

        async with runtime(engine, queue_on_stop="keep", deadline=1.0) as r:
            session, other = r.session("s"), r.session("other")
            await other.send("goes on")
            await other.send("waits", id="kept", on_message="queue")
            await session.send("old")
            await session.send("waits", id="kept", on_message="queue")
            await began.came.wait()
            if taken_over:
                new = await session.send("new")
                await new.started()
            else:
                await asyncio.create_task(stop(session))
            await a_while()

            assert asked == [False, False]
            assert [m.text for m in other.queue] == ["waits"]
            assert [m.text for m in session.queue] == ["waits"]
            said = [e.message.text for e in await session.log() if isinstance(e, Said)]
            assert said == ["old", "waits", *(["new"] if taken_over else [])]
            assert session.busy == taken_over
            assert other.busy
            await check_log(session)
            await check_log(other)

    explore(story, schedules)


@pytest.mark.scenario("R1")
def test_what_a_current_run_sends_takes_over_from_nobody(schedules: int) -> None:
    async def story() -> None:
        sent: list[Ticket] = []

        async def engine(run: Run) -> None:
            if run.message.text == "go":
                sent.append(await r.session("s").send("from a run", on_message="takeover"))
                sent.append(await r.session("s").send("from ann", by="ann", on_message="queue"))
                await run.emit("done")

        async with runtime(engine) as r:
            first = await r.session("s").send("go")
            outcomes = [await first.outcome(), *[await ticket.outcome() for ticket in sent]]

            assert outcomes == [Outcome.COMPLETED] * 3
            assert [ticket.message.origin for ticket in sent] == ["run", "person"]
            await check_log(r.session("s"))

    explore(story, schedules)


@pytest.mark.scenario("R1")
def test_what_a_current_run_asks_for_does_not_undo_a_persons_stop(schedules: int) -> None:
    async def story() -> None:
        refused: list[str] = []

        async def engine(run: Run) -> None:
            if run.session == "agent":
                hushed = r.session("hushed")
                await hushed.send("go on")
                try:
                    await hushed.resume()
                except NotAllowed as error:
                    refused.append(str(error))
            else:
                await asyncio.Event().wait()

        async with runtime(engine, queue_on_stop="keep") as r:
            hushed = r.session("hushed")
            await hushed.send("work")
            await hushed.send("waits", on_message="queue")
            await stop(hushed)
            await (await r.session("agent").send("go")).outcome()
            await a_while()

            assert len(refused) == 1
            assert not hushed.busy
            assert [message.text for message in hushed.queue] == ["waits", "go on"]
            await hushed.resume()
            assert hushed.busy

    explore(story, schedules)


@pytest.mark.scenario("R1")
async def test_a_run_that_calls_its_own_words_a_persons_is_told_to_say_whose() -> None:
    async def engine(run: Run) -> None:
        with pytest.raises(ValueError, match="by="):
            await r.session("s").send("mine", origin="person")
        await r.session("s").send("a timer's", origin="timer", on_message="queue")

    async with runtime(engine) as r:
        ticket = await r.session("s").send("go", on_message="queue")
        assert await ticket.outcome() == Outcome.COMPLETED


@pytest.mark.scenario("R1")
def test_a_stopped_child_does_not_speak_through_its_parent(schedules: int) -> None:
    async def story() -> None:
        heard, began, done = Recorder(), Latch(), asyncio.Event()

        async def engine(run: Run) -> None:
            async def child(_: Run) -> None:
                began.came.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    await run.emit("from the child")
                    done.set()

            await run.emit("before ")
            below.append((await run.child("go", engine=child)).session)
            await done.wait()
            await run.emit("after")

        below: list[str] = []
        async with runtime(engine, sink=heard) as r:
            ticket = await r.session("s").send("go")
            await began.came.wait()
            while not below:
                await asyncio.sleep(0)
            await asyncio.create_task(stop(r.session(below[0])))

            assert await ticket.outcome() == Outcome.COMPLETED
            assert heard.texts == ["before ", "after"]

    explore(story, schedules)


@pytest.mark.scenario("R1")
def test_a_run_may_close_the_runtime_that_it_opened(schedules: int) -> None:
    async def story() -> None:
        began, inside = Latch(), list[Runtime]()

        async def engine(run: Run) -> None:
            async with runtime(inner) as mine:
                inside.append(mine)
                await mine.session("s").send(run.message.text)
                began.came.set()
                await asyncio.Event().wait()

        async def inner(run: Run) -> None:
            await asyncio.Event().wait()

        async with runtime(engine) as r:
            await r.session("s").send("go")
            await began.came.wait()
            receipt = await asyncio.create_task(stop(r.session("s")))

            assert receipt.quiet
            assert "closed" in repr(inside[0])

    explore(story, schedules)


@pytest.mark.scenario("R1")
async def test_a_stopped_run_answers_no_question_and_a_surface_is_not_part_of_the_run() -> None:
    questions, began = Questions(), Latch()
    shown, answers = asyncio.Queue[Question](), list[asyncio.Task[None]]()

    def surface(news: str, question: Question) -> None:
        if news == "opened":
            shown.put_nowait(question)
            answers.append(asyncio.create_task(late(question)))

    async def late(question: Question) -> None:
        await began.open.wait()
        questions.answer(question.id, allow=True, generation=question.generation)

    async def engine(run: Run) -> None:
        if run.session == "asks":
            with hearing(r.session("asks"), surface):  # from inside the run
                await questions.ask(run, "shell", "ls")
            return
        try:
            began.came.set()
            await asyncio.Event().wait()
        finally:
            question = await shown.get()
            with pytest.raises(Superseded):
                questions.answer(question.id, allow=True, generation=question.generation)

    async with runtime(engine) as r:
        await r.session("stopped").send("go")
        await began.came.wait()
        stopping = asyncio.create_task(stop(r.session("stopped")))
        await asyncio.sleep(0)
        asks = await r.session("asks").send("go")
        assert (await stopping).quiet
        assert len(questions.open()) == 1
        began.open.set()

        assert await asks.outcome() == Outcome.COMPLETED
        await asyncio.gather(*answers)
