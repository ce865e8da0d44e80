"""E8, E28. Any history in the words of each provider, as plain dicts, is taken by a strict one."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings

from lastword.core.entries import Began, Called, Entry, Finished, Result, Said, Text, Thinking
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
from lastword.core.shown import WORDLESS, Shown
from lastword.core.transcript import build
from lastword.engines import anthropic_messages, openai_input, openai_messages
from lastword.engines.kit.anthropic import ANTHROPIC
from lastword.engines.kit.chat import CHAT
from lastword.engines.kit.responses import RESPONSES
from lastword.engines.kit.wire import native
from lastword.testing.provider import Format, judge
from lastword.testing.provider.marks import sign
from lastword.testing.provider.strict import first_refused
from tests.engines.test_any_history import logs
from tests.engines.test_refused import PNG
from tests.engines.wire import FORMATS

Words = Callable[[Sequence[Shown]], list[dict[str, Any]]]
WORDS: dict[str, Words] = {
    "chat": openai_messages,
    "responses": openai_input,
    "anthropic": anthropic_messages,
}
WHOSE = {"chat": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
TOOL: dict[str, dict[str, Any]] = {
    "chat": {"type": "function", "function": {"name": "act", "parameters": SCHEMA}},
    "responses": {"type": "function", "name": "act", "parameters": SCHEMA},
    "anthropic": {"name": "act", "input_schema": SCHEMA},
}
MODEL = {"chat": "gpt-5", "responses": "gpt-5", "anthropic": "claude-opus-4-8"}


def refused(format: str, history: Sequence[Shown]) -> str:
    """What a strict provider says to it."""
    body: dict[str, Any] = {"model": MODEL[format], "tools": [TOOL[format]]}
    body["input" if format == "responses" else "messages"] = WORDS[format](history)
    body |= {"max_tokens": 100} if format == "anthropic" else {}
    body |= {"store": False} if format == "responses" else {}
    json.dumps(body)
    wrong = first_refused(judge(cast("Format", format), body))
    return wrong.message if wrong else ""


def sealed(log: Sequence[Entry], format: str) -> list[Entry]:
    """The same log, with what the provider of this format wants back in place of another's."""
    return [_sealed(entry, format, number) for number, entry in enumerate(log)]


def _sealed(entry: Entry, format: str, number: int) -> Entry:
    whose, again = WHOSE[format], number % 7  # some ids come twice
    match entry:
        case Called(native=own) if own:
            kept = {"call_id": json.loads(own.data)["tool_call_id"], "id": f"fc_{again}"}
            return replace(entry, native=native(whose, **kept))
        case Text() if format == "responses":
            return replace(entry, native=native(whose, id=f"msg_{again}"))
        case Thinking(text=text) if format == "anthropic":
            block = {"type": "thinking", "thinking": text, "signature": sign(text)}
            return replace(entry, native=native(whose, block=block))
        case Thinking() if format == "responses":
            item: dict[str, Any] = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
            item["encrypted_content"] = "x"
            return replace(entry, native=native(whose, id=item["id"], item=item))
        case _:
            return entry


@pytest.mark.scenario("E28")
@pytest.mark.parametrize("own", [False, True], ids=["another", "own"])
@pytest.mark.parametrize("format", FORMATS)
def test_any_history_is_taken_as_plain_dicts(format: str, own: bool) -> None:
    @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(logs(format))
    def taken(log: list[Entry]) -> None:
        assert refused(format, build(sealed(log, format) if own else log)) == ""

    taken()


def a_turn(format: str, end: Outcome) -> list[Entry]:
    """Thought, said and called; and then somebody says something else."""
    run, next_, call = RunId("s#1"), RunId("s#2"), CallId("c")
    said, then = Message(MessageId("m1"), "look"), Message(MessageId("m2"), "and?")
    log: list[Entry] = [
        Said(said, run),
        Began(run, Generation(1), (said.id,)),
        Thinking(run, "hm", native("pydantic-ai", signature="x")),
        Text(run, "I look."),
        Called(
            run, CallId("c"), "look", '{"at": 1}', native=native("pydantic-ai", tool_call_id="t1")
        ),
        Result(run, call, Status.COMPLETED, "a cat"),
        Text(run, "A cat."),
        Finished(run, end, (said.id,), started=True),
        Said(then, next_),
        Began(next_, Generation(2), (then.id,)),
    ]
    return sealed(log, format)


