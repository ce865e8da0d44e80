"""A. From the instant it is acknowledged, a message can be stopped, and has one outcome."""

import asyncio
import gc
import weakref

import pytest

from lastword import Outcome, Policy, Receipt, Run, Runtime, Session, Ticket
from lastword.core.entries import Entry, Finished
from lastword.core.model import SessionId
from lastword.errors import StoreError, TicketClosed
from lastword.stores.memory import MemoryStore
from lastword.testing.seeded import Trap, explore, sweep
from tests.promise.stories import (
    Latch,
    OneAtATime,
    a_while,
    answer,
    check_log,
    heard_by,
    runtime,
    stop,
    talk,
)


@pytest.mark.scenario("A1")
def test_a_message_stopped_while_it_is_prepared_never_reaches_the_model(schedules: int) -> None:
    async def story() -> None:
        asked: list[str] = []

        async def engine(run: Run) -> None:
            asked.append(run.message.text)

        async with runtime(engine) as r:
            session = r.session("s")
            events = heard_by(session)
            ticket = await session.send("go")
            stopping = session.stop()
            asked_before = list(asked)
            receipt = await stopping
            await a_while()

            assert asked == asked_before
            ended = await ticket.outcome()
            assert ended == (Outcome.STOPPED if receipt else Outcome.COMPLETED)
            assert receipt or asked_before
            assert [e.kind for e in events].count("finished") == 1
            [finished] = [e for e in await session.log() if isinstance(e, Finished)]
            assert finished.outcome == ended
            await check_log(session)

    explore(story, schedules)


@pytest.mark.scenario("A1")
async def test_a_stop_right_after_the_acknowledgement_is_not_lost() -> None:
    async def engine(run: Run) -> None:
        raise AssertionError("the model was called")

    async with Runtime(engine) as r:
        ticket = await r.session("s").send("go")
        receipt = await r.session("s").stop()

        assert receipt
        assert await ticket.outcome() == Outcome.STOPPED


@pytest.mark.scenario("A1")
def test_a_stop_that_the_loop_has_not_heard_of_yet_keeps_the_model_from_being_called(
    schedules: int,
) -> None:
    async def story() -> None:
        asked: list[bool] = []

        async def engine(run: Run) -> None:
            asked.append(run.current)

        async with runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("go")
            before = list(asked)
            session.stop_soon()  # as from another thread: the loop does the rest later
            await a_while()

            assert asked == before
            assert await ticket.outcome() == Outcome.STOPPED or before

    explore(story, schedules)


@pytest.mark.scenario("R8")
@pytest.mark.parametrize("steps", range(8))
async def test_what_held_the_session_when_it_was_stopped_is_part_of_the_history(steps: int) -> None:
    async with Runtime(answer) as r:
        session = r.session("s")
        sending = asyncio.create_task(session.send("go"))
        for _ in range(steps):
            await asyncio.sleep(0)
        receipt = await session.stop()
        ticket = await sending

        if not receipt:  # it came before the message
            await ticket.outcome()
        shown = [(item.role, item.text) for item in await session.history()]
        assert shown[0] == ("user", "go")
        assert not receipt or ("The person stopped this answer here" in shown[-1][1])


@pytest.mark.scenario("R8")
async def test_what_only_waited_when_it_was_stopped_is_not_shown() -> None:
    latch = Latch()
    async with Runtime(lambda _: latch.wait(), on_message="queue") as r:
        session = r.session("s")
        await session.send("first")
        await session.send("second")
        await session.stop()

        assert [item.text for item in await session.history() if item.role == "user"] == ["first"]


@pytest.mark.scenario("A3")
def test_a_stop_on_an_idle_session_says_so_and_touches_nothing_that_comes(schedules: int) -> None:
    async def story() -> None:
        async with runtime(answer) as r:
            session = r.session("s")
            receipt = await session.stop()
            generation = session.generation
            ticket = await session.send("go")

            assert not receipt
            assert str(receipt) == "Nothing was running in s."
            assert generation == 0
            assert await ticket.outcome() == Outcome.COMPLETED

    explore(story, schedules)


@pytest.mark.scenario("A4")
def test_a_stop_covers_what_was_accepted_before_it_and_nothing_after(schedules: int) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            await (answer(run) if run.message.text == "c" else talk(run))

        engine = OneAtATime(work)
        async with runtime(engine, on_message="queue") as r:
            session = r.session("s")
            a, b = await session.send("a"), await session.send("b")
            c = await asyncio.create_task(_stop_then_send(session, "c"))

            assert await c.outcome() == Outcome.COMPLETED
            assert await a.outcome() == await b.outcome() == Outcome.STOPPED
            assert engine.order in (["c"], ["a", "c"])
            await check_log(session)

    explore(story, schedules)


async def _stop_then_send(session: Session, text: str) -> Ticket:
    session.stop()
    return await session.send(text)


@pytest.mark.scenario("A5")
def test_three_stops_at_once_have_one_effect_and_three_true_answers(schedules: int) -> None:
    async def story() -> None:
        async with runtime(talk) as r:
            session = r.session("s")
            events = heard_by(session)
            ticket = await session.send("go")
            await ticket.started()
            before = session.generation

            async def stop() -> tuple[bool, Receipt]:
                """The receipt, and whether another stop had been answered before this was made."""
                answered = any(e.kind == "receipt" for e in session.feed.since(0))
                return answered, await session.stop()

            answers = [asyncio.create_task(stop()) for _ in range(3)]
            receipts = [await one for one in answers]
            await a_while()

            assert session.generation == before + 1
            assert [e.kind for e in events].count("finished") == 1
            for answered, receipt in receipts:  # who comes after that is told that all is idle
                assert receipt.runs == (ticket.run,) or (answered and not receipt)
            assert all(receipt.quiet for _, receipt in receipts)

    explore(story, schedules)


