"""The stories of the promise, end to end: a pydantic-ai agent, real clients, a scripted provider.

Those that are told here are told elsewhere without a provider. Here it is asked what the provider
was asked, and what became of what it went on to send.
"""

import asyncio
import threading

import pytest
from pydantic_ai import Agent, RunContext

from lastword import FeedEvent, Outcome, Run, Runtime, Status
from lastword.agent.permission import Questions, QuestionWithdrawn
from lastword.agent.rules import Rules
from lastword.core.entries import Finished, Result, Text, Used
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Call, Provider
from tests.engines.wire import FORMATS, model
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.parametrize("format", FORMATS)


def said(heard: list[FeedEvent]) -> str:
    return "".join(event.text for event in heard if event.kind == "text")


@pytest.mark.scenario("A1")
@pytest.mark.scenario("A2", part="library")
async def test_a_message_that_is_stopped_at_once_is_no_request(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("go")
            assert await session.stop()
            assert await ticket.outcome() == Outcome.STOPPED
            [finished] = [entry for entry in await session.log() if isinstance(entry, Finished)]
            assert finished.outcome == Outcome.STOPPED
        assert provider.requests == []
    assert said(heard) == ""


@pytest.mark.scenario("S2")
async def test_what_a_provider_sends_after_the_stop_is_nobody_s(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        answer = provider.say("one ", *["more "] * 500, paced=True)
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            await session.send("talk")
            await answer.release()
            await until(lambda: said(heard) == "one ")
            receipt = await session.stop()
            await answer.release(500)
            provider.say("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
            log = await session.log()
        assert receipt.quiet
        assert provider.requests[0].sent + provider.requests[0].sent_after_close == 501
    assert said(heard) == "one new"
    assert "".join(entry.text for entry in log if isinstance(entry, Text)) == "one new"
    assert len([entry for entry in log if isinstance(entry, Used)]) == 1


@pytest.mark.scenario("S5")
async def test_a_stop_while_a_client_waits_to_try_again_ends_the_trying(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format, retries=3) as own:
        provider.fail(429, "not so fast", retry_after=30)
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            await session.send("talk")
            await (await provider.asked()).finished.wait()
            receipt = await session.stop()
            assert receipt.quiet
            provider.say("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
        [_, request] = provider.requests
        assert request.prompt.endswith("again")
    assert said(heard) == "new"


@pytest.mark.scenario("S16")
async def test_a_helper_of_a_stopped_run_says_nothing_more(format: str) -> None:
    heard: list[FeedEvent] = []
    latch = Latch()
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own, deps_type=Run)

        async def name_it(run: Run) -> None:
            await latch.wait_stubbornly()
            await run.emit("A title")

        @agent.tool
        async def look(ctx: RunContext[Run]) -> str:
            await ctx.deps.task(name_it(ctx.deps))
            return "seen"

        provider.answer(Call("look", {}))
        async with Runtime(PydanticAI(agent, deps=lambda run: run), sink=heard.append) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            stopping = session.stop()
            latch.open.set()
            await (await stopping).settled()
            provider.say("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
    assert said(heard) == "new"


@pytest.mark.scenario("G2", part="thread")
@pytest.mark.scenario("X5")
async def test_of_four_calls_one_holds_its_thread_and_its_late_result_is_nobody_s(
    format: str,
) -> None:
    began, end = threading.Event(), threading.Event()
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        def wedge() -> str:
            began.set()
            end.wait(20)
            return "too late"

        @agent.tool_plain
        async def quick() -> str:
            return "done"

        provider.answer(Call("wedge", {}), *[Call("quick", {})] * 3)
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            await session.send("go")
            await until(began.is_set)
            receipt = await session.stop()
            assert receipt.calls[0].status == Status.MAY_HAVE_EXECUTED
            end.set()
            assert (await receipt.settled()).quiet
            provider.say("fine")
            assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
            results = [entry for entry in await session.log() if isinstance(entry, Result)]
            await check_log(session)
        assert len(results) == 4
        assert "too late" not in str(provider.requests[1].body)
        assert provider.refused == []


@pytest.mark.scenario("G5", part="library")
async def test_a_stop_withdraws_the_question_before_a_call(format: str) -> None:
    called: list[str] = []
    questions = Questions(Rules.parse(["ask wipe"]))
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def wipe(name: str) -> str:
            called.append(name)
            return "wiped"

        provider.answer(Call("wipe", {"name": "a"}), Call("wipe", {"name": "b"}))
        before = questions.as_before_tool()
        async with Runtime(PydanticAI(agent), before_tool=before) as r:
            session = r.session("s")
            await session.send("go")
            await until(questions.open)
            question = questions.open()[0]
            receipt = await session.stop()
            assert not questions.open()
            with pytest.raises(QuestionWithdrawn):
                questions.answer(question.id, True, question.generation)
            assert [call.status for call in receipt.calls] == [Status.NOT_STARTED] * 2
            provider.say("fine")
            assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
            await check_log(session)
        assert called == []
        assert provider.refused == []


@pytest.mark.scenario("T1")
@pytest.mark.scenario("T3")
async def test_the_last_of_three_messages_is_what_the_model_answers(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        first = provider.say("old ", "words", paced=True)
        second = provider.say("words", paced=True)
        provider.say("new words")
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            await session.send("a")
            await first.release()
            await until(lambda: said(heard) == "old ")
            b = await session.send("b")
            closed = provider.requests[0].closed
            await provider.asked(2)
            c = await session.send("c")
            assert await c.outcome() == Outcome.COMPLETED, c.error
            assert await b.outcome() == Outcome.SUPERSEDED
            await closed.wait()
            first.free()
            second.free()
        asked = await provider.asked(3)
        assert asked.prompt.endswith("c")
        told = str(asked.messages)
        assert told.index("'b'") < told.index("'c'")
        assert provider.refused == []
    assert said(heard) == "old new words"


@pytest.mark.scenario("T6")
async def test_what_steers_too_late_is_the_next_turn(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        answer = provider.say("All said.", paced=True)
        provider.say("Gently, then.")
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            first = await session.send("go")
            await answer.release()
            await until(lambda: said(heard) == "All said.")
            steer = await session.send("gently", on_message="steer")
            answer.free()
            assert await first.outcome() == Outcome.COMPLETED
            assert await steer.outcome() == Outcome.COMPLETED
        assert [request.prompt for request in provider.requests] == ["go", "gently"]


@pytest.mark.scenario("T7")
async def test_what_steers_and_is_stopped_is_in_the_receipt_and_never_asked(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        provider.hang()
        provider.say("fine")
        async with Runtime(PydanticAI(Agent(own))) as r:
            session = r.session("s")
            await session.send("go")
            await provider.asked()
            await session.send("gently", on_message="steer")
            receipt = await session.stop()
            assert [one.message.text for one in receipt.messages] == ["gently"]
            assert await (await session.send("now")).outcome() == Outcome.COMPLETED
        assert "gently" not in str(provider.requests[1].body)


@pytest.mark.scenario("T14")
async def test_a_turn_that_was_taken_back_is_in_the_log_and_not_in_the_request(
    format: str,
) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        old = provider.say("I was ", "wrong", paced=True)
        provider.say("right")
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            await session.send("the wrong thing")
            await old.release()
            await until(lambda: said(heard) == "I was ")
            ticket = await session.send("the right thing", on_message="rollback")
            assert await ticket.outcome() == Outcome.COMPLETED
            log = str(await session.log())
        told = str(provider.requests[1].messages)
        assert "the wrong thing" not in told
        assert "I was " not in told
        assert "the wrong thing" in log
        assert "I was " in log


@pytest.mark.scenario("X2")
@pytest.mark.scenario("X3")
async def test_the_model_is_shown_what_the_person_saw_and_that_they_stopped_it(
    format: str,
) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        answer = provider.say("one ", "two ", "three", paced=True)
        provider.say("fine")
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            await session.send("count")
            await answer.release(2)
            await until(lambda: said(heard) == "one two ")
            assert await session.stop()
            assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
        told = str(provider.requests[1].messages)
        assert told.count("one two ") == 1
        assert "three" not in told
        assert "The person stopped this answer here. Do not resume it unless they ask." in told
        assert provider.refused == []


@pytest.mark.scenario("X4")
async def test_a_message_that_never_had_its_turn_is_not_shown_to_the_model(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        provider.hang()
        provider.say("fine")
        async with Runtime(PydanticAI(Agent(own)), on_message="queue") as r:
            session = r.session("s")
            await session.send("first")
            await provider.asked()
            waits = await session.send("second")
            await asyncio.gather(session.stop(), waits.outcome())
            assert await (await session.send("third")).outcome() == Outcome.COMPLETED
        told = str(provider.requests[1].messages)
        assert "second" not in told or "withdrawn" in told
        assert provider.refused == []
