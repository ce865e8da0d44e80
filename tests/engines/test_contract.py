"""The contract of engines: the same stories, whatever answers.

A plain function, a generator, and each engine in each format of the wire are told what to do by the
same script (`subjects.py`). What a person sees of them, and what is written down, is the same.
"""

import pytest

from lastword import FeedEvent, Outcome, Runtime, Status
from lastword.core.entries import Called, Result, Text
from lastword.testing.provider import Call
from tests.engines.subjects import SUBJECTS, subject
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.parametrize("kind", SUBJECTS)


def said(heard: list[FeedEvent]) -> str:
    return "".join(event.text for event in heard if event.kind == "text")


async def test_what_it_says_is_heard_as_it_comes_and_is_in_the_log(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with subject(kind) as one, Runtime(one.engine, sink=heard.append) as r:
        answer = one.answer("Hello ", "world", paced=True)
        session = r.session("s")
        ticket = await session.send("hello")
        await answer.release()
        await until(lambda: said(heard) == "Hello ")
        answer.free()
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()
        await check_log(session)
    assert said(heard) == "Hello world"
    assert "".join(entry.text for entry in log if isinstance(entry, Text)) == "Hello world"


async def test_a_stop_in_the_middle_of_a_text_is_the_last_that_is_heard_of_it(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with subject(kind) as one, Runtime(one.engine, sink=heard.append) as r:
        answer = one.answer("a", "b", "c", paced=True)
        session = r.session("s")
        ticket = await session.send("talk")
        await answer.release()
        await until(lambda: said(heard) == "a")
        receipt = await session.stop()
        answer.free()
        assert receipt.quiet
        assert await ticket.outcome() == Outcome.STOPPED
        one.answer("new")
        assert await (await session.send("again")).outcome() == Outcome.COMPLETED
        await check_log(session)
    assert said(heard) == "anew"


async def test_a_new_message_takes_over(kind: str) -> None:
    heard: list[FeedEvent] = []
    async with subject(kind) as one, Runtime(one.engine, sink=heard.append) as r:
        old = one.answer("old ", "words", paced=True)
        one.answer("new words")
        session = r.session("s")
        first = await session.send("one thing")
        await old.release()
        await until(lambda: said(heard) == "old ")
        second = await session.send("another")
        assert await second.outcome() == Outcome.COMPLETED, second.error
        old.free()
        assert await first.outcome() == Outcome.SUPERSEDED
        await check_log(session)
    assert said(heard) == "old new words"


async def test_a_call_is_in_the_ledger_with_its_result(kind: str) -> None:
    async def look() -> str:
        return "a cat"

    async with subject(kind) as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(Call("look", {}))
        one.answer("I saw a cat.")
        session = r.session("s")
        ticket = await session.send("look")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()
        [called] = [entry for entry in log if isinstance(entry, Called)]
        [result] = [entry for entry in log if isinstance(entry, Result)]
        await check_log(session)
    assert called.name == "look"
    assert (result.call, result.status, result.content) == (
        called.call,
        Status.COMPLETED,
        "a cat",
    )


async def test_a_call_that_was_stopped_may_have_executed(kind: str) -> None:
    latch = Latch()

    async def look() -> str:
        await latch.wait()
        return "too late"

    async with subject(kind) as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(Call("look", {}))
        session = r.session("s")
        ticket = await session.send("look")
        await latch.came.wait()
        receipt = await session.stop()
        latch.open.set()
        assert receipt.quiet
        assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
        assert await ticket.outcome() == Outcome.STOPPED
        one.answer("fine")
        assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        assert "too late" not in str(await session.history())
        await check_log(session)


async def test_what_goes_wrong_is_said_in_a_line_and_the_session_goes_on(kind: str) -> None:
    async with subject(kind) as one, Runtime(one.engine) as r:
        one.fail()
        session = r.session("s")
        ticket = await session.send("hello")
        assert await ticket.outcome() == Outcome.FAILED
        assert "scripted to fail" in ticket.error
        assert "\n" not in ticket.error
        one.answer("Hello.")
        again = await session.send("hello?")
        assert await again.outcome() == Outcome.COMPLETED, again.error
        await check_log(session)


async def test_what_steers_it_is_delivered_before_it_goes_on(kind: str) -> None:
    latch = Latch()

    async def look() -> str:
        await latch.wait()
        return "seen"

    async with subject(kind) as one, Runtime(one.engine) as r:
        one.tool(look)
        one.answer(Call("look", {}))
        one.answer("Left, then.")
        session = r.session("s")
        ticket = await session.send("go")
        await latch.came.wait()
        steering = await session.send("to the left", on_message="steer")
        latch.open.set()
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert await steering.outcome() == Outcome.COMPLETED
        assert steering.run == ticket.run
        assert one.steered == ["to the left"]
        await check_log(session)
