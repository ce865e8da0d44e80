"""What a model or its provider does wrong is said in one plain line, and the session goes on."""

from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

from lastword import FeedEvent, Outcome, Runtime
from lastword.agent.assistant import assistant
from lastword.engines.pydantic_ai import PydanticAI
from lastword.engines.pydantic_ai.declined import declined
from lastword.testing.provider import Answer, Call, Provider, Say, Think
from tests.engines.wire import FORMATS, Raw, model, streamed


def said(heard: list[FeedEvent], kind: str = "text") -> str:
    return "".join(event.text for event in heard if event.kind == kind)


def an_agent(own: object) -> Agent[None, str]:
    agent = Agent(own)  # pyright: ignore[reportArgumentType, reportCallIssue] - a Model

    @agent.tool_plain
    async def look(path: str) -> str:
        return path

    return agent


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(), "the model answered nothing"),
        (Answer(Say("")), "the model answered nothing"),
        (Answer(Think("hm")), "the model answered nothing"),
        (Answer(Call("nowhere", {})), "2 times in a row for the tool nowhere in a way that"),
        (Answer(Call("look", raw='{"pa')), "2 times in a row for the tool look in a way that"),
        (Answer(Think("hm"), finish="length"), "its limit of tokens before it said anything"),
    ],
    ids=["nothing", "no words", "only thoughts", "no such tool", "broken arguments", "limit"],
)
async def test_a_model_that_does_not_answer_is_said_to_in_a_line(
    format: str, answer: Answer, why: str
) -> None:
    async with Provider() as provider, model(provider, format) as own:
        async with Runtime(PydanticAI(an_agent(own))) as r:
            session = r.session("s")
            provider.always(lambda _: Answer(*answer.parts, finish=answer.finish))
            ticket = await session.send("hello")
            assert await ticket.outcome() == Outcome.FAILED
            assert why in ticket.error
            assert "\n" not in ticket.error
            assert "retries" not in ticket.error
            provider.always(lambda _: "Hello.")
            again = await session.send("hello?")
            assert await again.outcome() == Outcome.COMPLETED, again.error
        assert provider.refused == []


async def failing(body: bytes, *, kind: str = "text/event-stream") -> str:
    """What is said of a provider that answers with this, and then as it should."""
    good = streamed("chat", Answer("Hello."))
    async with Raw(body, good, kind=kind) as server, model(server, "chat") as own:  # noqa: SIM117
        async with Runtime(PydanticAI(Agent(own))) as r:
            session = r.session("s")
            ticket = await session.send("hello")
            assert await ticket.outcome() == Outcome.FAILED
            again = await session.send("hello?")
            assert await again.outcome() == Outcome.COMPLETED, again.error
            return ticket.error


@pytest.mark.parametrize(
    "body", [b"", b"data: null\n\n", b"data: [1]\n\n", b"data: {not\n\n", b'data: {"a": 1}\n\n']
)
async def test_what_is_no_answer_at_all_is_called_that(body: bytes) -> None:
    assert "the provider sent something that is not an answer" in await failing(body)


async def test_a_page_in_place_of_an_answer_is_called_that() -> None:
    error = await failing(b"<html>hi</html>", kind="text/html")
    assert error == "the provider sent something that is not an answer"


async def test_a_model_that_declines_is_quoted() -> None:
    head = b'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    refused = b'[{"index":0,"delta":{"refusal":"I would rather not."},"finish_reason":null}]}\n\n'
    ended = b'[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    assert await failing(head + refused + head + ended) == "the model declined: I would rather not."


async def test_a_filter_that_stops_an_answer_is_said_to() -> None:
    ended = streamed("chat", Answer()).replace(
        b'"finish_reason":"stop"', b'"finish_reason":"content_filter"'
    )
    assert "the model declined: its provider's filter" in await failing(ended)


