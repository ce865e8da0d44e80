"""E1, E2, E3, E6. What a provider would refuse is shown by name; every later turn works."""

import base64
import json
import struct
from typing import Any

import pytest
from pydantic_ai import Agent, BinaryContent, ModelRetry
from pydantic_ai.messages import ToolReturn

from lastword import Attachment, Outcome, Runtime, Status
from lastword.core.entries import Result
from lastword.engines.pydantic_ai import PydanticAI
from lastword.testing.provider import Answer, Call, Request, Say
from tests.engines.inside import strict
from tests.engines.wire import FORMATS

pytestmark = pytest.mark.parametrize("format", FORMATS)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 8, 8) + bytes(184)
WIDE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 9000, 8) + bytes(184)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


FILES = [
    Attachment("application/zip", encoded(b"PK\x03\x04"), name="all.zip"),
    Attachment("audio/ogg; codecs=opus", encoded(b"OggS"), name="voice.ogg"),
    Attachment("audio/wav", encoded(b"RIFF\0\0\0\0WAVEfmt "), name="voice.wav"),
    Attachment("video/mp4", encoded(b"\0\0\0\x18ftyp"), name="clip.mp4"),
    Attachment("application/octet-stream", encoded(b"\0\1"), name="raw.bin"),
    Attachment(
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        encoded(b"PK\x03\x04docx"),
        name="letter.docx",
    ),
    Attachment("image/svg+xml", encoded(b"<svg/>"), name="drawing.svg"),
    Attachment("image/heic", encoded(b"\0\0\0\x18ftypheic"), name="photo.heic"),
    Attachment("image/png", encoded(b"not a picture"), name="broken.png"),
    Attachment("image/png", "not base64!", name="garbled.png"),
    Attachment("image/png", name="empty.png"),
    Attachment("image/png", uri="file:///etc/picture.png", name="local.png"),
    Attachment("application/pdf", encoded(b"not a document"), name="broken.pdf"),
    Attachment("application/json", encoded(b"\xff\xfe"), name="no.json"),
    Attachment("image/gif", encoded(b"GIF89a" + bytes(4_000_000)), name="huge.gif"),
    Attachment("image/png", encoded(WIDE), name="panorama.png"),
    Attachment("", encoded(b"?"), name="of.nothing"),
]


@pytest.mark.scenario("E1", part="agent")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
async def test_a_file_that_no_model_takes_is_shown_by_name(format: str, file: Attachment) -> None:
    async with strict(format) as (model, provider), Runtime(PydanticAI(Agent(model))) as r:
        session = r.session("s")
        for text, files in (("look", [file]), ("and now?", [])):
            ticket = await session.send(text, attachments=files)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert provider.refused == []
    assert all(file.name in str(request.messages) for request in provider.requests)


@pytest.mark.scenario("E1", part="agent")
@pytest.mark.parametrize(
    ("kind", "data", "shown"),
    [
        ("image/png", PNG, encoded(PNG)),
        ("image/PNG", PNG, encoded(PNG)),
        ("image/jpg", b"\xff\xd8\xff" + bytes(50), "image/jpeg"),
        ("application/pdf", b"%PDF-1.7 and more", encoded(b"%PDF-1.7 and more")),
        ("application/json", b'{"a": 1}', "a"),
        ("text/csv", b"a,b", "a,b"),
    ],
)
async def test_a_file_that_a_model_takes_is_sent(
    format: str, kind: str, data: bytes, shown: str
) -> None:
    text = kind.startswith("text/")
    file = Attachment(kind, data.decode() if text else encoded(data), name="a.file")
    async with strict(format) as (model, provider), Runtime(PydanticAI(Agent(model))) as r:
        ticket = await r.session("s").send("look", attachments=[file])
        assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert provider.refused == []
    assert shown in json.dumps(provider.requests[0].messages)
    assert "is not shown" not in str(provider.requests[0].messages)


@pytest.mark.scenario("E1", part="agent")
async def test_a_file_that_a_tool_gives_and_no_model_takes_is_shown_by_name(format: str) -> None:
    files = [BinaryContent(b"PK", media_type="application/zip"), BinaryContent(b"?", media_type="")]

    def give() -> Any:
        return ToolReturn("two files", content=["here", *files])

    async with strict(format, once("give")) as (model, provider):
        agent = Agent(model, tools=[give])
        await asked(agent, "go", "and now?")

    assert provider.refused == []
    assert "application/zip (2 bytes) is not shown" in str(provider.requests[1].messages)


@pytest.mark.scenario("E2", part="agent")
@pytest.mark.parametrize(
    "name", ["multi_tool_use.parallel", "functions.act", " ", "a" * 200, "ü", "a b"]
)
async def test_a_tool_that_nobody_has_is_a_clear_error_and_later_turns_work(
    format: str, name: str
) -> None:
    async with strict(format, once(name)) as (model, provider):

        def act() -> str:
            return "acted"

        results = await asked(Agent(model, tools=[act]), "go", "and now?")

    assert provider.refused == []
    assert results[0].status == Status.NOT_STARTED
    assert "Unknown tool name" in results[0].content
    assert "'act'" in results[0].content
    assert "Unknown tool name" in str(provider.requests[1].messages)


