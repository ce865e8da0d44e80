"""T. A new message while a run is active: six policies, and nothing lost under any of them."""

import asyncio
from collections.abc import Sequence

import pytest

from lastword import (
    Message,
    NotAllowed,
    Outcome,
    Run,
    Runtime,
    Shown,
)
from lastword.core.entries import Text
from lastword.testing.recorder import Recorder
from lastword.testing.seeded import explore
from tests.promise.stories import (
    OneAtATime,
    a_while,
    answer,
    check_log,
    runtime,
    stop,
    talk,
)


@pytest.mark.scenario("T1")
def test_a_takeover_fences_the_old_run_before_the_new_one_is_asked(schedules: int) -> None:
    async def story() -> None:
        heard = Recorder()
        runs: dict[str, Run] = {}
        shown: list[Shown] = []

        async def engine(run: Run) -> None:
            runs[run.message.text] = run
            if run.message.text == "new":
                assert "old" not in runs or not runs["old"].current
                shown.extend(run.history)
            await run.emit(run.message.text)
            await (talk(run) if run.message.text == "old" else asyncio.sleep(0))

        async with runtime(engine, sink=heard) as r:
            session = r.session("s")
            old = await session.send("old")
            new = await asyncio.create_task(session.send("new"))

            assert await new.outcome() == Outcome.COMPLETED
            assert await old.outcome() == Outcome.SUPERSEDED
            receipt = await new.receipt()
            assert receipt
            assert receipt.reason == "superseded"
            assert (shown[-1].role, shown[-1].text) == ("user", "new")
            after = heard.texts[heard.texts.index("new") :]
            assert after == ["new"]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T3")
def test_the_last_of_three_messages_is_dominant_and_the_second_is_context(schedules: int) -> None:
    async def story() -> None:
        shown: list[Shown] = []

        async def engine(run: Run) -> None:
            if run.message.text == "c":
                shown.extend(run.history)
            else:
                await talk(run)

        async with runtime(OneAtATime(engine)) as r:
            session = r.session("s")
            a = await session.send("a")
            await asyncio.sleep(0.1)
            b = await session.send("b")
            await asyncio.sleep(0.1)
            c = await session.send("c")

            assert await c.outcome() == Outcome.COMPLETED
            assert await a.outcome() == Outcome.SUPERSEDED
            assert await b.outcome() == Outcome.SUPERSEDED
            assert [item.text for item in shown if item.role == "user"] == ["a", "b", "c"]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T4")
@pytest.mark.parametrize("queue_on_stop", ["drop", "keep"])
def test_a_takeover_is_not_delayed_by_a_queue_and_accounts_for_it(
    queue_on_stop: str, schedules: int
) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            await (talk(run) if run.message.text == "a" else answer(run))

        engine = OneAtATime(work)
        async with runtime(engine, queue_on_stop=queue_on_stop) as r:
            session = r.session("s")
            a = await session.send("a")
            waiting = [await session.send(text, on_message="queue") for text in "bc"]
            new = await asyncio.create_task(session.send("now"))
            ended = [await ticket.outcome() for ticket in (a, new, *waiting)]

            receipt = await new.receipt()
            assert receipt
            dropped = [
                report.message.text for report in receipt.messages if report.fate == "dropped"
            ]
            if queue_on_stop == "drop":
                assert ended == ["superseded", "completed", "superseded", "superseded"]
                assert [text for text in dropped if text in "bc"] == ["b", "c"]
                texts = [item.text for item in await session.history() if item.role == "user"]
                assert texts == ["a", "b", "c", "now"]
            else:
                assert ended == ["superseded", "completed", "completed", "completed"]
                assert [text for text in engine.order if text != "a"] == ["now", "b", "c"]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T5")
def test_a_steer_joins_at_the_next_model_call_as_the_persons_own_words(schedules: int) -> None:
    async def story() -> None:
        asked: list[tuple[Message, ...]] = []

        async def engine(run: Run) -> None:
            for _ in range(3):
                asked.append(await run.steering())
                await asyncio.sleep(1)  # a model call
            asked.append(await run.steering())

        async with runtime(engine, on_message="steer") as r:
            session = r.session("s")
            first = await session.send("go")
            await first.started()
            await asyncio.sleep(0.5)
            steer = await session.send("gently", by="ann")
            consumed_by = await steer.started()

            assert consumed_by == first.run
            assert steer.run == first.run
            assert await steer.outcome() == await first.outcome() == Outcome.COMPLETED
            assert [(m.text, m.by) for taken in asked for m in taken] == [("gently", "ann")]
            shown = await session.history()
            assert [i.text for i in shown if i.role == "user"] == ["go", "gently"]
            assert not [i for i in shown if i.role == "result" and "gently" in i.text]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T6")