@pytest.mark.parametrize("format", FORMATS)
async def test_a_stream_that_ends_without_saying_so_is_an_answer_that_broke_off(
    format: str,
) -> None:
    heard: list[FeedEvent] = []
    half = streamed(format, Answer("half"), ended=False)
    async with Raw(half) as server, model(server, format) as own:  # noqa: SIM117
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            session = r.session("s")
            ticket = await session.send("hello")
            assert await ticket.outcome() == Outcome.FAILED
            assert "the answer broke off" in ticket.error
            shown = [item.text for item in await session.history() if item.role == "assistant"]
    assert said(heard) == "half"
    assert shown == ["half"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("scripted", ["cut", "fail"])
async def test_a_connection_that_ends_in_the_middle_is_an_answer_that_broke_off(
    format: str, scripted: str
) -> None:
    async with Provider() as provider, model(provider, format) as own:  # noqa: SIM117
        async with Runtime(PydanticAI(Agent(own))) as r:
            if scripted == "cut":
                provider.cut("half")
            else:
                provider.fail(529, "too busy", after=["half"])
            ticket = await r.session("s").send("hello")
            assert await ticket.outcome() == Outcome.FAILED
    assert "the answer broke off" in ticket.error


@pytest.mark.parametrize("format", FORMATS)
async def test_the_person_is_told_that_an_answer_was_cut_off_at_the_limit(format: str) -> None:
    heard: list[FeedEvent] = []
    async with Provider() as provider, model(provider, format) as own:
        provider.answer("a long st", finish="length")
        async with Runtime(PydanticAI(Agent(own)), sink=heard.append) as r:
            assert await (await r.session("s").send("tell")).outcome() == Outcome.COMPLETED
    assert said(heard) == "a long st"
    assert "cut off at the model's limit" in said(heard, "progress")


@pytest.mark.parametrize("format", FORMATS)
async def test_two_calls_with_one_id_are_two_calls(format: str) -> None:
    async with Provider(strict=False) as provider, model(provider, format) as own:
        provider.answer(*(Call("look", {"path": path}, id="call_1") for path in "ab"))
        provider.say("seen")
        async with Runtime(PydanticAI(an_agent(own))) as r:
            ticket = await r.session("s").send("look")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.requests[1].results == ["a", "b"]


@pytest.mark.parametrize("format", FORMATS)
async def test_a_few_slips_of_its_model_do_not_end_the_assistant_s_answer(
    format: str, tmp_path: Path
) -> None:
    async with Provider() as provider, model(provider, format) as own:
        for slip in (Call("read_file", raw='{"pa'), Call("nowhere", {}), Say("")) * 2:
            provider.answer(slip)
        provider.say("There is nothing.")
        mine = assistant(own, roots=[tmp_path])
        async with Runtime(mine.engine, before_tool=mine.questions.as_before_tool()) as r:
            ticket = await r.session("s").send("read it")
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        assert provider.refused == []


@pytest.mark.scenario("E19", part="agent")
@pytest.mark.parametrize(
    ("status", "told", "what"),
    [
        (400, {"code": "context_length_exceeded", "message": "no"}, 0),
        (400, {"error": {"type": "billing_error", "message": "no"}}, 0),
        (400, {"type": "invalid_request_error", "message": "Your credit balance is too low"}, 0),
        (400, {"type": "invalid_request_error", "message": "Invalid: 'credit balance'"}, 400),
        (400, {"message": "unknown file api key.txt: quota, permission, max_tokens"}, 400),
        (422, "no", 422),
        (413, None, 413),
        (403, {"type": "permission_error", "message": "no"}, 0),
        (500, {"type": "invalid_request_error", "message": "no"}, 0),
    ],
)
def test_codes_say_why_a_request_is_refused_and_quoted_words_do_not(
    status: int, told: object, what: int
) -> None:
    assert declined(ModelHTTPError(status, "m", told)) == what


@pytest.mark.scenario("E20", part="agent")
@pytest.mark.parametrize(
    ("kind", "what"), [("invalid_prompt", 400), ("server_error", 0), ("rate_limit_exceeded", 0)]
)
def test_inside_a_stream_the_code_alone_decides(kind: str, what: int) -> None:
    error = ModelAPIError("m", "it failed")
    error.__cause__ = Told({"code": kind, "message": "no"})
    assert declined(error) == what


class Told(Exception):
    """A client's error, with what its provider told."""

    def __init__(self, body: object) -> None:
        super().__init__("it failed")
        self.body = body
