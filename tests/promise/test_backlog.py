"""R24. A backlog is sent as one: one turn, and no storm of takeovers."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest

from lastword import Busy, Message, NotAllowed, Outcome, QueueFull, Run
from lastword.core.entries import Began, Finished, Said
from lastword.core.model import MessageId, Policy
from lastword.testing.seeded import explore
from tests.promise.stories import a_while, check_log, runtime

pytestmark = pytest.mark.scenario("R24")


def said(*texts: str, by: str = "") -> list[Message]:
    return [Message(MessageId(f"id {text}"), text, by) for text in texts]


def test_a_backlog_is_one_turn_and_takes_over_once(schedules: int) -> None:
    async def story() -> None:
        heard: list[tuple[str, ...]] = []

        async def engine(run: Run) -> None:
            heard.append(tuple(message.text for message in run.messages))
            if len(heard) == 1:
                await asyncio.Event().wait()

        async with runtime(engine) as r:
            session = r.session("s")
            first = await session.send("begin")
            await first.started()
            tickets = await session.send(said(*map(str, range(39))))
            outcomes = [await ticket.outcome() for ticket in tickets]
            assert await first.outcome() is Outcome.SUPERSEDED
            receipt = await tickets[0].receipt()
            log = await session.log()
            await check_log(session)

        assert outcomes == [Outcome.COMPLETED] * 39
        assert heard == [("begin",), tuple(map(str, range(39)))]
        assert {ticket.run for ticket in tickets} == {tickets[0].run}
        assert receipt is not None
        assert len(receipt.runs) == 1
        assert len([entry for entry in log if isinstance(entry, Began)]) == 2
        [end] = [e for e in log if isinstance(e, Finished) and e.run == tickets[0].run]
        assert len(end.messages) == 39

    explore(story, schedules)


def test_a_stop_right_after_a_backlog_finds_all_of_it(schedules: int) -> None:
    async def story() -> None:
        heard: list[str] = []

        async def engine(run: Run) -> None:
            await asyncio.sleep(1)
            heard.append(run.message.text)

        async with runtime(engine) as r:
            session = r.session("s")
            sending = asyncio.create_task(session.send(said("a", "b", "c")))
            while not session.busy:
                await asyncio.sleep(0)
            await session.stop()
            tickets = await sending
            outcomes = {await ticket.outcome() for ticket in tickets}
            await a_while()
            await check_log(session)

        assert outcomes == {Outcome.STOPPED}
        assert heard == []

    explore(story, schedules)


def test_what_was_sent_before_is_the_same_message_and_the_rest_is_one_turn(schedules: int) -> None:
    async def story() -> None:
        heard: list[str] = []

        async def engine(run: Run) -> None:
            heard.append(run.message.text)

        async with runtime(engine) as r:
            session = r.session("s")
            [old] = await session.send(said("a"))
            await old.outcome()
            again, b, c = await session.send(said("a", "b", "c"))
            for ticket in (again, b, c):
                assert await ticket.outcome() is Outcome.COMPLETED
            log = await session.log()

        assert heard == ["a", "b\n\nc"]
        assert len([entry for entry in log if isinstance(entry, Said)]) == 3

    explore(story, schedules)


async def test_all_of_a_backlog_is_accepted_or_none() -> None:
    async def engine(run: Run) -> None:
        await asyncio.Event().wait()

    async with runtime(engine, on_message="queue", queue_limit=2) as r:
        session = r.session("s")
        await session.send("begin")
        with pytest.raises(QueueFull):
            await session.send(said("a", "b", "c"))
        assert session.queue == ()
        await session.send(said("a", "b"))
        assert [message.text for message in session.queue] == ["a", "b"]
        await session.stop()


@pytest.mark.parametrize("policy", get_args(Policy))
async def test_a_backlog_is_placed_as_one_message_would_be(policy: Policy) -> None:
    going = asyncio.Event()
    heard: list[str] = []

    async def engine(run: Run) -> None:
        if run.message.text == "begin":
            await going.wait()
            heard.extend(message.text for message in await run.steering())
            return
        heard.extend(message.text for message in run.messages)

    async with runtime(engine) as r:
        session = r.session("s")
        first = await session.send("begin")
        await first.started()
        if policy == "refuse":
            with pytest.raises(Busy):
                await session.send(said("a", "b"), on_message=policy)
            assert session.queue == ()
            return
        tickets = await session.send(said("a", "b"), on_message=policy)
        assert len({ticket.placed for ticket in tickets}) == 1
        going.set()
        for ticket in tickets:
            assert await ticket.outcome() is Outcome.COMPLETED

    assert heard == ["a", "b"]


async def test_who_may_not_stop_takes_over_with_nobody_s_backlog() -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "begin":
            await asyncio.Event().wait()

    async with runtime(engine, stoppers={"boss"}) as r:
        session = r.session("s")
        first = await session.send("begin", by="ann")
        await first.started()
        bobs = await session.send(said("a", "b", by="bob"))
        assert {ticket.placed for ticket in bobs} == {"queued"}
        mixed = [*said("c", by="boss"), *said("d", by="bob")]
        await session.send(mixed)
        assert await first.outcome() is Outcome.SUPERSEDED


@pytest.mark.scenario("W64")
@pytest.mark.parametrize("order", [("ann", "bob"), ("bob", "ann")])
async def test_a_backlog_takes_over_if_one_of_its_people_may_in_whatever_order(
    order: tuple[str, str],
) -> None:
    async def engine(run: Run) -> None:
        if run.message.text == "begin":
            await asyncio.Event().wait()

    async with runtime(engine, stoppers={"ann"}) as r:
        session = r.session("s")
        first = await session.send("begin", by="cai")
        await first.started()

        tickets = await session.send([one for by in order for one in said(f"from {by}", by=by)])

        assert {ticket.placed for ticket in tickets} == {"starting"}
        assert await first.outcome() is Outcome.SUPERSEDED


@pytest.mark.scenario("W64")
async def test_a_backlog_that_a_timer_leads_is_the_first_person_s() -> None:
    whose: list[tuple[str, str]] = []

    async def engine(run: Run) -> None:
        whose.append((run.by, run.message.by))
        await asyncio.Event().wait()

    async with runtime(engine, stoppers=()) as r:
        session = r.session("s")
        tick = Message(MessageId("tick"), "tick", origin="timer")
        tickets = await session.send([tick, *said("a", by="bob"), *said("b", by="cai")])
        await tickets[0].started()

        for stranger in ("cai", ""):
            with pytest.raises(NotAllowed):
                session.stop(by=stranger)
        receipt = await session.stop(by="bob")

        assert receipt.runs == (tickets[0].run,)
        assert whose == [("bob", "bob")]


@pytest.mark.scenario("W64")
async def test_who_steers_a_timer_s_run_does_not_make_it_theirs() -> None:
    taken = asyncio.Event()

    async def engine(run: Run) -> None:
        while not await run.steering():
            await asyncio.sleep(0)
        taken.set()
        await asyncio.Event().wait()

    async with runtime(engine, stoppers=()) as r:
        session = r.session("s")
        timer = await session.send("tick", origin="timer")
        await timer.started()
        await session.send("faster", by="bob", on_message="steer")
        await taken.wait()

        with pytest.raises(NotAllowed):
            session.stop(by="bob")

        assert session.active == timer.run


async def test_a_backlog_that_is_none_is_refused_by_name() -> None:
    async def engine(run: Run) -> None: ...

    async with runtime(engine) as r:
        session = r.session("s")
        with pytest.raises(ValueError, match="there is no message to send"):
            await session.send([])
        with pytest.raises(ValueError, match="two of these messages have the id id a"):
            await session.send(said("a", "a"))
        with pytest.raises(TypeError, match="has to be Messages, not a str"):
            await session.send(["a"])  # pyright: ignore[reportArgumentType, reportCallIssue] - so it is
        for text in (b"a", bytearray(b"a")):
            with pytest.raises(TypeError, match="a message's text must be a str, not a byte"):
                await session.send(text)  # pyright: ignore[reportArgumentType, reportCallIssue] - so it is
        with pytest.raises(TypeError, match="each of several messages has its own"):
            await session.send(said("a"), by="ann")  # pyright: ignore[reportArgumentType] - so it is
        assert not session.busy
