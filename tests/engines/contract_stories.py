"""What every engine does, told once: whatever answers, here or in a process of its own.

What a person sees of it, and what is written down, is the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count

from lastword import FeedEvent, Outcome, Runtime, Session, Status
from lastword.core.entries import Called, Result, Text
from lastword.testing.provider import Call
from tests.engines.told import Subject
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until


class Talk:
    """A subject, the runtime that it answers in, and what was heard in the newest session."""

    def __init__(
        self, one: Subject, runtime: Runtime, heard: list[FeedEvent], name: str = "s"
    ) -> None:
        self.one = one
        self._runtime = runtime
        self._heard = heard
        self._name = name
        self._numbers = count(1)
        self._newest = ""

    def session(self) -> Session:
        """Another one."""
        session = self._runtime.session(f"{self._name}:{next(self._numbers)}")
        self._newest = session.id
        return session

    @property
    def said(self) -> str:
        mine = [event for event in self._heard if event.session == self._newest]
        return "".join(event.text for event in mine if event.kind == "text")


async def what_it_says_is_heard_as_it_comes_and_is_in_the_log(talk: Talk) -> None:
    answer = talk.one.answer("Hello ", "world", paced=True)
    session = talk.session()
    ticket = await session.send("hello")
    await answer.release()
    await until(lambda: talk.said == "Hello ")
    answer.free()
    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    log = await session.log()
    await check_log(session)
    assert talk.said == "Hello world"
    assert "".join(entry.text for entry in log if isinstance(entry, Text)) == "Hello world"


async def a_stop_in_the_middle_of_a_text_is_the_last_that_is_heard_of_it(talk: Talk) -> None:
    answer = talk.one.answer("a", "b", "c", paced=True)
    session = talk.session()
    ticket = await session.send("talk")
    await answer.release()
    await until(lambda: talk.said == "a")
    receipt = await session.stop()
    answer.free()
    assert receipt.quiet
    assert await ticket.outcome() == Outcome.STOPPED
    talk.one.answer("new")
    assert await (await session.send("again")).outcome() == Outcome.COMPLETED
    await check_log(session)
    assert talk.said == "anew"


async def a_new_message_takes_over(talk: Talk) -> None:
    old = talk.one.answer("old ", "words", paced=True)
    talk.one.answer("new words")
    session = talk.session()
    first = await session.send("one thing")
    await old.release()
    await until(lambda: talk.said == "old ")
    second = await session.send("another")
    assert await second.outcome() == Outcome.COMPLETED, second.error
    old.free()
    assert await first.outcome() == Outcome.SUPERSEDED
    await check_log(session)
    assert talk.said == "old new words"


async def a_call_is_in_the_ledger_with_its_result(talk: Talk) -> None:
    async def look() -> str:
        return "a cat"

    talk.one.tool(look)
    talk.one.answer(Call("look", {}))
    talk.one.answer("I saw a cat.")
    session = talk.session()
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


async def a_call_that_was_stopped_may_have_executed(talk: Talk) -> None:
    latch = Latch()

    async def look() -> str:
        await latch.wait()
        return "too late"

    talk.one.tool(look)
    talk.one.answer(Call("look", {}))
    session = talk.session()
    ticket = await session.send("look")
    await latch.came.wait()
    receipt = await session.stop()
    latch.open.set()
    assert receipt.quiet
    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
    assert await ticket.outcome() == Outcome.STOPPED
    talk.one.answer("fine")
    assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
    assert "too late" not in str(await session.history())
    await check_log(session)


async def what_goes_wrong_is_said_in_a_line_and_the_session_goes_on(talk: Talk) -> None:
    talk.one.fail()
    session = talk.session()
    ticket = await session.send("hello")
    assert await ticket.outcome() == Outcome.FAILED
    assert "scripted to fail" in ticket.error
    assert "\n" not in ticket.error
    talk.one.answer("Hello.")
    again = await session.send("hello?")
    assert await again.outcome() == Outcome.COMPLETED, again.error
    await check_log(session)


async def what_steers_it_is_delivered_before_it_goes_on(talk: Talk) -> None:
    latch = Latch()

    async def look() -> str:
        await latch.wait()
        return "seen"

    talk.one.tool(look)
    talk.one.answer(Call("look", {}))
    talk.one.answer("Left, then.")
    session = talk.session()
    ticket = await session.send("go")
    await latch.came.wait()
    steering = await session.send("to the left", on_message="steer")
    latch.open.set()
    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert await steering.outcome() == Outcome.COMPLETED
    assert steering.run == ticket.run
    assert talk.one.steered == ["to the left"]
    await check_log(session)


STORIES: dict[str, Callable[[Talk], Awaitable[None]]] = {
    story.__name__: story
    for story in (
        what_it_says_is_heard_as_it_comes_and_is_in_the_log,
        a_stop_in_the_middle_of_a_text_is_the_last_that_is_heard_of_it,
        a_new_message_takes_over,
        a_call_is_in_the_ledger_with_its_result,
        a_call_that_was_stopped_may_have_executed,
        what_goes_wrong_is_said_in_a_line_and_the_session_goes_on,
        what_steers_it_is_delivered_before_it_goes_on,
    )
}
