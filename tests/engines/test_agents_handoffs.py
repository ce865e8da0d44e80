"""E32. Who answers: a handoff is a call like any other, and the log alone says who is next."""

import json
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, function_tool, handoff

from lastword import Call, Outcome, Runtime, Status
from lastword.core.entries import Called, Result
from lastword.engines.openai_agents import Compaction, OpenAIAgents
from lastword.testing.provider import Call as Asks
from lastword.testing.provider import Provider, Request, Say
from tests.engines.subject_agents import agents_model
from tests.engines.subjects import AGENTS_FORMATS
from tests.promise.stories import Latch, check_log

pytestmark = [
    pytest.mark.scenario("E32"),
    pytest.mark.parametrize("format", AGENTS_FORMATS),
]


def desk(model: Any, *tools: Any, back: bool = False) -> Agent[Any]:
    """Somebody at the front, who hands over to the booker."""
    booker = Agent("booker", model=model, tools=list(tools), instructions="BOOKER")
    front = Agent("front", model=model, handoffs=[booker], instructions="FRONT")
    if back:
        booker.handoffs = [handoff(front, tool_name_override="back_to_the_front")]
    return front


def asked_of(request: Request) -> str:
    return "BOOKER" if "BOOKER" in json.dumps(request.body) else "FRONT"


async def test_whom_it_was_handed_to_answers_from_then_on(format: str) -> None:
    async with Provider() as provider, agents_model(provider, format) as model:
        async with Runtime(OpenAIAgents(desk(model, back=True))) as r:
            session = r.session("s")
            provider.answer(Say("One moment. "), Asks("transfer_to_booker", {}))
            provider.say("Booked.")
            provider.say("You are welcome.")
            provider.answer(Asks("back_to_the_front", {}))
            provider.say("Here again.")
            provider.say("Good bye.")
            for text in ("book it", "thanks", "the front, please", "bye"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = await session.log()
            await check_log(session)
        assert provider.refused == []

    who = [asked_of(request) for request in provider.requests]
    assert who == ["FRONT", "BOOKER", "BOOKER", "BOOKER", "FRONT", "FRONT"]
    assert [one.name for one in log if isinstance(one, Called)] == [
        "transfer_to_booker",
        "back_to_the_front",
    ]
    [first, _] = [one for one in log if isinstance(one, Result)]
    assert (first.status, first.content) == (Status.COMPLETED, '{"assistant": "booker"}')


async def test_it_is_the_same_after_a_stop_a_restart_and_a_summary(
    format: str, tmp_path: Path
) -> None:
    latch = Latch()

    @function_tool
    async def book() -> str:
        await latch.wait()
        return "booked"

    async with Provider() as provider, agents_model(provider, format) as model:
        store = f"sqlite:{tmp_path / 'log'}"
        async with Runtime(OpenAIAgents(desk(model, book)), store=store) as r:
            provider.answer(Asks("transfer_to_booker", {}))
            provider.answer(Say("I book. "), Asks("book", {}))
            session = r.session("s")
            await session.send("book it")
            await latch.came.wait()
            await session.stop()
            provider.say("Yes? " + "word " * 100)
            await (await session.send("and?")).outcome()

        agent, shortened = desk(model, book), Compaction(window=200)
        async with Runtime(OpenAIAgents(agent, compaction=shortened), store=store) as r:
            provider.say("They talked.")
            provider.say("Still here.")
            provider.say("And here.")
            for text in ("who is there?", "and now?"):
                ticket = await r.session("s").send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.refused == []

    assert [asked_of(one) for one in provider.requests if "Summarise" not in one.prompt] == [
        "FRONT",
        "BOOKER",
        "BOOKER",
        "BOOKER",
        "BOOKER",
    ]
    assert "transfer_to_booker" not in json.dumps(provider.requests[-1].messages)


async def test_one_that_is_not_allowed_changes_nobody_and_of_two_the_first_is_made(
    format: str,
) -> None:
    handed: list[str] = []

    def allow(call: Call[object]) -> None:
        if call.name == "transfer_to_booker":
            raise PermissionError("the booker is out")

    async with Provider() as provider, agents_model(provider, format) as model:
        front = desk(model)
        cook = Agent("cook", model=model, instructions="COOK")
        told = handoff(cook, on_handoff=lambda _: handed.append("cook"))
        front.handoffs = [*front.handoffs, told]
        async with Runtime(OpenAIAgents(front), before_tool=allow) as r:
            session = r.session("s")
            provider.answer(Asks("transfer_to_booker", {}), Asks("transfer_to_cook", {}))
            provider.answer(Asks("transfer_to_cook", {}))
            provider.say("What may I cook?")
            ticket = await session.send("dinner")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = await session.log()
            await check_log(session)
        assert provider.refused == []

    statuses = [one.status for one in log if isinstance(one, Result)]
    assert statuses == [Status.NOT_STARTED, Status.NOT_STARTED, Status.COMPLETED]
    assert handed == ["cook"]
    assert "the booker is out" in json.dumps(provider.requests[1].messages)
    assert "COOK" in json.dumps(provider.requests[-1].body)


async def test_what_joined_before_a_handoff_is_shown_to_whoever_answers_then(format: str) -> None:
    latch = Latch()

    @function_tool
    async def look() -> str:
        await latch.wait()
        return "free"

    def newest(data: Any) -> Any:
        return data.clone(pre_handoff_items=())

    async with Provider() as provider, agents_model(provider, format) as model:
        booker = Agent("booker", model=model)
        over = handoff(booker, input_filter=newest)
        front = Agent("front", model=model, tools=[look], handoffs=[over])
        async with Runtime(OpenAIAgents(front)) as r:
            session = r.session("s")
            provider.answer(Asks("look", {}))
            provider.answer(Asks("transfer_to_booker", {}))
            provider.say("By the window, then.")
            ticket = await session.send("a table")
            await latch.came.wait()
            await session.send("by the window", on_message="steer")
            latch.open.set()
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.refused == []
        _, second, third = provider.requests
        assert "by the window" in json.dumps(second.messages)
        assert "by the window" in json.dumps(third.messages)
