"""E10, E13. What ran is never told as not started, whoever says afterwards that it is to wait."""

import asyncio
import threading
from typing import Any

import pytest
from pydantic_ai import Agent, ApprovalRequired, CallDeferred, RunContext
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolDefinition
from pydantic_ai.toolsets import ExternalToolset, WrapperToolset

from lastword import Outcome, Run, Runtime, Status
from lastword.core.entries import Result
from lastword.engines.pydantic_ai import PydanticAI
from lastword.runtime.call import Call
from tests.engines.places import tools, with_act
from tests.engines.scripted import calls_once
from tests.engines.test_innermost import comes
from tests.promise.stories import Latch
from tests.promise.workshop import until

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


class AroundIt(AbstractCapability[Any]):
    async def wrap_tool_execute(self, ctx: RunContext[Any], **given: Any) -> Any:
        result = await given["handler"](given["args"])
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return result


class AfterIt(AbstractCapability[Any]):
    async def after_tool_execute(self, ctx: RunContext[Any], **given: Any) -> Any:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return given["result"]


class InAToolset(WrapperToolset[Any]):
    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        result = await super().call_tool(name, tool_args, ctx, tool)
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return result


def late_reviewers(acted: list[str]) -> list[Agent[Any, Any]]:
    model = calls_once("act")
    hooked = [Agent(model, capabilities=[one()]) for one in (AroundIt, AfterIt)]
    wrapped = Agent(model, toolsets=[InAToolset(tools(acted))])
    return [*(with_act(agent, acted) for agent in hooked), wrapped]


@pytest.mark.scenario("E10", part="agent")
@pytest.mark.parametrize("who", range(3), ids=["around it", "after it", "in a toolset"])
async def test_a_tool_that_ran_and_is_then_to_be_approved_may_have_executed(who: int) -> None:
    latch, acted = Latch(), list[str]()

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        await latch.wait()
        return True

    async with Runtime(PydanticAI(late_reviewers(acted)[who], approve=approve)) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        receipt = await session.stop()

    assert acted == ["acted"]
    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]


@pytest.mark.scenario("E10", part="agent")
@pytest.mark.parametrize("who", range(3), ids=["around it", "after it", "in a toolset"])
@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "denied"])
async def test_a_tool_that_ran_and_was_then_judged_is_completed(who: int, allowed: bool) -> None:
    acted: list[str] = []

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        return allowed

    [result] = await results(PydanticAI(late_reviewers(acted)[who], approve=approve))

    assert result.status == Status.COMPLETED
    assert result.error is not allowed
    assert ("did not allow it" in result.content) is not allowed
    assert acted == ["acted"] * (2 if allowed else 1)


@pytest.mark.scenario("E10", part="agent")
async def test_a_tool_that_says_itself_that_it_has_done_nothing_is_not_started() -> None:
    latch = Latch()
    agent: Agent[Any, Any] = Agent(calls_once("act"))

    async def late() -> str:
        raise ApprovalRequired

    @agent.tool_plain
    def act() -> Any:
        return late()  # as a decorator does that is not async

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        await latch.wait()
        return True

    async with Runtime(PydanticAI(agent, approve=approve)) as r:
        session = r.session("s")
        await comes(latch, await session.send("go"))
        receipt = await session.stop()

    assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]


class Handler:
    """Carries out what is asked of it, once it is let."""

    def __init__(self) -> None:
        self.latch = Latch()
        self.carried: list[str] = []
        self.answer: Any = "sent"

    async def __call__(
        self, ctx: RunContext[Any], requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        self.carried += [call.tool_name for call in requests.calls]
        await self.latch.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            return None
        return DeferredToolResults(
            calls={call.tool_call_id: self.answer for call in requests.calls}
        )


def external(handler: Handler) -> Agent[Any, Any]:
    elsewhere: ExternalToolset[Any] = ExternalToolset(
        [ToolDefinition(name="act", parameters_json_schema=NOTHING)]
    )
    handling = HandleDeferredToolCalls(handler=handler)
    return Agent(calls_once("act"), toolsets=[elsewhere], capabilities=[handling])


def deferred(handler: Handler) -> Agent[Any, Any]:
    handling = HandleDeferredToolCalls(handler=handler)
    agent: Agent[Any, Any] = Agent(calls_once("act"), capabilities=[handling])

    @agent.tool_plain
    async def act() -> str:
        raise CallDeferred

    return agent


BOTH = pytest.mark.parametrize("made", [external, deferred], ids=["external", "deferred"])


@pytest.mark.scenario("E13", part="agent")
@BOTH
async def test_a_stop_finds_what_a_handler_carries_out_as_one_that_may_have_executed(
    made: Any,
) -> None:
    handler = Handler()
    async with Runtime(PydanticAI(made(handler))) as r:
        session = r.session("s")
        await comes(handler.latch, await session.send("go"))
        receipt = await session.stop()

    assert handler.carried == ["act"]
    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]


