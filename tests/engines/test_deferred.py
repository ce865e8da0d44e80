"""E4, E5. Tools that want approval, and functions of outputs: one call, one result, said once."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    CallDeferred,
    DeferredToolRequests,
    ModelRetry,
    NativeOutput,
    PromptedOutput,
    RunContext,
    TextOutput,
    ToolOutput,
)
from pydantic_ai.toolsets import FunctionToolset

from lastword import FeedEvent, Outcome, Run, Runtime, Status
from lastword.core.entries import Called, Entry, Result
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Answer, Call, Request
from tests.engines.inside import strict
from tests.engines.wire import FORMATS
from tests.promise.stories import Latch

pytestmark = pytest.mark.parametrize("format", FORMATS)


def raises_it(acted: list[str]) -> dict[str, Any]:
    async def wipe(ctx: RunContext[Any]) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        acted.append("wiped")
        return "wiped"

    return {"tools": [wipe]}


def is_declared_so(acted: list[str]) -> dict[str, Any]:
    toolset: FunctionToolset[Any] = FunctionToolset()

    @toolset.tool_plain(requires_approval=True)
    def wipe() -> str:
        acted.append("wiped")
        return "wiped"

    return {"toolsets": [toolset]}


def is_in_such_a_toolset(acted: list[str]) -> dict[str, Any]:
    toolset: FunctionToolset[Any] = FunctionToolset()

    @toolset.tool_plain
    def wipe() -> str:
        acted.append("wiped")
        return "wiped"

    return {"toolsets": [toolset.approval_required()]}


WAYS = [raises_it, is_declared_so, is_in_such_a_toolset]
Way = Callable[[list[str]], dict[str, Any]]


def script(request: Request) -> Answer | str:
    return "done" if request.number else Answer(Call("wipe", {}))


@pytest.mark.scenario("E4", part="agent")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "denied"])
async def test_a_tool_that_wants_approval_is_one_call_with_one_result(
    format: str, way: Way, allowed: bool
) -> None:
    acted: list[str] = []

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        return allowed

    async with strict(format, script) as (model, provider):
        agent = Agent(model, **way(acted))
        log, heard = await told(PydanticAI(agent, approve=approve))

    assert provider.refused == []
    assert acted == (["wiped"] if allowed else [])
    [called, result] = log
    assert isinstance(called, Called)
    assert isinstance(result, Result)
    if allowed:
        assert (result.status, result.content) == (Status.COMPLETED, "wiped")
    else:
        assert result.status == Status.NOT_STARTED
        assert "the person did not allow it" in result.content
        assert "the person did not allow it" in str(provider.requests[1].messages)
    assert heard == ["done", "done"]


@pytest.mark.scenario("E4", part="agent")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("deferring", [False, True], ids=["", "with deferred output"])
async def test_where_nobody_can_be_asked_the_model_is_told_so_and_the_person_no_json(
    format: str, way: Way, deferring: bool
) -> None:
    acted: list[str] = []
    output: Any = [str, DeferredToolRequests] if deferring else str
    async with strict(format, script) as (model, provider):
        agent: Agent[Any, Any] = Agent(model, output_type=output, **way(acted))
        [_, result], heard = await told(PydanticAI(agent))

    assert provider.refused == []
    assert acted == []
    assert isinstance(result, Result)
    assert result.status == Status.NOT_STARTED
    assert "nobody can be asked here" in result.content
    assert heard == ["done", "done"]


@pytest.mark.scenario("E4", part="agent")
async def test_a_tool_that_is_carried_out_elsewhere_is_not_started_here(format: str) -> None:
    async def wipe() -> str:
        raise CallDeferred

    async with strict(format, script) as (model, provider):
        agent: Agent[Any, Any] = Agent(model, output_type=[str, DeferredToolRequests], tools=[wipe])
        [_, result], heard = await told(PydanticAI(agent))

    assert provider.refused == []
    assert isinstance(result, Result)
    assert result.status == Status.NOT_STARTED
    assert "carried out elsewhere" in result.content
    assert heard == ["done", "done"]


@pytest.mark.scenario("E4", part="agent")
async def test_a_stop_while_the_person_is_asked_finds_the_tool_not_started(format: str) -> None:
    latch, acted = Latch(), list[str]()

    async def approve(run: Run, tool: str, arguments: str) -> bool:
        await latch.wait()
        return True

    async with strict(format, script) as (model, provider):
        engine = PydanticAI(Agent(model, **raises_it(acted)), approve=approve)
        async with Runtime(engine) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()
            ticket = await session.send("and now?")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert [call.status for call in receipt.calls] == [Status.NOT_STARTED]
    assert acted == []
    assert provider.refused == []


class Mail(BaseModel):
    to: str


sent: list[str] = []


async def send(mail: Mail) -> str:
    sent.append(mail.to)
    return f"Sent to {mail.to}."


def shout(text: str) -> str:
    sent.append(text)
    return text.upper()


MAIL = '{"to": "ann"}'
OUTPUTS: dict[str, tuple[Any, Any, str, str]] = {
    "a function": (send, Call("final_result", {"to": "ann"}), "Sent to ann.", "ann"),
    "a tool": (ToolOutput(str), Call("final_result", {"response": "hi"}), "hi", ""),
    "a model": (Mail, Call("final_result", {"to": "ann"}), '{"to":"ann"}', ""),
    "native": (NativeOutput(Mail), MAIL, MAIL, ""),
    "prompted": (PromptedOutput(Mail), MAIL, MAIL, ""),
    "a prompted function": (PromptedOutput(send), MAIL, f"{MAIL}\n\nSent to ann.", "ann"),
    "a text's function": (TextOutput(shout), "hi", "hi\n\nHI", "hi"),
    "a text": (str, "hi", "hi", ""),
}


@pytest.mark.scenario("E5", part="agent")
@pytest.mark.parametrize("kind", OUTPUTS)
async def test_an_output_is_said_once_and_its_function_is_in_the_ledger(
    format: str, kind: str
) -> None:
    output, says, said, effect = OUTPUTS[kind]
    sent.clear()
    async with strict(format, lambda _: Answer(says)) as (model, provider):
        agent: Agent[Any, Any] = Agent(model, output_type=output)
        log, heard = await told(PydanticAI(agent))

    assert provider.refused == []
    assert heard == [said, said]
    assert sent == ([effect] * 2 if effect else [])
    results = [entry for entry in log if isinstance(entry, Result)]
    assert [one.status for one in results] == [Status.COMPLETED] * len(sent)


@pytest.mark.scenario("E5", part="agent")
async def test_a_stop_in_an_output_function_says_that_it_may_have_executed(format: str) -> None:
    latch = Latch()

    async def mail(to: str) -> str:
        await latch.wait()
        return to

    async with strict(format, lambda _: Answer(Call("final_result", {"to": "ann"}))) as (model, _):
        agent: Agent[Any, Any] = Agent(model, output_type=mail)
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            await session.send("go")
            await latch.came.wait()
            receipt = await session.stop()

    assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]


@pytest.mark.scenario("E5", part="agent")
async def test_a_function_of_an_output_that_wants_another_try_is_two_calls(format: str) -> None:
    tried: list[str] = []

    async def mail(to: str) -> str:
        tried.append(to)
        if len(tried) == 1:
            raise ModelRetry("to whom?")
        return "sent"

    async with strict(format, lambda _: Answer(Call("final_result", {"to": "ann"}))) as (
        model,
        provider,
    ):
        agent: Agent[Any, Any] = Agent(model, output_type=mail)
        log, heard = await told(PydanticAI(agent), "go")

    results = [entry for entry in log if isinstance(entry, Result)]
    assert [(one.content, one.error) for one in results] == [("to whom?", True), ("sent", False)]
    assert heard == ["sent"]
    assert provider.refused == []


async def told(engine: PydanticAI, *texts: str) -> tuple[list[Entry], list[str]]:
    """What the log has of the calls, and what the person heard, of two turns that are answered."""
    events: list[FeedEvent] = []
    async with Runtime(engine, sink=events.append) as r:
        session = r.session("s")
        for text in texts or ("go", "and now?"):
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()
    heard: dict[str, str] = {}
    for event in events:
        if event.kind == "text":
            heard[str(event.run)] = heard.get(str(event.run), "") + event.text
    calls: list[Entry] = [entry for entry in log if isinstance(entry, Called | Result)]
    return calls, [*heard.values()]
