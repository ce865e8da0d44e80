"""The stories of messages, kept by every engine: what is asked when people change their mind.

Those that are told here are told elsewhere without a provider. Here it is asked what the provider
was asked.
"""

import asyncio

import pytest

from lastword import FeedEvent, Outcome, Runtime
from lastword.core.entries import Finished
from lastword.testing.provider import Call
from tests.engines.stories import STOPPED, run_here, said
from tests.engines.subjects import TALKING
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import DYING_LOUDLY, gone, is_up, until

pytestmark = pytest.mark.parametrize("kind", TALKING)


@pytest.mark.scenario("A1")
@pytest.mark.scenario("A2", part="library")
async def test_a_message_that_is_stopped_at_once_is_no_request(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind]() as one:
        async with Runtime(one.engine, sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await session.stop()
            assert await ticket.outcome() == Outcome.STOPPED
            [finished] = [entry for entry in await session.log() if isinstance(entry, Finished)]
            assert finished.outcome == Outcome.STOPPED
        assert one.provider.requests == []
    assert said(heard) == ""


@pytest.mark.scenario("A4")
async def test_what_was_accepted_before_a_stop_is_never_asked_and_what_comes_after_is(
    kind: str,
) -> None:
    async with TALKING[kind]() as one, Runtime(one.engine, on_message="queue") as r:
        one.provider.hang()
        session = r.session("s")
        before = [await session.send(text) for text in ("first", "second")]
        await one.provider.asked()
        stopping = session.stop()
        one.answer("fine")
        after = await session.send("third")
        await stopping
        assert await after.outcome() == Outcome.COMPLETED, after.error
        assert [await ticket.outcome() for ticket in before] == [Outcome.STOPPED] * 2
        [first, third] = one.provider.requests
        assert (first.prompt, third.prompt[-5:]) == ("first", "third")
        assert "second" not in str(third.messages)
        await check_log(session)


@pytest.mark.scenario("T1")
@pytest.mark.scenario("T3")
async def test_the_last_of_three_messages_is_what_the_model_answers(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind]() as one:
        first = one.answer("old ", "words", paced=True)
        second = one.answer("words", paced=True)
        one.answer("new words")
        async with Runtime(one.engine, sink=heard.append) as r:
            session = r.session("s")
            await session.send("to Rome")
            await first.release()
            await until(lambda: said(heard) == "old ")
            b = await session.send("to Oslo")
            closed = one.provider.requests[0].closed
            await one.provider.asked(2)
            c = await session.send("to Bonn")
            assert await c.outcome() == Outcome.COMPLETED, c.error
            assert await b.outcome() == Outcome.SUPERSEDED
            await closed.wait()
            first.free()
            second.free()
        asked = await one.provider.asked(3)
        assert asked.prompt.endswith("to Bonn")
        told = str(asked.messages)
        assert told.index("to Oslo") < told.index("to Bonn")
    assert said(heard) == "old new words"


@pytest.mark.scenario("T2", part="processes")
async def test_a_new_answer_begins_at_once_and_its_first_tool_waits_for_the_old_processes(
    kind: str,
) -> None:
    pids: list[int] = []
    found: list[bool] = []

    async def build() -> str:
        process = await run_here().spawn(shell=DYING_LOUDLY)
        await is_up(process)
        pids.append(process.pid)
        return (await process.communicate()).output

    async def look() -> str:
        found.append(gone(pids[0]))
        return "seen"

    async with TALKING[kind]() as one, Runtime(one.engine, grace=0.3) as r:
        one.tool(build)
        one.tool(look)
        one.answer(Call("build", {}))
        session = r.session("s")
        await session.send("build it")
        await until(lambda: pids)
        one.answer(Call("look", {}))
        one.answer("Seen.")
        second = await session.send("look at it")
        assert await second.outcome() == Outcome.COMPLETED, second.error
        receipt = await second.receipt()
        assert receipt
        assert "killed" in {process.fate for process in receipt.processes}
        assert "dying" not in str(one.provider.requests[-1].body)
        await check_log(session)
    assert found == [True]


@pytest.mark.scenario("T4")
@pytest.mark.scenario("T10")
@pytest.mark.parametrize("ends", ["stop", "takeover"])
async def test_what_waited_is_dropped_with_its_words_and_never_asked(kind: str, ends: str) -> None:
    async with TALKING[kind]() as one, Runtime(one.engine) as r:
        one.provider.hang()
        session = r.session("s")
        await session.send("go")
        waiting = [await session.send(text, on_message="queue") for text in ("b1", "b2")]
        await one.provider.asked()
        one.answer("fine")
        receipt = await session.stop() if ends == "stop" else None
        new = await session.send("now")
        assert await new.outcome() == Outcome.COMPLETED, new.error
        receipt = receipt or await new.receipt()
        assert receipt
        dropped = [one.message.text for one in receipt.messages if one.fate == "dropped"]
        assert dropped[-2:] == ["b1", "b2"]
        lost = Outcome.STOPPED if ends == "stop" else Outcome.SUPERSEDED
        assert [await ticket.outcome() for ticket in waiting] == [lost] * 2
        assert len(one.provider.requests) == 2
        await check_log(session)


@pytest.mark.scenario("T6")
async def test_what_steers_too_late_is_the_next_turn(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind]() as one:
        answer = one.answer("All said.", paced=True)
        one.answer("Gently, then.")
        async with Runtime(one.engine, sink=heard.append) as r:
            session = r.session("s")
            first = await session.send("go")
            await answer.release()
            await until(lambda: said(heard) == "All said.")
            steer = await session.send("gently", on_message="steer")
            answer.free()
            assert await first.outcome() == Outcome.COMPLETED
            assert await steer.outcome() == Outcome.COMPLETED
        assert [request.prompt for request in one.provider.requests] == ["go", "gently"]


@pytest.mark.scenario("T7")
async def test_what_steers_and_is_stopped_is_in_the_receipt_and_never_asked(kind: str) -> None:
    async with TALKING[kind]() as one:
        one.provider.hang()
        async with Runtime(one.engine) as r:
            session = r.session("s")
            await session.send("go")
            await one.provider.asked()
            await session.send("gently", on_message="steer")
            receipt = await session.stop()
            assert [one.message.text for one in receipt.messages] == ["gently"]
            one.answer("fine")
            assert await (await session.send("now")).outcome() == Outcome.COMPLETED
        assert "gently" not in str(one.provider.requests[1].body)


@pytest.mark.scenario("T8")
async def test_a_queue_is_asked_in_order_one_turn_each(kind: str) -> None:
    async with TALKING[kind]() as one, Runtime(one.engine, on_message="queue") as r:
        first = one.answer("0", paced=True)
        for number in range(1, 4):
            one.answer(f"{number}")
        session = r.session("s")
        tickets = [await session.send(f"say {number}") for number in range(4)]
        first.free()
        ended = [await ticket.outcome() for ticket in tickets]
        assert ended == [Outcome.COMPLETED] * 4
        assert [request.prompt for request in one.provider.requests] == [
            f"say {number}" for number in range(4)
        ]
        told = [item.text for item in await session.history() if item.role == "assistant"]
        assert told == ["0", "1", "2", "3"]
        await check_log(session)


@pytest.mark.scenario("T9")
async def test_what_was_sent_as_one_is_asked_as_one(kind: str) -> None:
    async with TALKING[kind]() as one, Runtime(one.engine, on_message="collect") as r:
        first = one.answer("one", paced=True)
        one.answer("two")
        session = r.session("s")
        await session.send("first")
        await one.provider.asked()
        tickets = [await session.send(text) for text in ("and this", "and that")]
        first.free()
        assert [await ticket.outcome() for ticket in tickets] == [Outcome.COMPLETED] * 2
        assert len(one.provider.requests) == 2
        asked = str(one.provider.requests[1].messages)
        assert asked.index("and this") < asked.index("and that")
        await check_log(session)


@pytest.mark.scenario("T11")
async def test_a_message_that_comes_while_a_stopped_tool_will_not_end_is_answered(
    kind: str,
) -> None:
    latch = Latch()

    async def wedge() -> str:
        await latch.wait_stubbornly()
        return "too late"

    async with TALKING[kind]() as one, Runtime(one.engine, deadline=1.0, grace=0.2) as r:
        one.tool(wedge)
        one.answer(Call("wedge", {}))
        session = r.session("s")
        await session.send("go")
        await latch.came.wait()
        stopping = session.stop()
        one.answer("next")
        ticket = await session.send("next", on_message="refuse")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        latch.open.set()
        await (await stopping).settled()
        assert "too late" not in str(await session.history())
        await check_log(session)


@pytest.mark.scenario("T14")
async def test_a_turn_that_was_taken_back_is_in_the_log_and_not_in_the_request(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind]() as one:
        old = one.answer("I was ", "wrong", paced=True)
        one.answer("right")
        async with Runtime(one.engine, sink=heard.append) as r:
            session = r.session("s")
            await session.send("the wrong thing")
            await old.release()
            await until(lambda: said(heard) == "I was ")
            ticket = await session.send("the right thing", on_message="rollback")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = str(await session.log())
        told = str(one.provider.requests[1].messages)
        assert "the wrong thing" not in told
        assert "I was " not in told
        assert "the wrong thing" in log
        assert "I was " in log


@pytest.mark.scenario("X2")
@pytest.mark.scenario("X3")
async def test_the_model_is_shown_what_the_person_saw_and_that_they_stopped_it(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with TALKING[kind]() as one:
        answer = one.answer("one ", "two ", "three", paced=True)
        one.answer("fine")
        async with Runtime(one.engine, sink=heard.append) as r:
            session = r.session("s")
            await session.send("count")
            await answer.release(2)
            await until(lambda: said(heard) == "one two ")
            assert await session.stop()
            assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        told = str(one.provider.requests[1].messages)
        assert told.count("one two ") == 1
        assert "three" not in told
        assert STOPPED in told


@pytest.mark.scenario("X4")
async def test_a_message_that_never_had_its_turn_is_not_shown_to_the_model(kind: str) -> None:
    async with TALKING[kind]() as one:
        one.provider.hang()
        async with Runtime(one.engine, on_message="queue") as r:
            session = r.session("s")
            await session.send("first")
            await one.provider.asked()
            waits = await session.send("second")
            await asyncio.gather(session.stop(), waits.outcome())
            one.answer("fine")
            assert await (await session.send("third")).outcome() == Outcome.COMPLETED
        told = str(one.provider.requests[1].messages)
        assert "second" not in told or "withdrawn" in told
