"""E9. A session that a provider refuses twice for the same content is shown less, by name."""

import base64
import struct
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic_ai import Agent

from lastword import Attachment, FeedEvent, Outcome, Runtime, Session
from lastword.core.entries import Declined, LeftOut
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Answer, Call, Failure, Request
from tests.engines.inside import Strict, strict
from tests.engines.wire import FORMATS

pytestmark = [
    pytest.mark.parametrize("format", FORMATS),
    pytest.mark.scenario("E9", part="agent"),
]
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 8, 8) + bytes(99)
ENCODED = base64.b64encode(PNG).decode()
PICTURE = Attachment("image/png", ENCODED, name="cat.png")


def no_pictures(request: Request) -> Failure | str:
    has = ENCODED in str(request.body)
    return Failure(400, "Could not process image") if has else "fine"


@asynccontextmanager
async def talking(
    format: str,
    script: Callable[[Request], Answer | Failure | str],
    *tools: Callable[[], str],
    **settings: Any,
) -> AsyncGenerator[tuple[Session, Strict]]:
    """A session of an agent with such a provider."""
    async with strict(format, script) as (model, provider):
        engine = PydanticAI(Agent(model, tools=tools))
        async with Runtime(engine, **settings) as r:
            yield r.session("s"), provider


async def test_a_file_that_was_refused_twice_is_shown_by_name_from_then_on(format: str) -> None:
    heard: list[FeedEvent] = []
    async with talking(format, no_pictures, sink=heard.append) as (session, provider):
        first = await session.send("look", attachments=[PICTURE])
        assert await first.outcome() == Outcome.FAILED
        assert "Could not process image" in first.error
        for text in ("and now?", "still there?"):
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        log = await session.log()

    assert len(provider.requests) == 4  # refused, refused, taken with less, and at once
    bodies = [str(request.body) for request in provider.requests]
    assert len(set(bodies)) == 4
    assert all("cat.png is not shown" in body for body in bodies[2:])
    assert [(one.of, one.part) for one in log if isinstance(one, LeftOut)] == [
        (first.run, "attachments")
    ]
    said = [event.text for event in heard if event.kind == "progress"]
    assert said == ["The model is no longer shown cat.png: the provider did not take it."]


async def test_the_person_s_last_words_are_asked_without_their_file_and_answered(
    format: str,
) -> None:
    async with talking(format, no_pictures) as (session, provider):
        await (await session.send("look", attachments=[PICTURE])).outcome()
        ticket = await session.send("look here, then", attachments=[PICTURE])
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert "look here, then" in str(provider.requests[-1].body)


async def test_what_a_tool_gave_and_no_provider_takes_ends_no_session(format: str) -> None:
    def script(request: Request) -> Answer | Failure | str:
        if "poison" in str(request.messages):
            return Failure(422, "no")
        asks = "go" in request.said and not request.results and request.number == 0
        return Answer(Call("act", {})) if asks else "fine"

    def act() -> str:
        return "poison"

    async with talking(format, script, act) as (session, provider):
        outcomes = [await (await session.send(text)).outcome() for text in ("go", "on", "on")]
        log = await session.log()

    assert outcomes == [Outcome.FAILED, Outcome.COMPLETED, Outcome.COMPLETED]
    assert {one.part for one in log if isinstance(one, LeftOut)} >= {"calls"}
    assert "act was called here" in str(provider.requests[-1].messages)


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "bad key"),
        (429, "quota"),
        (400, "This model's maximum context length is 8 tokens"),
        (400, "prompt is too long: 9 tokens > 8 maximum"),
        (400, "Your credit balance is too low"),
    ],
)
async def test_nothing_is_left_out_for_another_reason(format: str, status: int, why: str) -> None:
    async with talking(format, lambda _: Failure(status, why)) as (session, provider):
        for _ in range(3):
            ticket = await session.send("look", attachments=[PICTURE])
            assert await ticket.outcome() == Outcome.FAILED
        log = await session.log()

    assert len(provider.requests) == 3
    assert [one for one in log if isinstance(one, LeftOut | Declined)] == []


async def test_where_leaving_out_does_not_help_nothing_is_left_out(format: str) -> None:
    async with talking(format, lambda _: Failure(400, "a bad schema")) as (session, _):
        for _ in range(3):
            ticket = await session.send("look", attachments=[PICTURE])
            assert await ticket.outcome() == Outcome.FAILED
            assert "a bad schema" in ticket.error
        log = await session.log()

    assert [one for one in log if isinstance(one, LeftOut)] == []
    assert len([one for one in log if isinstance(one, Declined)]) == 3


async def test_what_was_left_out_stays_so_after_a_restart(format: str, tmp_path: Any) -> None:
    store = f"sqlite:{tmp_path / 'log.db'}"
    async with strict(format, no_pictures) as (model, provider):
        for texts in (("look", "on"), ("and on",)):
            async with Runtime(PydanticAI(Agent(model)), store=store) as r:
                session = r.session("s")
                for text in texts:
                    files = [PICTURE] if text == "look" else []
                    await (await session.send(text, attachments=files)).outcome()

    assert len(provider.requests) == 4
    assert "cat.png is not shown" in str(provider.requests[-1].body)
