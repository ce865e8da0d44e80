"""E33. Agents that an agent runs, or a team's own code: held to the run, in receipts, not shown."""

import asyncio
import json
import threading
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    ModelSettings,
    Runner,
    function_tool,
    input_guardrail,
)

from lastword import Call, Outcome, Run, Runtime, Status
from lastword.core.entries import Called, Result, Used
from lastword.engines.openai_agents import OpenAIAgents, RunSession
from lastword.errors import Superseded
from lastword.testing.provider import Answer, Provider, Request, Say
from lastword.testing.provider import Call as Asks
from tests.engines.subject_agents import agents_model
from tests.engines.subjects import AGENTS_FORMATS
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = [
    pytest.mark.scenario("E33"),
    pytest.mark.parametrize("format", AGENTS_FORMATS),
]

COSTS = ModelSettings(include_usage=True)


def answer(request: Request) -> Answer:
    """The outer model delegates once, the inner one writes once."""
    inner = "'write'" in str(request.body.get("tools"))
    if request.results:
        return Answer("Written." if inner else "Done.")
    return Answer(Asks("write", {})) if inner else Answer(Asks("delegate", {"input": "write"}))


def as_a_tool(inner: Agent[Any]) -> Any:
    return inner.as_tool("delegate", "delegates")


def by_the_runner(inner: Agent[Any]) -> Any:
    @function_tool
    async def delegate(input: str) -> str:
        return str((await Runner.run(inner, input)).final_output)

    return delegate


def streamed(inner: Agent[Any]) -> Any:
    @function_tool
    async def delegate(input: str) -> str:
        result = Runner.run_streamed(inner, input)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    return delegate


EACH_WAY = pytest.mark.parametrize("way", [as_a_tool, by_the_runner, streamed])