@pytest.mark.scenario("E28")
@pytest.mark.parametrize("format", FORMATS)
def test_what_a_provider_gave_is_given_back_to_it_alone(format: str) -> None:
    history = build(a_turn(format, Outcome.COMPLETED))

    own = json.dumps(WORDS[format](history))
    others = json.dumps(cast("Any", WORDS[format])(history, whose="somebody else"))

    assert '"t1"' in own
    assert '"t1"' not in others
    if format != "chat":
        kept = "rs_2" if format == "responses" else sign("hm")
        assert kept in own
        assert kept not in others


@pytest.mark.scenario("E28")
@pytest.mark.parametrize("format", FORMATS)
def test_of_a_turn_that_was_cut_nothing_native_is_given_back_and_the_reason_is_told(
    format: str,
) -> None:
    history = build(a_turn(format, Outcome.STOPPED))

    shown = json.dumps(WORDS[format](history))

    assert refused(format, history) == ""
    assert '"t1"' not in shown
    assert "[The person stopped this answer here." in shown


def the_last(format: str, *files: Attachment, text: str = "see") -> Any:
    message = Message(MessageId("m"), text, attachments=files)
    return WORDS[format]([Shown("user", text, message=message)])[-1]["content"]


@pytest.mark.scenario("E28")
@pytest.mark.parametrize("format", FORMATS)
def test_a_picture_is_sent_and_what_cannot_be_is_named(format: str) -> None:

    picture = Attachment("image/png", base64.b64encode(PNG).decode(), name="cat.png")
    video = Attachment("video/mp4", base64.b64encode(b"\0\0\0 ftyp").decode(), name="cat.mp4")
    linked = Attachment("image/png", uri="https://a.b/c.png")

    said, sent, named, link = the_last(format, picture, video, linked)

    assert said["text"] == "see"
    assert picture.data in json.dumps(sent)
    assert named["text"] == "[cat.mp4 (video/mp4, 8 bytes) is not shown: this model cannot read it]"
    assert "https://a.b/c.png" in json.dumps(link)


@pytest.mark.scenario("E28")
def test_without_files_every_content_is_a_text_and_what_came_is_named() -> None:
    picture = Attachment("image/png", base64.b64encode(PNG).decode(), name="cat.png")
    linked = Attachment("image/png", uri="https://a.b/c.png")
    message = Message(MessageId("m"), "see", attachments=(picture, linked))

    [said] = openai_messages([Shown("user", "see", message=message)], files=False)

    named = f"[cat.png (image/png, {len(PNG)} bytes) is not shown: this model cannot read it]"
    assert said["content"] == f"see\n\n{named}\n\n[https://a.b/c.png]"


@pytest.mark.scenario("E28")
@pytest.mark.parametrize("format", FORMATS)
def test_a_message_without_words_says_so_and_lastword_speaks_in_brackets(format: str) -> None:
    blank = the_last(format, text=" ")
    note = WORDS[format]([Shown("note", "It was stopped.")])[-1]["content"]

    assert WORDLESS in json.dumps(blank)
    assert "[It was stopped.]" in json.dumps(note)


@pytest.mark.scenario("E28")
def test_a_long_id_is_replaced() -> None:
    long = native(CHAT, call_id="c" * 41)
    call = Shown("call", "{}", CallId("s#1.1"), "look", native=long)
    result = Shown("result", "a cat", CallId("s#1.1"), "look")

    said, answered = openai_messages([call, result])

    assert len(said["tool_calls"][0]["id"]) <= 40
    assert answered["tool_call_id"] == said["tool_calls"][0]["id"]


@pytest.mark.scenario("E28")
@pytest.mark.parametrize("format", FORMATS)
def test_an_id_that_a_provider_gave_twice_stands_for_one_thing(format: str) -> None:
    again = native(WHOSE[format], call_id="c1", id="fc_1")
    said = native(WHOSE[format], id="msg_1")
    history = [Shown("user", "look")]
    for number in range(2):
        call = CallId(f"s#1.{number}")
        history.append(Shown("assistant", "I look.", native=said))
        history.append(Shown("call", "{}", call, "look", native=again))
        history.append(Shown("result", "a cat", call, "look"))

    assert refused(format, history) == ""