@pytest.mark.scenario("E2", part="agent")
async def test_arguments_that_are_none_are_given_back_as_some(format: str) -> None:
    def script(request: Request) -> Answer | str:
        return "done" if request.results else Answer(Call("act", raw="[1, 2"))

    async with strict(format, script) as (model, provider):

        def act(path: str) -> str:
            return path

        results = await asked(Agent(model, tools=[act]), "go", "and now?")

    assert provider.refused == []
    assert {result.status for result in results} == {Status.NOT_STARTED}


@pytest.mark.scenario("E3", part="agent")
@pytest.mark.parametrize("text", ["", " ", "\n\t"])
async def test_a_blank_caption_is_left_out(format: str, text: str) -> None:
    file = Attachment("image/png", encoded(PNG), name="p.png")
    async with strict(format) as (model, provider), Runtime(PydanticAI(Agent(model))) as r:
        session = r.session("s")
        for files in ([file], []):
            ticket = await session.send(text or " ", attachments=files)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert provider.refused == []


@pytest.mark.scenario("E3", part="agent")
async def test_a_blank_steer_and_a_blank_result_are_no_reason_to_fail(format: str) -> None:
    async with strict(format, once("act")) as (model, provider):

        async def act() -> str:
            await session.send(" ", on_message="steer")
            return "  "

        engine = PydanticAI(Agent(model, tools=[act]))
        async with Runtime(engine) as r:
            session = r.session("s")
            for text in ("go", "and now?"):
                ticket = await session.send(text)
                assert await ticket.outcome() == Outcome.COMPLETED, ticket.error

    assert provider.refused == []
    assert len(provider.requests) == 3


@pytest.mark.scenario("E3", part="agent")
async def test_a_blank_text_of_the_model_s_is_not_given_back(format: str) -> None:
    def script(request: Request) -> Answer | str:
        return "done" if request.results else Answer(Say(" \n"), Call("act", {}))

    async with strict(format, script) as (model, provider):

        def act() -> str:
            return "acted"

        await asked(Agent(model, tools=[act]), "go", "and now?")

    assert provider.refused == []


@pytest.mark.scenario("E6", part="agent")
async def test_a_picture_is_told_once_as_what_it_is_and_never_as_letters(format: str) -> None:
    picture = BinaryContent(PNG * 100, media_type="image/png")

    def alone() -> Any:
        return picture

    def inside() -> Any:
        return {"of": "a cat", "picture": picture, "more": [PNG * 100]}

    def beside() -> Any:
        return ToolReturn("a cat", content=["what it looks like:", picture])

    async with strict(format, once("alone", "inside", "beside")) as (model, provider):
        agent = Agent(model, tools=[alone, inside, beside])
        results = await asked(agent, "go", "and now?")

    assert provider.refused == []
    assert [result.content for result in results] == [
        "[image/png, 20800 bytes]",
        '{"of":"a cat","picture":"[image/png, 20800 bytes]","more":["[20800 bytes]"]}',
        "a cat\nwhat it looks like:\n[image/png, 20800 bytes]",
    ]
    later = json.dumps(provider.requests[-1].messages)
    assert len(later) < 5_000
    assert "what it looks like:" in later


@pytest.mark.scenario("E6", part="agent")
async def test_a_retry_is_told_in_its_own_words(format: str) -> None:
    tried: list[int] = []

    def act() -> str:
        tried.append(1)
        if len(tried) == 1:
            raise ModelRetry("again, with feeling")
        return "acted"

    def script(request: Request) -> Answer | str:
        return "done" if "acted" in request.results else Answer(Call("act", {}))

    async with strict(format, script) as (model, provider):
        results = await asked(Agent(model, tools=[act]), "go")

    assert provider.refused == []
    assert [(one.content, one.error) for one in results] == [
        ("again, with feeling", True),
        ("acted", False),
    ]


def once(*names: str) -> Any:
    """A model that calls these tools in its first answer."""

    def script(request: Request) -> Answer | str:
        if request.results or request.number > 0:
            return "done"
        return Answer(*(Call(name, {}) for name in names))

    return script


async def asked(agent: Agent[Any, Any], *texts: str) -> list[Result]:
    """Say these to it, each of which is answered; what became of the calls that it made."""
    async with Runtime(PydanticAI(agent)) as r:
        session = r.session("s")
        for text in texts:
            ticket = await session.send(text)
            assert await ticket.outcome() == Outcome.COMPLETED, ticket.error
        return [entry for entry in await session.log() if isinstance(entry, Result)]
