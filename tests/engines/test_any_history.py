"""E8. Whatever the runtime can write into a log, strict providers take what is shown of it."""

import asyncio
import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai.direct import model_request
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from lastword.core.brief import NOTED
from lastword.core.entries import (
    Began,
    Called,
    Entry,
    Finished,
    LeftOut,
    Native,
    Note,
    Part,
    Result,
    Said,
    Summary,
    Text,
    Thinking,
)
from lastword.core.model import (
    Attachment,
    CallId,
    Generation,
    Message,
    MessageId,
    Outcome,
    RunId,
    Status,
)
from lastword.core.repair import ALONE, less, without
from lastword.core.shown import Shown
from lastword.core.transcript import Transcript, build
from lastword.engines.pydantic_ai.history import messages_of
from lastword.engines.pydantic_ai.sendable import sendable
from lastword.testing.provider.marks import sign
from tests.engines.inside import strict
from tests.engines.test_refused import FILES, PNG
from tests.engines.wire import FORMATS

WORDS = st.one_of(
    st.sampled_from(["", " ", "\n\t", "hello", "\x00", "[", "ü" * 300]), st.text(max_size=20)
)
NAMES = st.one_of(
    st.sampled_from(["act", "multi_tool_use.parallel", "functions.act", "", " ", "a" * 200, "é"]),
    st.text(max_size=80),
)
NUMBERS = st.builds("{}e{}".format, st.integers(-9, 9), st.integers(-999, 999))
ARGUMENTS = st.one_of(
    st.sampled_from(["", "{}", "[1]", '{"a": 1}', "{", "null", '{"a": NaN}', "x" * 99]),
    NUMBERS.map('{{"a": [{}]}}'.format),
    st.text(max_size=10),
)
DATA = st.one_of(
    st.sampled_from([b"", PNG, b"%PDF-1", b"PK", b"\xff\xd8\xff", b"RIFF1234WEBP", b"GIF89a"]),
    st.binary(max_size=30),
)
PICTURES = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"]
OTHERS = ["application/pdf", "application/json", "audio/wav", "audio/mpeg", "video/mp4", "", "?"]
ADDRESSES = ["", "https://a.b/c.png", "file:///x", "http://a/b"]


@st.composite
def files(draw: st.DrawFn) -> Attachment:
    """A file of any kind, which may be another than it says."""
    kind = draw(st.sampled_from([*PICTURES, *OTHERS, "text/plain", "a/b; c=d"]))
    data = draw(DATA)
    text = data.decode("latin-1") if kind == "text/plain" else base64.b64encode(data).decode()
    return Attachment(kind, text, draw(st.sampled_from(ADDRESSES)), draw(WORDS))


FILE = st.one_of(st.sampled_from(FILES), files())
IDS = st.sampled_from(["call_1", "toolu_1", "a|b", "x" * 90, ""])  # as providers give them


PARTS: tuple[Part, ...] = get_args(Part)


def native(**kept: object) -> Native:
    return Native("pydantic-ai", json.dumps(kept))


@st.composite
def batches(draw: st.DrawFn, run: RunId, step: int, provider: str) -> list[Entry]:
    """What a model asked for in one go, and what became of some of it."""
    calls = [CallId(f"{run}.{step}.{one}") for one in range(draw(st.integers(1, 3)))]
    log: list[Entry] = []
    for call in calls:
        given = {"tool_call_id": draw(IDS), "provider_name": provider}
        own = native(**given) if draw(st.booleans()) else None
        log.append(Called(run, call, draw(NAMES), draw(ARGUMENTS), "", own))
    status = st.sampled_from([one for one in Status if one is not Status.INTENDED])
    settled = draw(st.lists(st.sampled_from(calls), unique=True))
    return log + [
        Result(run, call, draw(status), draw(WORDS), draw(st.booleans())) for call in settled
    ]