def test_a_steer_accepted_in_the_last_moment_is_answered_in_this_or_the_next_turn(
    schedules: int,
) -> None:
    async def story() -> None:
        answered: list[str] = []

        async def engine(run: Run) -> None:
            answered.extend(message.text for message in run.messages)
            await asyncio.sleep(0)
            answered.extend(message.text for message in await run.steering())

        async with runtime(OneAtATime(engine), on_message="steer") as r:
            session = r.session("s")
            first = await session.send("go")
            sending = [asyncio.create_task(session.send(text)) for text in "xy"]
            steers = [await one for one in sending]
            ended = [await ticket.outcome() for ticket in (first, *steers)]

            assert ended == [Outcome.COMPLETED] * 3
            assert answered[0] == "go"
            assert sorted(answered) == ["go", "x", "y"]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T7")
def test_a_steer_that_a_stop_overtook_is_in_the_receipt_and_nowhere_later(schedules: int) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            await (talk(run) if run.message.text == "go" else answer(run))

        engine = OneAtATime(work)
        async with runtime(engine, on_message="steer", queue_on_stop="keep") as r:
            session = r.session("s")
            await (await session.send("go")).started()
            steer = await session.send("gently")
            receipt = await asyncio.create_task(stop(session))
            await a_while()

            assert [(m.message.text, m.fate) for m in receipt.messages] == [("gently", "dropped")]
            assert await steer.outcome() == Outcome.STOPPED
            assert await steer.started() is None
            assert session.queue == ()
            await (await session.send("now")).outcome()
            assert "gently" not in "".join(engine.order)
            assert "gently" not in [item.text for item in await session.history()]
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T14")
def test_a_rolled_back_turn_is_absent_from_what_the_model_sees_and_present_in_the_log(
    schedules: int,
) -> None:
    async def story() -> None:
        histories: dict[str, Sequence[Shown]] = {}
        called = asyncio.Event()

        async def book() -> str:
            called.set()
            return "booked"

        async def engine(run: Run) -> None:
            histories[run.message.text] = run.history
            if run.message.text == "wrong":
                await run.emit("I will book it. ")
                await run.call(book)
                await talk(run)

        async with runtime(engine) as r:
            session = r.session("s")
            await session.send("wrong")
            await called.wait()
            ticket = await session.send("right", on_message="rollback")

            assert await ticket.outcome() == Outcome.COMPLETED
            shown = [(item.role, item.text) for item in histories["right"]]
            note = "An answer was taken back, but it had called: book"
            assert [role for role, _ in shown] == ["note", "user"]
            assert shown[0][1].startswith(note)
            assert shown[1] == ("user", "right")
            text = "".join(e.text for e in await session.log() if isinstance(e, Text))
            assert text.startswith("I will book it.")
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("T15")
def test_a_person_without_the_right_to_stop_has_no_effect_and_is_told(schedules: int) -> None:
    async def story() -> None:
        engine = OneAtATime(talk)
        async with runtime(engine, stoppers={"ann"}) as r:
            session = r.session("s")
            ticket = await session.send("go", by="cai")
            await ticket.started()
            generation = session.generation
            with pytest.raises(NotAllowed, match="'bob' has no right to stop s#1"):
                await session.stop(by="bob")
            with pytest.raises(NotAllowed, match="'bob' has no right"):
                await session.stop(run=ticket.run, by="bob")
            late = await session.send("mine first", by="bob")  # a takeover would be a stop

            assert session.generation == generation
            assert session.active == ticket.run
            assert late.placed == "queued"
            with pytest.raises(NotAllowed, match="'cai' has no right"):
                await session.remove(late.message.id, by="cai")
            receipt = await session.stop(by="ann")
            assert receipt.runs == (ticket.run,)

    explore(story, schedules)


@pytest.mark.scenario("T15")
async def test_whoever_asked_for_a_run_may_stop_it() -> None:
    async with Runtime(talk, stoppers=()) as r:
        session = r.session("s")
        ticket = await session.send("go", by="cai")
        receipt = await session.stop(run=ticket.run, by="cai")

        assert receipt
        assert await ticket.outcome() == Outcome.STOPPED


@pytest.mark.scenario("T15")
def test_nobody_can_take_from_a_person_the_stop_of_their_own_run(schedules: int) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            if run.message.by == "cai":
                await talk(run)

        async with runtime(OneAtATime(work), stoppers=()) as r:
            session = r.session("s")
            mine = await session.send("go", by="cai")
            await mine.started()
            theirs = await session.send("me too", by="bob", on_message="queue")
            steer = await session.send("faster", by="bob", on_message="steer")
            receipt = await asyncio.create_task(stop(session, by="cai"))

            assert receipt.runs == (mine.run,)
            assert receipt.messages == ()
            assert await mine.outcome() == Outcome.STOPPED
            assert await theirs.outcome() == await steer.outcome() == Outcome.COMPLETED
            await check_log(session)

    explore(story, schedules)