@pytest.mark.scenario("E13", part="agent")
@BOTH
async def test_what_a_handler_answers_is_the_call_s_result(made: Any) -> None:
    handler = Handler()
    handler.latch.open.set()
    [result] = await results(PydanticAI(made(handler)))
    assert (result.status, result.content, result.error) == (Status.COMPLETED, "sent", False)


@pytest.mark.scenario("E13", part="agent")
@BOTH
async def test_what_a_handler_does_not_take_is_not_started(made: Any) -> None:
    handler = Handler()
    handler.answer = None
    handler.latch.open.set()
    [result] = await results(PydanticAI(made(handler)))
    assert result.status == Status.NOT_STARTED
    assert "carried out elsewhere" in result.content


@pytest.mark.scenario("E13", part="agent")
@BOTH
async def test_a_handler_that_raises_has_completed_with_an_error(made: Any) -> None:
    handler = Handler()
    handler.answer = RuntimeError("the line is dead")
    handler.latch.open.set()
    [result] = await results(PydanticAI(made(handler)), Outcome.FAILED)
    assert (result.status, result.error) == (Status.COMPLETED, True)
    assert "the line is dead" in result.content


@pytest.mark.scenario("E13", part="agent")
async def test_a_handler_is_not_handed_what_was_not_allowed() -> None:
    handler = Handler()
    handler.latch.open.set()

    def refuse(call: Call[Any]) -> None:
        raise PermissionError("not today")

    async with Runtime(PydanticAI(external(handler)), before_tool=refuse) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [result] = [one for one in await session.log() if isinstance(one, Result)]

    assert handler.carried == []
    assert result.status == Status.NOT_STARTED
    assert "not today" in result.content


@pytest.mark.scenario("E13", part="agent")
async def test_the_next_handler_is_not_asked_after_the_stop() -> None:
    first, second = Handler(), Handler()
    second.latch.open.set()

    class Stubborn(AbstractCapability[Any]):
        async def handle_deferred_tool_calls(self, ctx: Any, **given: Any) -> None:
            await first.latch.wait_stubbornly()

    elsewhere: ExternalToolset[Any] = ExternalToolset(
        [ToolDefinition(name="act", parameters_json_schema=NOTHING)]
    )
    agent: Agent[Any, Any] = Agent(
        calls_once("act"),
        toolsets=[elsewhere],
        capabilities=[Stubborn(), HandleDeferredToolCalls(handler=second)],
    )
    async with Runtime(PydanticAI(agent), grace=0.1, deadline=0.2) as r:
        session = r.session("s")
        await comes(first.latch, await session.send("go"))
        receipt = await session.stop()
        first.latch.open.set()
        await receipt.settled()

    assert second.carried == []


@pytest.mark.scenario("E13", part="agent")
async def test_a_handler_of_an_agent_in_a_thread_is_not_asked_after_the_stop() -> None:
    came, free, ended = threading.Event(), threading.Event(), threading.Event()
    handler = Handler()
    handler.latch.open.set()

    async def model(*_: object) -> ModelResponse:
        came.set()
        while not free.is_set():
            await asyncio.sleep(0.001)
        return ModelResponse([ToolCallPart("act", {})])

    inner = external(handler)
    outer: Agent[Any, Any] = Agent(calls_once("delegate"))

    @outer.tool_plain
    def delegate() -> str:
        try:
            return asyncio.run(inner.run("act", model=FunctionModel(model))).output
        finally:
            ended.set()

    async with Runtime(PydanticAI(outer)) as r:
        session = r.session("s")
        await session.send("go")
        await until(came.is_set)
        receipt = await session.stop()
        free.set()
        await until(ended.is_set)
        assert (await receipt.settled()).quiet

    assert handler.carried == []


async def results(engine: PydanticAI, outcome: Outcome = Outcome.COMPLETED) -> list[Result]:
    async with Runtime(engine) as r:
        session = r.session("s")
        ticket = await session.send("go")
        assert await ticket.outcome() == outcome, ticket.error
        return [one for one in await session.log() if isinstance(one, Result)]