@st.composite
def turns(draw: st.DrawFn, format: str, number: int) -> list[Entry]:
    """One turn, which may end in any way, or not at all."""
    run = RunId(f"s#{number}")
    provider = "anthropic" if format == "anthropic" else "openai"
    message = Message(
        MessageId(f"m{number}"), draw(WORDS), attachments=tuple(draw(st.lists(FILE, max_size=2)))
    )
    log: list[Entry] = [Said(message, run)]
    if draw(st.integers(0, 9)):
        log.append(Began(run, Generation(number), (message.id,)))
    for step in range(draw(st.integers(0, 4))):
        match draw(st.sampled_from(["text", "thinking", "calls", "note"])):
            case "text":
                log.append(Text(run, draw(WORDS)))
            case "thinking":
                thought = draw(st.text(min_size=1, max_size=9))
                own = native(signature=sign(thought), provider_name=provider)
                log.append(Thinking(run, thought, own if format == "anthropic" else None))
            case "note":
                log.append(Note(draw(st.sampled_from([run, None])), draw(WORDS)))
            case _:
                log += draw(batches(run, step, provider))
    if draw(st.integers(0, 5)):
        end = draw(st.one_of(st.just(Outcome.COMPLETED), st.sampled_from(Outcome)))
        log.append(
            Finished(
                run,
                end,
                (message.id,),
                started=True,
                rollback=not draw(st.integers(0, 5)),
                error=draw(WORDS),
                kind=draw(WORDS),
            )
        )
    return log


@st.composite
def logs(draw: st.DrawFn, format: str) -> list[Entry]:
    """A log, cut anywhere, and the message that is to be answered next."""
    number = draw(st.integers(1, 4))
    log: list[Entry] = []
    for one in range(1, number + 1):
        log += draw(turns(format, one))
        if not draw(st.integers(0, 4)):
            part: Part = draw(st.sampled_from(PARTS))
            of = draw(st.sampled_from([RunId(f"s#{one}"), ALONE]))
            log.append(LeftOut(RunId(f"s#{one}"), of, part, "so it is"))
        if not draw(st.integers(0, 9)):
            log.append(Summary(draw(WORDS), RunId(f"s#{one}")))
    log = log[draw(st.integers(0, 3)) : draw(st.integers(1, len(log)))]
    last = Message(
        MessageId("last"), draw(WORDS), attachments=tuple(draw(st.lists(FILE, max_size=2)))
    )
    run = RunId("s#last")
    return [*log, Said(last, run), Began(run, Generation(99), (last.id,))]


TOOLS = ModelRequestParameters(
    function_tools=[
        ToolDefinition(name="act", parameters_json_schema={"type": "object", "properties": {}})
    ]
)


async def refused(format: str, log: Sequence[Entry]) -> list[str]:
    """What a strict provider says to what is shown of such a log."""
    async with strict(format) as (model, provider):
        messages = sendable(messages_of(build(log), model), model)
        await model_request(model, messages, model_request_parameters=TOOLS)
        return provider.refused


@pytest.mark.scenario("E8", part="agent")
@pytest.mark.parametrize("format", FORMATS)
def test_any_history_is_taken(format: str) -> None:
    with asyncio.Runner() as runner:

        @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(logs(format))
        def taken(log: list[Entry]) -> None:
            assert runner.run(refused(format, log)) == []

        taken()


WORD = "badword"
LONG = "x" * 20_000


def poisoned(entry: Entry, word: str) -> Entry:
    """The same, with the word wherever somebody could have said it."""
    match entry:
        case Note(_, text) | Summary(text) | Text(_, text):
            return replace(entry, text=text + word)
        case Called():
            return replace(entry, name=f"{entry.name} {word}", arguments=entry.arguments + word)
        case Result():
            return replace(entry, content=entry.content + word)
        case Finished():
            return replace(entry, error=word, kind=word)
        case Said(message, run):
            return Said(replace(message, text=message.text + word), run)
        case _:
            return entry


def steps(live: Transcript) -> Iterator[Sequence[Shown]]:
    """What is shown, and with less and less of it."""
    history: Sequence[Shown] = tuple(live.shown())
    yield history
    while left := less(history, live.suspects(), RunId("s#last")):
        history = without(history, left)
        yield history


@pytest.mark.scenario("E17", part="agent")
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(logs("chat"))
def test_whoever_said_a_word_it_can_be_left_out_but_for_the_last_words(log: list[Entry]) -> None:
    live = Transcript()
    live.add(*(poisoned(entry, WORD) for entry in log[:-2]), *log[-2:])
    *_, history = steps(live)

    assert WORD not in str(messages_of(history))
    last = log[-2]
    assert isinstance(last, Said)
    assert history[-1].message is not None
    assert history[-1].message.text == last.message.text


@pytest.mark.scenario("E17", part="agent")
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(logs("chat"))
def test_whatever_was_said_no_note_of_it_is_endless(log: list[Entry]) -> None:
    live = Transcript()
    live.add(*(poisoned(entry, LONG) for entry in log[:-2]), *log[-2:])
    assert all(len(item.text) <= NOTED for item in live.shown() if item.role == "note")
