"""The framework's own MCP toolset, under a stop: a call to a server is a call like any other."""

from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

from lastword import FeedEvent, Outcome, Runtime, Status
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Call, Provider, Say
from tests.agent.test_mcp import recorded, serving
from tests.engines.wire import FORMATS, model
from tests.promise.stories import check_log
from tests.promise.workshop import until


@pytest.mark.parametrize("format", FORMATS)
async def test_a_stop_during_a_call_of_an_mcp_toolset_names_the_call_and_silences_the_run(
    format: str, tmp_path: Path
) -> None:
    heard: list[FeedEvent] = []
    async with (
        serving(tmp_path) as address,
        Provider() as provider,
        model(provider, format) as own,
    ):
        provider.answer(Call("wait", {}))
        served = MCPToolset(address).filtered(lambda _, tool: tool.name in ("wait", "say"))
        agent = Agent(own, toolsets=[served])  # without the names that no provider takes
        async with Runtime(PydanticAI(agent), sink=heard.append) as runtime:
            session = runtime.session("s")
            await session.send("wait for it")
            await until(lambda: "waits" in recorded(tmp_path))
            receipt = await session.stop()
            told = len(heard)

            assert receipt.quiet
            assert [(c.name, c.status) for c in receipt.calls] == [
                ("wait", Status.MAY_HAVE_EXECUTED)
            ]
            provider.answer(Call("say", {"words": "hello"}))
            provider.answer(Say("It said so."))
            ticket = await session.send("and now say hello")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert {event.run for event in heard[told:] if event.run} == {ticket.run}
            assert "".join(e.text for e in heard[told:] if e.kind == "text") == "It said so."
            await check_log(session)
    assert [line.split()[2] for line in recorded(tmp_path) if line.startswith("call ")] == [
        "wait",
        "say",
    ]
