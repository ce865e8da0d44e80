"""A pydantic-ai agent, unchanged, under the promise: over real HTTP, through the real clients."""

import asyncio
import threading

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.models import Model

from lastword import FeedEvent, Outcome, Run, Runtime, Session, Status
from lastword.core.entries import Called, Result, Summary, Used
from lastword.engines.pydantic_ai import Compaction, Fenced, PydanticAI
from lastword.errors import Superseded
from lastword.testing.provider import Answer, Call, Provider, Request, Say, Think
from tests.engines.wire import FORMATS, model
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = pytest.mark.parametrize("format", FORMATS)


def said(heard: list[FeedEvent], kind: str = "text") -> str:
    return "".join(event.text for event in heard if event.kind == kind)


async def shown(session: Session) -> list[tuple[str, str]]:
    return [(item.role, item.text) for item in await session.history()]


async def test_what_the_model_streams_is_said_as_it_comes(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        answer = provider.answer(Think("hm"), Say("Hello ", "world"), paced=True)
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("hello")
            await answer.release(2)
            await until(lambda: said(heard) == "Hello ")
            answer.free()
            assert await ticket.outcome() == Outcome.COMPLETED
            assert said(heard) == "Hello world"
            assert said(heard, "thinking") == "hm"
            [used] = [entry for entry in await session.log() if isinstance(entry, Used)]
            assert used.output_tokens > 0


async def test_a_stop_closes_the_provider_s_connection(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        answer = provider.say("a", "b", "c", paced=True)
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            await session.send("talk")
            request = await provider.asked()
            await answer.release()
            await until(lambda: said(heard) == "a")
            receipt = await session.stop()
            await request.closed.wait()
            assert receipt.quiet
            provider.say("new")
            assert await (await session.send("again")).outcome() == Outcome.COMPLETED
    assert said(heard) == "anew"
    assert request.sent == 1


async def test_a_new_message_takes_over_and_the_model_is_told_why(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        first = provider.say("I was ", "going to", paced=True)
        provider.say("As you like.")
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            await session.send("one thing")
            await provider.asked()
            await first.release()
            await until(lambda: said(heard) == "I was ")
            assert await (await session.send("another")).outcome() == Outcome.COMPLETED
    assert said(heard) == "I was As you like."
    told = str((await provider.asked(2)).messages)
    assert "I was " in told
    assert "going to" not in told
    assert "took over here" in told


async def test_a_tool_s_thread_that_will_not_end_is_named_and_its_result_is_nobody_s(
    format: str,
) -> None:
    began, end = threading.Event(), threading.Event()
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        def stubborn() -> str:
            began.set()
            end.wait(20)
            return "late"

        provider.answer(Call("stubborn", {}))
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            await session.send("go")
            await until(began.is_set)
            receipt = await session.stop()
            assert [str(one) for one in receipt.unconfirmed] == ["tool stubborn"]
            assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
            end.set()
            assert (await receipt.settled()).quiet
            provider.say("fine")
            assert await (await session.send("and?")).outcome() == Outcome.COMPLETED
            assert "late" not in str(await shown(session))
            assert "may have executed" in str((await provider.asked(2)).body)


async def test_a_batch_stops_where_it_was(format: str) -> None:
    latch, called = Latch(), list[str]()
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain(sequential=True)
        async def step(name: str) -> str:
            called.append(name)
            if name == "b":
                await latch.wait()
            return f"did {name}"

        provider.answer(*(Call("step", {"name": name}) for name in "abc"))
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()
            statuses = [call.status for call in receipt.calls]
            assert statuses == [Status.COMPLETED, Status.MAY_HAVE_EXECUTED, Status.NOT_STARTED]
            provider.say("fine")
            await (await session.send("and?")).outcome()
            await check_log(session)
        assert called == ["a", "b"]
        assert provider.refused == []


@pytest.mark.scenario("X6", part="agent")
async def test_malformed_arguments_are_an_error_for_the_model_and_brick_nothing(
    format: str,
) -> None:
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def look(path: str) -> str:
            return path

        provider.answer(Call("look", raw='{"path'), Call("nowhere", {"x": 1}))
        provider.say("Sorry.")
        provider.say("Bye.")
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            first = await session.send("go")
            assert await first.outcome() == Outcome.COMPLETED, first.error
            second = await session.send("bye")
            assert await second.outcome() == Outcome.COMPLETED, second.error
            results = [entry for entry in await session.log() if isinstance(entry, Result)]
            assert [result.status for result in results] == [Status.NOT_STARTED] * 2
        assert provider.refused == []


@pytest.mark.scenario("T5")
async def test_what_steers_a_run_reaches_its_next_request(format: str) -> None:
    latch = Latch()
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def look() -> str:
            await latch.wait()
            return "seen"

        provider.answer(Call("look", {}))
        provider.say("Left, then.")
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            first = await session.send("go")
            await latch.came.wait()
            steering = await session.send("to the left", on_message="steer")
            latch.open.set()
            assert await steering.started() == first.run
            assert await first.outcome() == Outcome.COMPLETED
            assert await steering.outcome() == Outcome.COMPLETED
            asked = await provider.asked(2)
            assert (asked.prompt, asked.results) == ("to the left", ["seen"])
            provider.say("Bye.")
            await (await session.send("bye")).outcome()
        assert provider.refused == []


async def test_thinking_is_given_back_to_the_provider_whose_it_is(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def look() -> str:
            return "seen"

        provider.answer(Think("a secret"), Call("look", {}))
        provider.answer(Think("ah"), Say("Done."))
        provider.say("Bye.")
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            await (await session.send("go")).outcome()
            await (await session.send("bye")).outcome()
            kinds = [role for role, _ in await shown(session)]
        assert provider.refused == []
        if format != "chat":  # which has no such thing to give back
            assert kinds.count("thinking") == 2


async def test_a_nested_agent_is_fenced_with_the_one_that_runs_it(format: str) -> None:
    latch, done, left = Latch(), list[str](), list[asyncio.Task[None]]()
    async with Provider() as provider, model(provider, format) as own:
        inner = Agent(own, capabilities=[Fenced()])
        outer = Agent(own)

        @inner.tool_plain
        async def write() -> str:
            done.append("written")
            return "written"

        @outer.tool_plain
        async def delegate() -> str:
            async def go_on() -> None:
                await latch.wait()
                await inner.run("write")

            left.append(asyncio.create_task(go_on()))  # nobody's: the stop does not cancel it
            await asyncio.Event().wait()
            return "never"

        def answer(request: Request) -> Answer:
            tools = str(request.body.get("tools"))
            return Answer(Call("write" if "write" in tools else "delegate", {}))

        provider.always(answer)
        async with Runtime(PydanticAI(outer)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            assert (await session.stop()).quiet
            latch.open.set()
            await asyncio.wait(left)
        assert isinstance(left[0].exception(), Superseded)
        assert len(provider.requests) == 1
        assert not done


async def test_a_tool_that_wants_approval_is_asked_for_and_a_stop_withdraws_it(format: str) -> None:
    asked, latch, done = list[str](), Latch(), list[str]()

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        asked.append(f"{tool} {arguments}")
        if len(asked) == 2:
            await latch.wait()
        return True

    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain(requires_approval=True)
        async def wipe(name: str) -> str:
            done.append(name)
            return "wiped"

        provider.answer(Call("wipe", {"name": "a"}))
        provider.say("Done.")
        provider.answer(Call("wipe", {"name": "b"}))
        async with Runtime(PydanticAI(agent, approve=approve)) as r:
            session = r.session("s")
            first = await session.send("go")
            assert await first.outcome() == Outcome.COMPLETED, first.error
            await session.send("again")
            await latch.came.wait()
            receipt = await session.stop()
            latch.open.set()
            assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]
            await check_log(session)
        assert done == ["a"]


async def test_what_is_wrong_with_the_provider_is_said_in_a_line_and_the_session_goes_on(
    format: str,
) -> None:
    async with Provider() as provider, model(provider, format) as own:
        async with Runtime(PydanticAI(Agent(own))) as r:
            session = r.session("s")
            for status, why in ((401, "refused the key"), (404, "does not know this model")):
                provider.fail(status, "so it is")
                ticket = await session.send("hello")
                assert await ticket.outcome() == Outcome.FAILED
                assert why in ticket.error
                assert "\n" not in ticket.error
            provider.cut("Hel")
            assert await (await session.send("hello")).outcome() == Outcome.FAILED
            provider.say("Hello.")
            assert await (await session.send("hello?")).outcome() == Outcome.COMPLETED
        assert provider.refused == []


async def test_an_answer_that_is_not_text_is_said_as_json(format: str) -> None:
    class Point(BaseModel):
        x: int
        y: int

    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        provider.answer(Call("final_result", {"x": 1, "y": 2}))
        async with Runtime(PydanticAI(Agent(own, output_type=Point)), sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("where?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert not [entry for entry in await session.log() if isinstance(entry, Called)]
    assert said(heard) == '{"x":1,"y":2}'


def compacting(own: Model) -> PydanticAI:
    return PydanticAI(Agent(own), compaction=Compaction(window=200, words=20))


async def test_a_long_history_is_summarised_before_the_window_is_full(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        async with Runtime(compacting(own)) as r:
            session = r.session("s")
            for number in range(4):
                provider.always(
                    lambda request: "In short." if "Summarise" in request.prompt else "so"
                )
                assert await (await session.send(f"{number} " + "x" * 250)).outcome() == "completed"
            log = await session.log()
            roles = [role for role, _ in await shown(session)]
        assert [entry.text for entry in log if isinstance(entry, Summary)]
        assert roles[0] == "summary"
        assert provider.refused == []


@pytest.mark.scenario("S17", part="agent")
async def test_a_summary_that_was_stopped_is_not_kept(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:  # noqa: SIM117 - in order
        async with Runtime(compacting(own)) as r:
            session = r.session("s")
            for text in ("a" * 350, "b" * 200):
                provider.say("so")
                await (await session.send(text)).outcome()
            provider.hang()
            await session.send("c" * 100)
            assert "Summarise" in (await provider.asked(3)).prompt
            assert await session.stop()
            assert not [entry for entry in await session.log() if isinstance(entry, Summary)]


async def test_tools_are_given_what_the_program_made_for_the_run(format: str) -> None:
    given: list[str] = []
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own, deps_type=Run)

        @agent.tool
        async def look(ctx: RunContext[Run]) -> str:
            given.append(ctx.deps.id)
            return "seen"

        provider.answer(Call("look", {}))
        provider.say("Done.")
        async with Runtime(PydanticAI(agent, deps=lambda run: run)) as r:
            await (await r.session("s").send("go")).outcome()
    assert given == ["s#1"]