@pytest.mark.scenario("A6")
@pytest.mark.parametrize("policy", ["takeover", "queue", "collect", "steer", "rollback"])
@pytest.mark.parametrize(("messages", "share"), [(50, 25), (6, 1)])  # many, or many schedules
def test_messages_at_once_never_run_together_and_all_end(
    policy: Policy, messages: int, share: int, schedules: int
) -> None:
    async def story() -> None:
        async def work(run: Run) -> None:
            await run.steering()
            await run.emit("hm")
            await asyncio.sleep(0.1)
            await run.steering()

        async with runtime(OneAtATime(work), on_message=policy) as r:
            session = r.session("s")
            sent = [asyncio.create_task(session.send(f"{n}")) for n in range(messages)]
            tickets = [await one for one in sent]
            ended = [await ticket.outcome() for ticket in tickets]
            await a_while()

            assert len(ended) == messages
            assert set(ended) <= {Outcome.COMPLETED, Outcome.SUPERSEDED}
            assert Outcome.COMPLETED in ended
            await check_log(session)

    explore(story, max(schedules // share, 20))


@pytest.mark.scenario("A7")
@pytest.mark.parametrize("policy", ["takeover", "queue", "collect", "steer", "rollback"])
def test_a_message_that_arrives_as_the_run_ends_is_answered_next(
    policy: Policy, schedules: int
) -> None:
    met: set[bool] = set()

    async def story() -> None:
        leaving = asyncio.Event()

        async def work(run: Run) -> None:
            await answer(run)
            leaving.set()

        engine = OneAtATime(work)
        async with runtime(engine, on_message=policy) as r:
            session = r.session("s")
            a = await session.send("a")
            await leaving.wait()  # from here on it is ending
            for _ in range(3):  # about half of those that this takes
                await asyncio.sleep(0)
            met.add(session.busy)
            b = await session.send("b")
            a_ended, b_ended = await a.outcome(), await b.outcome()

            assert b_ended == Outcome.COMPLETED
            assert a_ended in {Outcome.COMPLETED, Outcome.SUPERSEDED}
            assert engine.order == ["a", "b"]
            await check_log(session)

    explore(story, schedules)
    assert met == {True, False}, "it was to arrive on both sides of the end"


@pytest.mark.scenario("A7")
def test_a_stop_that_comes_as_the_run_ends_reaches_whatever_is_active(schedules: int) -> None:
    async def story() -> None:
        runs: list[Run] = []

        async def engine(run: Run) -> None:
            runs.append(run)
            if run.message.text == "b":
                await talk(run)

        async with runtime(engine, on_message="queue") as r:
            session = r.session("s")
            a = await session.send("a")
            b = await session.send("b")
            stopping = asyncio.create_task(stop(session))
            receipt = await stopping

            assert not session.busy
            assert not any(run.current for run in runs)
            assert await b.outcome() == Outcome.STOPPED
            assert (await a.outcome() == Outcome.STOPPED) == (a.run in _ended_by(receipt))
            await check_log(session)

    explore(story, schedules)


def _ended_by(receipt: Receipt) -> set[str]:
    messages = {report.message.text for report in receipt.messages}
    return set(receipt.runs) | {f"s#{1 + 'ab'.index(text)}" for text in messages}


@pytest.mark.scenario("A8")
def test_a_message_whose_setting_up_fails_has_one_failed_outcome(schedules: int) -> None:
    class Broken(MemoryStore):
        async def entries(self, session: SessionId, after: int = 0) -> tuple[Entry, ...]:
            raise StoreError(f"the log of {session} cannot be read")

    async def story() -> None:
        async with runtime(answer, store=Broken()) as r:
            session = r.session("s")
            events = heard_by(session)
            ticket = await session.send("go")

            assert await ticket.outcome() == Outcome.FAILED
            assert ticket.error == "StoreError: the log of s cannot be read"
            await a_while()
            assert [(e.run, e.text) for e in events if e.kind == "finished"] == [("s#1", "failed")]

    explore(story, schedules)


@pytest.mark.scenario("A10")
def test_a_ticket_may_be_closed_twice_or_never(schedules: int) -> None:
    async def story() -> None:
        async with runtime(answer, on_message="queue") as r:
            session = r.session("s")
            await session.send("a")  # never closed, never asked
            closed = await session.send("b")
            known = closed.done
            closed.close()
            closed.close()
            kept = await session.send("c")

            assert await kept.outcome() == Outcome.COMPLETED
            kept.close()
            assert await kept.outcome() == Outcome.COMPLETED
            if not known:
                with pytest.raises(TicketClosed, match="message m2"):
                    await closed.outcome()
            assert not session.busy
            await check_log(session)
            left = [weakref.ref(closed), weakref.ref(kept)]
            del closed, kept
            await a_while()
            gc.collect()
            assert [ref() for ref in left] == [None, None]

    gc.freeze()  # what other tests left need not be looked through each time
    try:
        explore(story, schedules)
    finally:
        gc.unfreeze()


def test_a_sender_who_gives_up_while_sending_loses_nothing_and_poisons_nothing() -> None:
    async def story(trap: Trap) -> None:
        engine = OneAtATime(answer)
        async with runtime(engine, on_message="queue") as r:
            session = r.session("s")
            trap.set("sender")
            sender = asyncio.create_task(session.send("a", id="a"), name="sender")
            await asyncio.wait([sender])
            again = await session.send("a", id="a")  # the same request is the same message

            assert await again.outcome() == Outcome.COMPLETED
            assert engine.order == ["a"]
            await check_log(session)

    assert sweep(story) > 2
