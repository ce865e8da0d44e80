"""E35. What is held of openai-agents: a framework that moved is an error, never an unheld tool.

And what one engine is given: nobody else's loop, run, session or trace.
"""

import asyncio
import json
import threading
from typing import Any

import pytest
from agents import (
    Agent,
    RunConfig,
    Runner,
    ToolsToFinalOutputResult,
    TracingProcessor,
    function_tool,
    set_trace_processors,
)
from agents.mcp.util import MCPUtil
from agents.run import AgentRunner
from agents.run_internal import run_loop, tool_execution, turn_resolution
from agents.run_internal.tool_actions import ShellAction

from lastword import Outcome, Runtime, Status
from lastword.core.entries import Called
from lastword.engines.openai_agents import FrameworkMoved, OpenAIAgents
from lastword.testing.provider import Answer, Provider, Request
from lastword.testing.provider import Call as Asks
from tests.engines.subject_agents import agents_model
from tests.promise.stories import Latch

pytestmark = pytest.mark.scenario("E35")


@pytest.mark.parametrize(
    ("home", "name"),
    [
        (run_loop, "stream_response_with_retry"),
        (tool_execution, "_invoke_function_tool_with_metadata"),
        (turn_resolution, "execute_handoffs"),
        (AgentRunner, "run"),
        (ShellAction, "execute"),
        (MCPUtil, "invoke_mcp_tool"),
    ],
    ids=["request", "tool", "handoff", "runner", "shell", "mcp"],
)
@pytest.mark.parametrize("how", ["gone", "changed"])
def test_a_framework_that_moved_a_name_makes_no_engine(
    home: Any, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def other(something: int) -> None: ...

    if how == "gone":
        monkeypatch.delattr(home, name)
    else:
        monkeypatch.setattr(home, name, other)
    with pytest.raises(FrameworkMoved, match=name) as error:
        OpenAIAgents(Agent("a"))
    assert "0.24.0" in str(error.value)
    assert "no engine was made" in str(error.value)


def test_nothing_is_held_of_a_framework_of_which_one_name_has_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def other(get_response: Any, get_retry_advice: Any, **others: Any) -> None: ...

    monkeypatch.setattr(run_loop, "get_response_with_retry", other)
    monkeypatch.delattr(turn_resolution, "execute_handoffs")
    with pytest.raises(FrameworkMoved):
        OpenAIAgents(Agent("a"))
    assert vars(run_loop)["get_response_with_retry"] is other


async def test_outside_of_runs_the_framework_does_what_it_did() -> None:
    @function_tool
    def look() -> str:
        return threading.current_thread().name

    OpenAIAgents(Agent("a"))
    async with Provider() as provider, agents_model(provider, "responses") as model:
        provider.answer(Asks("look", {}))
        provider.say("Seen.")
        agent = Agent("tester", model=model, tools=[look])
        result = await Runner.run(agent, "look", run_config=RunConfig(tracing_disabled=True))
        assert result.final_output == "Seen."
        assert "lastword" not in provider.requests[-1].results[0]


async def test_a_tool_is_the_team_s_own_to_hooks_and_is_never_changed() -> None:
    @function_tool
    async def look() -> str:
        return "a cat"

    invoker, seen = look.on_invoke_tool, list[Any]()

    def behaves(_: Any, results: list[Any]) -> Any:
        seen.append(results[0].tool)
        return ToolsToFinalOutputResult(is_final_output=False, final_output=None)

    async with Provider() as provider, agents_model(provider, "responses") as model:
        provider.answer(Asks("look", {}))
        provider.say("Seen.")
        agent = Agent("tester", model=model, tools=[look], tool_use_behavior=behaves)
        async with Runtime(OpenAIAgents(agent)) as r:
            ticket = await r.session("s").send("look")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    assert seen == [look]
    assert look.on_invoke_tool is invoker


class Traces(TracingProcessor):
    """Counts what would be sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []

    def on_trace_start(self, trace: Any) -> None: ...
    def on_trace_end(self, trace: Any) -> None: ...
    def on_span_start(self, span: Any) -> None: ...

    def on_span_end(self, span: Any) -> None:
        self.spans.append(span)

    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


@pytest.mark.parametrize("asked_for", [False, True])
async def test_nothing_is_traced_to_anybody_unless_it_is_asked_for(asked_for: bool) -> None:
    traces = Traces()
    set_trace_processors([traces])
    try:
        async with Provider() as provider, agents_model(provider, "responses") as model:
            provider.answer(Asks("delegate", {}))
            provider.say("Inside.")
            provider.say("Done.")
            inner = Agent("inner", model=model)

            @function_tool
            async def delegate() -> str:
                return str((await Runner.run(inner, "go")).final_output)

            agent = Agent("tester", model=model, tools=[delegate])
            async with Runtime(OpenAIAgents(agent, tracing=asked_for)) as r:
                ticket = await r.session("s").send("go")
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
    finally:
        set_trace_processors([])
    assert bool(traces.spans) is asked_for


async def test_two_sessions_of_one_agent_do_not_disturb_each_other() -> None:
    latch = Latch()

    @function_tool
    async def look(n: int) -> str:
        await latch.wait()
        return f"cat {n}"

    def answer(request: Request) -> Answer:
        if request.results:
            return Answer(f"{request.prompt}: {request.results[0]}")
        return Answer(Asks("look", {"n": int(request.prompt)}))

    async with Provider() as provider, agents_model(provider, "responses") as model:
        provider.always(answer)
        agent = Agent("tester", model=model, tools=[look])
        async with Runtime(OpenAIAgents(agent)) as r:
            first = await r.session("one").send("1")
            second = await r.session("two").send("2")
            await latch.came.wait()
            receipt = await r.session("one").stop()
            latch.open.set()
            assert await first.outcome() == Outcome.STOPPED
            assert await second.outcome() == Outcome.COMPLETED, second.error
            assert [call.status for call in receipt.calls] == [Status.MAY_HAVE_EXECUTED]
            [called] = [one for one in await r.session("two").log() if isinstance(one, Called)]
    assert json.loads(called.arguments) == {"n": 2}


def test_one_engine_answers_on_one_event_loop_after_another() -> None:
    @function_tool
    def look() -> str:
        return "a cat"

    agent = Agent("tester", tools=[look])
    engine = OpenAIAgents(agent)

    async def once() -> Any:
        async with Provider() as provider, agents_model(provider, "responses") as model:
            agent.model = model
            provider.answer(Asks("look", {}))
            provider.say("Seen.")
            async with Runtime(engine) as r:
                ticket = await r.session("s").send("look")
                return await ticket.outcome(), ticket.error

    for _ in range(2):
        assert asyncio.run(once()) == (Outcome.COMPLETED, "")
