"""What does not fit into a model's window is shortened for the model, and for nobody else."""

import asyncio
import base64
import json

import pytest
from pydantic_ai import Agent

from lastword import Attachment, Outcome, Run, Runtime
from lastword.core.entries import Result, Summary
from lastword.engines.pydantic_ai import Compaction, PydanticAI
from lastword.testing.provider import Answer, Call, Failure, Provider, Request
from lastword.testing.provider.script import Reply
from tests.engines.wire import FORMATS, model

pytestmark = pytest.mark.parametrize("format", FORMATS)
WINDOW = 4000  # tokens
LONG = "begin " + "x" * 7_000 + " end"


def too_long(request: Request) -> Failure | None:
    """What a provider says to more than it takes in."""
    if len(json.dumps(request.messages)) < WINDOW * 4:
        return None
    return Failure(400, f"This model's maximum context length is {WINDOW} tokens")


def an_agent(own: object) -> PydanticAI:
    agent = Agent(own, instructions="Be brief.")  # pyright: ignore[reportArgumentType, reportCallIssue] - a Model

    @agent.tool_plain
    async def look(name: str) -> str:
        return f"{name} {LONG}"

    return PydanticAI(agent, compaction=Compaction(WINDOW, words=50))


async def test_results_that_do_not_fit_are_cut_for_the_model_and_whole_in_the_log(
    format: str,
) -> None:
    def answer(request: Request) -> Reply:
        calls = [Call("look", {"name": name}) for name in "ab"]
        return too_long(request) or Answer(*(["seen"] if request.results else calls))

    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        async with Runtime(an_agent(own)) as r:
            session = r.session("s")
            ticket = await session.send("look")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            results = [entry for entry in await session.log() if isinstance(entry, Result)]
        assert [result.content for result in results] == [f"a {LONG}", f"b {LONG}"]
        for result, name in zip(provider.requests[1].results, "ab", strict=True):
            assert result.startswith(f"{name} begin")
            assert "characters left out" in result
            assert result.endswith("x end")


async def test_a_run_that_reads_on_and_on_never_asks_for_more_than_fits(format: str) -> None:
    names = iter("abcdef")

    def answer(request: Request) -> Reply:
        name = next(names, None)
        return too_long(request) or Answer(Call("look", {"name": name}) if name else "enough")

    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        async with Runtime(an_agent(own)) as r:
            ticket = await r.session("s").send("look around")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        [newest] = provider.requests[-1].results
        assert newest == f"f {LONG}"  # the others were shortened
        assert provider.refused == []


async def test_after_a_turn_longer_than_the_window_the_session_goes_on(format: str) -> None:
    def answer(request: Request) -> Reply:
        return too_long(request) or Answer("So it is.")

    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        async with Runtime(an_agent(own)) as r:
            session = r.session("s")
            assert await (await session.send("y" * WINDOW * 5)).outcome() == Outcome.FAILED
            for text in ("hello", "hello again"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert [entry for entry in await session.log() if isinstance(entry, Summary)]


async def test_what_is_too_long_for_one_summary_is_summarised_piece_by_piece(format: str) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Reply:
        if "Summarise" in request.prompt:
            asked.append(request.prompt)
            return too_long(request) or Answer(f"summary number {len(asked)}")
        return too_long(request) or Answer("z" * 2_000)

    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        shortening, careless = an_agent(own), PydanticAI(Agent(own))

        async def engine(run: Run) -> None:
            await (shortening if run.message.text == "now" else careless)(run)

        async with Runtime(engine) as r:
            session = r.session("s")
            for text in [*"abcdefg", "now"]:
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            [summary] = [entry for entry in await session.log() if isinstance(entry, Summary)]
        assert len(asked) > 1
        assert "summary number 1" in asked[1]
        assert summary.text == f"summary number {len(asked)}"


async def test_without_a_summary_old_results_are_shown_shortened(format: str) -> None:
    def answer(request: Request) -> Reply:
        if "Summarise" in request.prompt:
            return Failure(500, "no summaries today")
        if too := too_long(request):
            return too
        look = request.prompt == "look" and not request.results
        return Answer(Call("look", {"name": "a"}) if look else "fine")

    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        async with Runtime(an_agent(own)) as r:
            session = r.session("s")
            for text in ("look", "look", "bye"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert not [entry for entry in await session.log() if isinstance(entry, Summary)]
        assert any("Summarise" in request.prompt for request in provider.requests)


async def test_a_second_summary_knows_the_first(format: str) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Reply:
        if "Summarise" not in request.prompt:
            return Answer("so")
        asked.append(request.prompt)
        return Answer(f"They began with {len(asked)}.")

    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        async with Runtime(PydanticAI(Agent(own), compaction=Compaction(400, words=20))) as r:
            session = r.session("s")
            for number in range(9):
                await (await session.send(f"{number} " + "x" * 400)).outcome()
        assert len(asked) > 1
        assert "They began with 1." in asked[1]


BOOK = "line of a log\n" * WINDOW
FILES = {
    "text": Attachment("text/plain", BOOK, name="app.log"),
    "json": Attachment(
        "application/json", base64.b64encode(BOOK.encode()).decode(), name="app.json"
    ),
}


@pytest.mark.scenario("E21", part="agent")
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("summaries", [True, False])
async def test_a_file_longer_than_the_window_ends_no_session(
    format: str, kind: str, summaries: bool
) -> None:
    def answer(request: Request) -> Reply:
        if "Summarise" in request.prompt and not summaries:
            return Failure(500, "no summaries today")
        return too_long(request) or Answer("So it is.")

    async with Provider() as provider, model(provider, format) as own:
        provider.always(answer)
        async with Runtime(an_agent(own)) as r:
            session = r.session("s")
            await (await session.send("read this", attachments=[FILES[kind]])).outcome()
            for text in ("never mind", "hello?"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        told = [request.prompt for request in provider.requests if "Summarise" in request.prompt]
        assert all(f"[{FILES[kind].name}]" in prompt for prompt in told[:1])
        assert told


@pytest.mark.scenario("E21", part="agent")
async def test_nothing_that_is_to_be_answered_is_cut_when_more_joins_it(format: str) -> None:
    first = "x" * 1_500 + " DELETE NOTHING " + "y" * 1_500
    go = asyncio.Event()

    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def wait() -> str:
            await go.wait()
            return "waited"

        provider.answer(Call("wait", {}))
        provider.always(lambda _: "fine")
        async with Runtime(PydanticAI(agent, compaction=Compaction(2000))) as r:
            session = r.session("s")
            ticket = await session.send(first)
            await provider.asked(1)
            steer = await session.send("z" * 4_500, on_message="steer")
            go.set()
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            assert ticket.run == steer.run
        assert first in json.dumps(provider.requests[-1].messages)
