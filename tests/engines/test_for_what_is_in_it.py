"""E18, E19, E20. However a request is refused for what is in it, the next turns work."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from lastword import Attachment, FeedEvent, Outcome, Runtime
from lastword.core.entries import LeftOut
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Answer, Call, Failure, Provider, Request, Think
from lastword.testing.provider.script import Reply
from tests.engines.inside import strict
from tests.engines.test_repair import ENCODED, talking
from tests.engines.wire import FORMATS, model

pytestmark = pytest.mark.parametrize("format", FORMATS)


class Thing(BaseModel):
    """What a team's tool may give."""

    a: object = None


class Silent:
    """Says nothing of itself."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)
RESULTS = {
    "half a character in a dict": {"\ud800": ["\udfff"]},
    "half a character in a model": Thing(a="\ud800"),
    "bytes in a model": Thing(a=b"\xff"),
    "half a character in a list": ["", None, "\ud800"],
    "no words": Silent(),
    "no words in a list": [Silent()],
    "no end": ENDLESS,
    "a class": Thing,
}
NUMBERS = ["1e400", "-1E+999", '{"y": [0, 1e309]}', "[[1e308, -1e308, 1e500]]"]


@pytest.mark.scenario("E18", part="agent")
@pytest.mark.parametrize("number", NUMBERS)
async def test_a_number_that_is_none_ends_no_session(format: str, number: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def look(x: object = None) -> str:
            return "seen"

        provider.answer(Call("look", raw=f'{{"x": {number}}}'))
        provider.always(lambda _: "fine")
        async with Runtime(PydanticAI(agent)) as r:
            for text in ("go", "and?"):
                ticket = await r.session("s").send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


class Picky(WrapperModel):
    """A model of which no request can be made with this word."""

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        if "badword" in str(messages):
            raise ValueError("Out of range float values are not JSON compliant")
        asked = (messages, model_settings, model_request_parameters, run_context)
        async with super().request_stream(*asked) as stream:
            yield stream


@pytest.mark.scenario("E18", part="agent")
async def test_what_no_request_can_be_made_of_is_told_as_that_and_left_out(format: str) -> None:
    async with strict(format) as (own, _):  # noqa: SIM117
        async with Runtime(PydanticAI(Agent(Picky(own)))) as r:
            session = r.session("s")
            first = await session.send("badword")
            assert await first.outcome() == Outcome.FAILED
            assert "no request can be made of what there is to show the model" in first.error
            for text in ("on", "and on"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


@pytest.mark.scenario("E19", part="agent")
@pytest.mark.parametrize(
    "name", ["permission-slip.png", "billing.png", "quota api key.png", "maximum tokens.png"]
)
@pytest.mark.parametrize("quote", ["'{}'", "{}"])
async def test_a_file_named_like_another_reason_is_left_out(
    format: str, name: str, quote: str
) -> None:
    def script(request: Request) -> Failure | str:
        why = f"messages.0.content.1: Could not process image {quote.format(name)}"
        return Failure(400, why) if ENCODED in str(request.body) else "fine"

    async with talking(format, script) as (session, _):
        file = Attachment("image/png", ENCODED, name=name)
        assert await (await session.send("look", attachments=[file])).outcome() == Outcome.FAILED
        ticket = await session.send("and now?")
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error


@pytest.mark.scenario("E20", part="agent")
@pytest.mark.parametrize(
    "before", [(), (Think("hm"),), ("Hel",)], ids=["at once", "thinking", "speaking"]
)
async def test_a_refusal_inside_a_stream_ends_no_session(
    format: str, before: tuple[Think | str, ...]
) -> None:
    def script(request: Request) -> Reply:
        refused = "badword" in str(request.body)
        return Answer(*before, ending=Failure(400, "not allowed")) if refused else Answer("fine")

    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        provider.always(script)
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            assert await (await session.send("badword")).outcome() == Outcome.FAILED
            heard.clear()
            for text in ("on", "and on"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
            log = await session.log()

    assert [one.part for one in log if isinstance(one, LeftOut)][-1:] == ["turn"]
    said = "".join(event.text for event in heard if event.kind == "text")
    assert said.endswith("fine" * 2)
    assert "Helfine" not in said


@pytest.mark.scenario("E18", part="agent")
@pytest.mark.parametrize("what", RESULTS)
async def test_whatever_a_tool_gives_is_told_in_some_letters(format: str, what: str) -> None:
    async with Provider() as provider, model(provider, format) as own:
        agent = Agent(own)

        @agent.tool_plain
        async def give() -> object:
            return RESULTS[what]

        provider.answer(Call("give", {}), Call("nowhere", {}))
        provider.always(lambda _: "fine")
        async with Runtime(PydanticAI(agent)) as r:
            for text in ("go", "and?"):
                ticket = await r.session("s").send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.refused == []