@EACH_WAY
async def test_its_calls_are_in_the_log_and_not_in_what_the_session_s_model_is_shown(
    format: str, way: Any
) -> None:
    heard: list[str] = []
    async with Provider() as provider, agents_model(provider, format) as model:

        @function_tool
        async def write() -> str:
            return "ink"

        provider.always(answer)
        inner = Agent("inner", model=model, tools=[write], model_settings=COSTS)
        outer = Agent("outer", model=model, tools=[way(inner)], model_settings=COSTS)
        async with Runtime(OpenAIAgents(outer), sink=lambda e: heard.append(str(e))) as r:
            session = r.session("s")
            for text in ("go", "again"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = await session.log()
            await check_log(session)
        assert provider.refused == []

    calls = [entry for entry in log if isinstance(entry, Called)]
    assert [(one.name, one.nature) for one in calls[:2]] == [("delegate", ""), ("write", "inner")]
    assert [one.content for one in log if isinstance(one, Result)][:2] == ["ink", "Written."]
    assert len([one for one in log if isinstance(one, Used)]) == 8
    assert "ink" not in json.dumps(provider.requests[-1].messages)
    assert "Written." not in heard


@EACH_WAY
async def test_after_a_stop_it_asks_no_model_and_calls_no_tool(format: str, way: Any) -> None:
    latch, written = Latch(), list[str]()
    async with Provider() as provider, agents_model(provider, format) as model:

        @function_tool
        async def write() -> str:
            written.append("begun")
            await latch.wait_stubbornly()
            return "ink"

        provider.always(answer)
        outer = Agent("outer", model=model, tools=[way(Agent("inner", model=model, tools=[write]))])
        async with Runtime(OpenAIAgents(outer), deadline=2.2, grace=0.2) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            asked = len(provider.requests)
            receipt = await session.stop()
            assert {call.name: call.status for call in receipt.calls} == {
                "delegate": Status.MAY_HAVE_EXECUTED,
                "write": Status.MAY_HAVE_EXECUTED,
            }
            assert "write" in str(receipt.unconfirmed)  # it is deaf: named, as long as it goes on
            latch.open.set()
            assert (await receipt.settled()).quiet
            await check_log(session)
        assert (written, len(provider.requests)) == (["begun"], asked)


async def test_one_in_a_thread_of_a_tool_is_held_too(format: str) -> None:
    written, first, on, ended = list[str](), threading.Event(), threading.Event(), threading.Event()
    async with Provider() as provider, agents_model(provider, format) as model:

        async def work() -> str:
            async with agents_model(provider, format) as there:  # a client is of one event loop

                def write() -> str:
                    written.append("written")
                    first.set()
                    on.wait(20)
                    return "ink"

                inner = Agent("inner", model=there, tools=[function_tool(write)])
                return str((await Runner.run(inner, "write")).final_output)

        @function_tool
        def delegate(input: str) -> str:
            try:
                return asyncio.run(work())
            finally:
                ended.set()

        provider.always(answer)
        async with Runtime(OpenAIAgents(Agent("outer", model=model, tools=[delegate]))) as r:
            session = r.session("s")
            await session.send("go")
            await until(first.is_set)
            asked = len(provider.requests)
            receipt = await session.stop()
            on.set()
            await until(ended.is_set)
            assert (await receipt.settled()).quiet
            assert {call.name for call in receipt.calls} == {"delegate", "write"}
        assert (written, len(provider.requests)) == (["written"], asked)


async def test_a_call_inside_is_asked_for_like_any_other(format: str) -> None:
    def allow(call: Call[object]) -> None:
        if call.name == "write":
            raise PermissionError("no ink")

    async with Provider() as provider, agents_model(provider, format) as model:

        @function_tool
        async def write() -> str:
            return "ink"

        provider.always(answer)
        inner = Agent("inner", model=model, tools=[write])
        outer = Agent("outer", model=model, tools=[inner.as_tool("delegate", "delegates")])
        async with Runtime(OpenAIAgents(outer), before_tool=allow) as r:
            ticket = await r.session("s").send("go")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        told = [result for request in provider.requests for result in request.results]
        assert "not allowed, and not made: no ink" in told[0]


async def test_an_agent_in_a_guardrail_says_nothing_to_the_person_and_is_held(format: str) -> None:
    heard: list[str] = []
    async with Provider() as provider, agents_model(provider, format) as model:
        judge = Agent("judge", model=model, instructions="JUDGE")

        @input_guardrail
        async def polite(ctx: Any, agent: Any, input: Any) -> GuardrailFunctionOutput:
            said = await Runner.run(judge, "is it polite?")
            return GuardrailFunctionOutput(said.final_output, tripwire_triggered=False)

        def judged(request: Request) -> str:
            return "It is." if "JUDGE" in str(request.body) else "Hello."

        provider.always(judged)
        agent: Agent[Any] = Agent("polite", model=model, input_guardrails=[polite])
        async with Runtime(OpenAIAgents(agent), sink=lambda e: heard.append(str(e))) as r:
            ticket = await r.session("s").send("hello")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert len(provider.requests) == 2
        assert heard == ["Hello."]


async def test_a_team_s_own_runner_has_the_log_as_its_session(format: str) -> None:
    async with Provider() as provider, agents_model(provider, format) as model:

        @function_tool
        async def look(n: int) -> str:
            return f"cat {n}"

        agent = Agent("tester", model=model, tools=[look])

        async def engine(run: Run) -> None:
            result = await Runner.run(agent, run.message.text, session=RunSession(run))
            await run.emit(str(result.final_output))

        async with Runtime(engine) as r:
            provider.answer(Say("I look."), Asks("look", {"n": 1}), Asks("look", {"n": 2}))
            provider.say("Two cats.")
            provider.say("Yes.")
            session = r.session("s")
            for text in ("look", "sure?"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            calls = [one for one in await session.log() if isinstance(one, Called)]
            await check_log(session)
        shown = json.dumps(provider.requests[-1].messages)
        assert provider.refused == []

    assert [(one.name, one.nature) for one in calls] == [("look", ""), ("look", "")]
    assert all(text in shown for text in ("cat 1", "cat 2", "Two cats.", "sure?"))
    assert shown.count("sure?") == 1


async def test_a_team_s_own_runner_acts_no_more_after_a_stop(format: str) -> None:
    latch, refused = Latch(), list[str]()
    async with Provider() as provider, agents_model(provider, format) as model:

        @function_tool
        async def look() -> str:
            await latch.wait()
            return "a cat"

        agent = Agent("tester", model=model, tools=[look])

        async def engine(run: Run) -> None:
            memory = RunSession(run)
            try:
                await Runner.run(agent, run.message.text, session=memory)
            finally:
                try:
                    await memory.add_items([])
                except Superseded:
                    refused.append("memory")

        async with Runtime(engine) as r:
            provider.answer(Asks("look", {}), Asks("look", {}))
            session = r.session("s")
            await session.send("look")
            await latch.came.wait()
            receipt = await session.stop()
            assert receipt.quiet
            assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED] * 2
            await until(lambda: refused == ["memory"])
            assert len(provider.requests) == 1
