"""Half a character, wherever it comes from, is the end of no session; nor is another provider."""

from dataclasses import replace

import pytest
from pydantic_ai import Agent

from lastword import FeedEvent, Outcome, Run, Runtime
from lastword.core.entries import Called, Text, Thinking
from lastword.engines.pydantic_ai import PydanticAI
from lastword.errors import EngineFailed
from lastword.testing.provider import Call, Provider, Say, Think
from tests.engines.wire import FORMATS, model

HALF = "\ud83d"
LATIN = "caf\udce9"  # a byte of Latin-1, as Python reads it from a terminal


def said(heard: list[FeedEvent]) -> str:
    return "".join(event.text for event in heard if event.kind == "text")


@pytest.mark.parametrize("format", FORMATS)
async def test_what_a_person_typed_in_no_encoding_reaches_the_model_and_the_next_turn_too(
    format: str,
) -> None:
    async with Provider() as provider, model(provider, format) as own:
        provider.always(lambda _: "fine")
        async with Runtime(PydanticAI(Agent(own))) as r:
            session = r.session("s")
            for text in (LATIN, "again"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert "caf\ufffd" in str(provider.requests[1].messages)


@pytest.mark.parametrize("format", FORMATS)
async def test_half_a_character_in_an_answer_is_said_and_stored_as_a_mark(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        provider.answer(Say(f"hi {HALF} there"))
        provider.say("fine")
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            assert await (await session.send("hello")).outcome() == Outcome.COMPLETED
            assert said(heard) == "hi \ufffd there"
            ticket = await session.send("again")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


@pytest.mark.parametrize("format", FORMATS)
async def test_a_character_that_comes_in_two_pieces_is_said_whole(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        provider.answer(Say("hi \ud83d", "\ude00 there"))
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            assert await (await r.session("s").send("hello")).outcome() == Outcome.COMPLETED
    assert said(heard) == "hi 😀 there"


@pytest.mark.parametrize("format", FORMATS)
async def test_half_a_character_in_arguments_and_in_results_ends_nothing(format: str) -> None:
    given: list[str] = []
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def look(name: str) -> dict[str, list[str]]:
            given.append(name)
            return {"names": [LATIN]}

        raw = f'{{"name": "x{HALF}"}}'
        provider.answer(Call("look", raw=raw))
        provider.say("seen")
        provider.say("fine")
        async with Runtime(PydanticAI(agent)) as r:
            session = r.session("s")
            for text in ("go", "again"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert given == ["x\ufffd"]
        assert provider.refused == []


@pytest.mark.parametrize("format", FORMATS)
async def test_a_session_that_was_stored_with_half_a_character_is_well_again(format: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        engine = PydanticAI(Agent(own, instructions=f"You are in /home/{LATIN}."))
        provider.always(lambda _: "fine")

        async def as_stored(run: Run) -> None:
            run.history = tuple(replace(item, text=LATIN) for item in run.history)
            await engine(run)

        async with Runtime(as_stored) as r:
            ticket = await r.session("s").send("hello")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.requests[0].prompt == "caf\ufffd"


async def test_what_a_plain_engine_says_and_asks_for_is_stored_as_text() -> None:
    async def engine(run: Run) -> None:
        await run.emit(f"{HALF}x")
        await run.think(LATIN)
        await run.asked(f"look{HALF}", f"{{{HALF}}}", run_nothing)()
        await run.progress(LATIN)
        raise EngineFailed("enough")

    async def run_nothing() -> None:
        pass

    async with Runtime(engine) as r:
        session = r.session("s")
        waiting = await session.send("go")
        assert await waiting.outcome() == Outcome.FAILED
        log = await session.log()
    stored = [entry.text for entry in log if isinstance(entry, Text | Thinking)]
    [called] = [entry for entry in log if isinstance(entry, Called)]
    assert stored == ["\ufffdx", "caf\ufffd"]
    assert (called.name, called.arguments) == ("look\ufffd", "{\ufffd}")


@pytest.mark.parametrize("then", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
async def test_a_session_goes_on_with_another_provider_s_model_and_back(
    first: str, then: str
) -> None:
    async with Provider() as provider:
        async with model(provider, first) as one, model(provider, then) as other:
            agents = {"one": Agent(one), "other": Agent(other), "back": Agent(one)}
            for agent in agents.values():
                agent.tool_plain(look)

            async def engine(run: Run) -> None:
                await PydanticAI(agents[run.message.text])(run)

            async with Runtime(engine) as r:
                session = r.session("s")
                for name in agents:
                    provider.answer(Think("hm"), Say("I look."), Call("look", {}))
                    provider.answer(Think(), Say("done"))
                    ticket = await session.send(name)
                    assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.refused == []
        assert "assistant_thinking" not in str([request.body for request in provider.requests])


async def look() -> str:
    return "seen"
