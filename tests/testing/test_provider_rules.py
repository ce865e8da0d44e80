"""Every rule of the strict judge: what breaks it has its code, what keeps it is taken."""

import asyncio
import json
from http.client import HTTPConnection
from random import Random
from typing import Any, cast

import pytest

from lastword.testing.provider import RULES, Format, Provider, judge
from tests.testing.breaches_anthropic import ANTHROPIC, asked, called
from tests.testing.breaches_gemini import GEMINI
from tests.testing.breaches_openai import MB, OPENAI, Made, chat, many, responses
from tests.testing.histories import (
    MP4,
    OGG,
    PDF,
    ZIP,
    chat_file,
    chat_image,
    document,
    fc,
    fco,
    image,
    input_file,
    input_image,
    png,
    text,
    use,
    used,
    user,
)

BREACHES = OPENAI | ANTHROPIC | GEMINI
PATHS = {"chat": "chat/completions", "responses": "responses", "anthropic": "messages"}
PATHS["gemini"] = "models/scripted:generateContent"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def codes(format: Format, made: Made) -> set[str]:
    return {offence.code for offence in judge(format, made())}


def refused(format: Format, made: Made) -> set[str]:
    return {one.code for one in judge(format, made()) if one.severity == "refused"}


async def posted(provider: Provider, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Sent as it is, by no client that would mend it; the status, and what came back."""

    def send() -> tuple[int, dict[str, Any]]:
        connection = HTTPConnection(provider.url.removeprefix("http://"))
        try:
            connection.request("POST", f"/v1/{path}", json.dumps(body).encode())
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    return await asyncio.to_thread(send)


def test_there_is_a_case_for_each_rule() -> None:
    assert set(BREACHES) == set(RULES)
    assert all(rule.source for rule in RULES.values())


@pytest.mark.parametrize("code", BREACHES)
def test_a_rule_that_is_broken_is_named(code: str) -> None:
    spoken, broken, _ = BREACHES[code]

    assert code in codes(spoken, broken)


@pytest.mark.parametrize("code", BREACHES)
def test_what_keeps_a_rule_is_taken(code: str) -> None:
    spoken, _, kept = BREACHES[code]

    assert code not in codes(spoken, kept)
    assert refused(spoken, kept) == set()


@pytest.mark.parametrize("code", BREACHES)
async def test_a_breach_is_answered_as_its_provider_does(code: str) -> None:
    spoken, broken, _ = BREACHES[code]
    async with Provider() as provider:
        provider.say("well")
        status, answer = await posted(provider, PATHS[spoken], broken())

    found = provider.offences
    assert code in {offence.code for offence in found}
    if RULES[code].severity == "advice":
        assert status == 200
        assert provider.refused == []
        return
    first = next(one for one in found if one.severity == "refused")
    error = answer["error"]
    assert status == first.rule.status
    assert (error["message"], provider.requests[0].refused) == (first.message, first.message)
    if spoken == "anthropic":
        kind = "request_too_large" if status == 413 else "invalid_request_error"
        assert (answer["type"], error["type"]) == ("error", kind)
    elif spoken == "gemini":
        assert (error["code"], error["status"]) == (status, "INVALID_ARGUMENT")
    else:
        assert error["type"] == "invalid_request_error"
        assert (error["param"], error["code"]) == (first.at, first.rule.kind)


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("application/zip", ZIP),
        ("audio/ogg", OGG),
        ("video/mp4", MP4),
        ("application/octet-stream", b"\0\1"),
    ],
)
def test_a_file_that_no_model_takes_is_refused_wherever_it_stands(
    media_type: str, data: bytes
) -> None:
    assert refused("chat", chat(user([chat_file(data, media_type)]))) == {"chat.file_type"}
    assert refused("chat", chat(user([chat_image(data, media_type)]))) == {"openai.image_type"}
    part = input_file(data, media_type)
    assert refused("responses", responses(user([part]))) == {"responses.file_type"}
    assert refused("responses", responses(user(), fc(), fco(output=[part]))) == {
        "responses.file_type"
    }
    assert refused("responses", responses(user([input_image(data, media_type)]))) == {
        "openai.image_type"
    }
    assert refused("anthropic", asked(user([document(data, media_type)]))) == {
        "anthropic.document_type"
    }
    inside = used(content=[image(data, media_type)])
    assert refused("anthropic", called(use(), answers=[inside])) == {"anthropic.image_type"}


@pytest.mark.parametrize("media_type", [DOCX, "application/json", "text/csv"])
def test_a_document_is_taken_by_responses_alone(media_type: str) -> None:
    assert refused("responses", responses(user([input_file(b"x", media_type)]))) == set()
    assert refused("chat", chat(user([chat_file(b"x", media_type)]))) == {"chat.file_type"}
    block = document(b"x", media_type)
    assert refused("anthropic", asked(user([block]))) == {"anthropic.document_type"}


def test_a_pdf_is_taken_by_all() -> None:
    assert refused("chat", chat(user([chat_file(PDF, "application/pdf")]))) == set()
    assert refused("responses", responses(user([input_file(PDF, "application/pdf")]))) == set()
    assert refused("anthropic", asked(user([document(PDF)]))) == set()


@pytest.mark.parametrize("name", ["multi_tool_use.parallel", "functions.act", "", " ", "x" * 200])
def test_a_name_that_no_tool_can_have_is_refused_in_the_history_and_where_it_is_defined(
    name: str,
) -> None:
    one = {"type": "function", "name": name}
    history = responses(user(), fc() | {"name": name}, fco())
    assert refused("responses", history) == {"openai.tool_name"}
    assert refused("responses", responses(user(), tools=[one])) == {"openai.tool_name"}
    assert refused("chat", chat(user(), tools=[{"type": "function", "function": one}])) == {
        "openai.tool_name"
    }
    assert refused("anthropic", called(use(name=name))) == {"anthropic.tool_name"}
    defined = {"name": name, "input_schema": {"type": "object"}}
    assert refused("anthropic", asked(user(), tools=[defined])) == {"anthropic.tool_name"}


def test_a_tool_that_the_provider_runs_itself_has_no_schema_of_ours() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    assert codes("anthropic", asked(user(), tools=[search])) == set()
    assert codes("responses", responses(user(), tools=[{"type": "web_search"}])) == set()


def test_more_images_than_twenty_are_held_to_fewer_pixels() -> None:
    wide = image(png(2001, 10))
    assert refused("anthropic", asked(user([wide] * 20))) == set()
    assert refused("anthropic", asked(user([wide] * 21))) == {"anthropic.image_too_wide"}
    assert refused("chat", many(lambda: chat_image(png(2001, 10)), 21)) == set()


def test_a_system_prompt_may_be_left_empty_but_has_no_blank_block() -> None:
    assert codes("anthropic", asked(user(), system="")) == set()
    assert codes("anthropic", asked(user(), system=[text("be good")])) == set()
    assert refused("anthropic", asked(user(), system=[text(" ")])) == {"anthropic.blank_text"}


def test_a_budget_for_thinking_fits_and_adaptive_thinking_has_none() -> None:
    def thinks(budget: int | None, kind: str, model: str = "claude-sonnet-4-5") -> set[str]:
        config = {"type": kind} | ({} if budget is None else {"budget_tokens": budget})
        return refused("anthropic", asked(user(), thinking=config, max_tokens=2048, model=model))

    wrong = {"anthropic.thinking_config"}
    assert thinks(1024, "enabled") == thinks(None, "adaptive") == thinks(None, "disabled") == set()
    assert thinks(1023, "enabled") == thinks(2048, "enabled") == thinks(None, "enabled") == wrong
    assert thinks(1024, "adaptive") == wrong
    assert thinks(1024, "enabled", "claude-opus-5") == wrong


async def test_what_is_too_large_for_a_request_is_answered_with_413() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [user([image(png(size=25 * MB))])]}
    async with Provider() as provider:
        status, answer = await posted(provider, "messages", body)

    assert status == 413
    assert answer["error"]["type"] == "request_too_large"
    assert provider.offences[0].code == "anthropic.too_large"


def mutated(node: Any, chance: Random) -> Any:
    """The same, with something else in one place or another."""
    if chance.random() < 0.05:
        return chance.choice([None, 0, "", "x", [], {}, [None], {"type": None}, True, 1.5])
    if isinstance(node, dict):
        entries = cast("dict[str, Any]", node).items()
        return {key: mutated(value, chance) for key, value in entries if chance.random() > 0.02}
    if isinstance(node, list):
        return [mutated(one, chance) for one in cast("list[Any]", node)]
    return node


@pytest.mark.parametrize("seed", range(20))
def test_a_request_of_any_shape_is_judged(seed: int) -> None:
    chance = Random(seed)
    small = [breach for code, breach in BREACHES.items() if "too_" not in code]
    for spoken, *made in small:
        for one in made:
            for found in judge(spoken, mutated(one(), chance)):
                assert found.code in RULES
                assert found.message
