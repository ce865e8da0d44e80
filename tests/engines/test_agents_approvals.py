"""E34. The framework's own approvals and guardrails: asked once, and the log has what was told."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    ToolGuardrailFunctionOutput,
    function_tool,
    input_guardrail,
    output_guardrail,
    tool_input_guardrail,
    tool_output_guardrail,
)

from lastword import FeedEvent, Outcome, Run, Runtime, Status
from lastword.core.entries import Result
from lastword.engines.openai_agents import Approve, OpenAIAgents
from lastword.testing.provider import Call as Asks
from lastword.testing.provider import Provider, Say
from tests.engines.subject_agents import agents_model
from tests.engines.subjects import AGENTS_FORMATS
from tests.promise.stories import Latch, check_log
from tests.promise.workshop import until

pytestmark = [
    pytest.mark.scenario("E34"),
    pytest.mark.parametrize("format", AGENTS_FORMATS),
]


def paying(paid: list[int]) -> Any:
    @function_tool(needs_approval=True)
    async def pay(n: int) -> str:
        paid.append(n)
        return f"paid {n}"

    return pay


async def only_one(run: Run, tool: str, arguments: str) -> bool:
    assert tool == "pay"
    return json.loads(arguments)["n"] == 1


async def nobody(run: Run, tool: str, arguments: str) -> bool:
    raise PermissionError("there is nobody to ask")


def directly(pay: Any, model: Any) -> Agent[Any]:
    return Agent("payer", model=model, tools=[pay])


@pytest.mark.parametrize(
    ("approve", "paid", "told"),
    [
        (only_one, [1], "the person did not allow it"),
        (nobody, [], "there is nobody to ask"),
        (None, [], "nobody can be asked here"),
    ],
    ids=["asked", "unheard", "nobody"],
)
async def test_what_is_allowed_is_made_once_and_what_is_not_is_not_started(
    format: str, approve: Approve | None, paid: list[int], told: str
) -> None:
    made: list[int] = []
    async with Provider() as provider, agents_model(provider, format) as model:
        provider.answer(Say("I pay. "), Asks("pay", {"n": 1}), Asks("pay", {"n": 2}))
        provider.say("Done.")
        engine = OpenAIAgents(directly(paying(made), model), approve=approve)
        async with Runtime(engine) as r:
            session = r.session("s")
            ticket = await session.send("pay")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            results = [one for one in await session.log() if isinstance(one, Result)]
            await check_log(session)
        assert provider.refused == []

    assert made == paid
    done = [one for one in results if one.status is Status.COMPLETED]
    left = [one for one in results if one.status is Status.NOT_STARTED]
    assert [one.content for one in done] == [f"paid {n}" for n in paid]
    assert all(told in one.content for one in left)
    assert len(left) == 2 - len(paid)


async def test_one_inside_of_an_agent_as_a_tool_is_asked_for_too(format: str) -> None:
    made: list[int] = []
    async with Provider() as provider, agents_model(provider, format) as model:
        provider.answer(Asks("delegate", {"input": "pay"}))
        provider.answer(Asks("pay", {"n": 1}))
        provider.say("It is paid.")
        provider.say("Done.")
        inner = directly(paying(made), model)
        outer = Agent("outer", model=model, tools=[inner.as_tool("delegate", "delegates")])
        async with Runtime(OpenAIAgents(outer, approve=only_one)) as r:
            session = r.session("s")
            ticket = await session.send("pay")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            results = [one for one in await session.log() if isinstance(one, Result)]
            await check_log(session)
        assert provider.refused == []

    assert made == [1]
    assert [one.content for one in results] == ["paid 1", "It is paid."]


async def test_a_stop_while_the_person_is_asked_leaves_it_not_started(format: str) -> None:
    made, latch = list[int](), Latch()

    async def asked(run: Run, tool: str, arguments: str) -> bool:
        await latch.wait()
        return True

    async with Provider() as provider, agents_model(provider, format) as model:
        provider.answer(Asks("pay", {"n": 1}))
        provider.say("I did not pay.")
        async with Runtime(OpenAIAgents(directly(paying(made), model), approve=asked)) as r:
            session = r.session("s")
            await session.send("pay")
            await latch.came.wait()
            receipt = await session.stop()
            latch.open.set()
            assert receipt.quiet
            assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]
            ticket = await session.send("did you?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            await check_log(session)
        assert (made, provider.refused) == ([], [])


async def test_what_a_guardrail_puts_in_a_tool_s_place_is_what_the_log_has(format: str) -> None:
    @tool_output_guardrail
    def discreet(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("[withheld]")

    @tool_input_guardrail
    def careful(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("[too dangerous]")

    made: list[str] = []

    @function_tool(tool_output_guardrails=[discreet])
    async def secret() -> str:
        made.append("secret")
        return "1234"

    @function_tool(tool_input_guardrails=[careful])
    async def danger() -> str:
        made.append("danger")
        return "boom"

    async with Provider() as provider, agents_model(provider, format) as model:
        provider.answer(Asks("secret", {}), Asks("danger", {}))
        provider.say("Done.")
        provider.say("I do not know.")
        agent = Agent("tester", model=model, tools=[secret, danger])
        async with Runtime(OpenAIAgents(agent)) as r:
            session = r.session("s")
            for text in ("go", "what is it?"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            results = [one for one in await session.log() if isinstance(one, Result)]
        assert "1234" not in json.dumps(provider.requests[-1].messages)

    assert made == ["secret"]
    assert {(one.status, one.content) for one in results} == {
        (Status.COMPLETED, "[withheld]"),
        (Status.NOT_STARTED, "[too dangerous]"),
    }


Guards = Callable[[asyncio.Event], dict[str, Any]]


def beside(go: asyncio.Event) -> dict[str, Any]:
    @input_guardrail
    async def polite(ctx: Any, agent: Any, input: Any) -> GuardrailFunctionOutput:
        await go.wait()
        return GuardrailFunctionOutput(None, tripwire_triggered=True)

    return {"input_guardrails": [polite]}


def behind(go: asyncio.Event) -> dict[str, Any]:
    @output_guardrail
    async def polite(ctx: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(None, tripwire_triggered=True)

    return {"output_guardrails": [polite]}


@pytest.mark.parametrize("guards", [beside, behind])
async def test_a_tripwire_is_said_in_a_line_and_what_was_said_is_kept(
    format: str, guards: Guards
) -> None:
    go, heard = asyncio.Event(), list[FeedEvent]()
    async with Provider() as provider, agents_model(provider, format) as model:
        first = provider.answer(Say("well, ", "well"), paced=True)
        provider.say("Sorry.")
        agent = Agent("tester", model=model, **guards(go))
        async with Runtime(OpenAIAgents(agent), sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("you there")
            await first.release()
            await until(lambda: any(event.kind == "text" for event in heard))
            go.set()
            first.free()
            assert await ticket.outcome() == Outcome.FAILED
            assert ticket.error == "the guardrail polite stopped the answer"
            await check_log(session)
            history = str(await session.history())
        assert "well" in history


async def test_a_tool_that_runs_at_a_tripwire_is_told_as_it_is_and_is_the_last(format: str) -> None:
    go, latch = asyncio.Event(), Latch()

    @function_tool
    async def look() -> str:
        await latch.wait()
        return "a cat"

    async with Provider() as provider, agents_model(provider, format) as model:
        provider.answer(Asks("look", {}))
        agent = Agent("tester", model=model, tools=[look], **beside(go))
        async with Runtime(OpenAIAgents(agent)) as r:
            session = r.session("s")
            ticket = await session.send("look")
            await latch.came.wait()
            go.set()
            latch.open.set()
            assert await ticket.outcome() == Outcome.FAILED
            [result] = [one for one in await session.log() if isinstance(one, Result)]
            assert (result.status, result.content) == (Status.COMPLETED, "a cat")
            assert len(provider.requests) == 1
            await check_log(session)
