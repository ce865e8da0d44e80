"""The strict judge: each rule refuses what breaks it, and takes what keeps it."""

from typing import Any

import openai
import pytest
from anthropic import AsyncAnthropic, BadRequestError
from openai import AsyncOpenAI

from lastword.testing.provider import Call, Format, Provider, Refused, Say, Think, check, refusal
from lastword.testing.provider.marks import seal
from tests.testing.histories import (
    FC,
    MARKS,
    MSG,
    RS,
    body,
    call,
    calls,
    chat_image,
    fc,
    fco,
    image,
    png,
    reasoning,
    result,
    said,
    text,
    thought,
    use,
    used,
    user,
)

CHAT_GOOD: dict[str, list[Any]] = {
    "one message": [user()],
    "system and developer first": [
        {"role": "system", "content": "be good"},
        {"role": "developer", "content": "be quick"},
        user(),
    ],
    "parts": [user([text(), chat_image(png())])],
    "two of the user's": [user(), user()],
    "a result is last": [user(), calls(call()), result()],
    "parallel calls": [user(), calls(call("a"), call("b")), result("b"), result("a"), user()],
    "text beside a call": [user(), said("so", tool_calls=[call()]), result(), said(), user()],
    "an empty result": [user(), calls(call()), result(content="")],
    "an id of 40": [user(), calls(call("x" * 40)), result("x" * 40)],
}
CHAT_BAD: dict[str, tuple[list[Any], str]] = {
    "nothing": ([], "messages is empty"),
    "assistant first": ([said(), user()], "first message"),
    "system only": ([{"role": "system", "content": "x"}], "first message"),
    "assistant last": ([user(), said()], "last message"),
    "a role unknown": ([user(), {"role": "robot", "content": "x"}, user()], "no role 'robot'"),
    "empty text": ([user(), said(""), user()], "assistant is empty"),
    "no content": ([user(), said(None), user()], "assistant is empty"),
    "empty user": ([user("")], "user is empty"),
    "no parts": ([user([])], "user is empty"),
    "an empty part": ([user([text(), text("")])], "a text of the user is empty"),
    "empty text beside a call": ([user(), said("", tool_calls=[call()]), result()], "is empty"),
    "no calls in the list": ([user(), said(tool_calls=[]), user()], "tool calls is empty"),
    "no result": ([user(), calls(call()), user()], "without a result"),
    "one of two results": ([user(), calls(call("a"), call("b")), result("a")], "without a result"),
    "two results": ([user(), calls(call()), result(), result()], "nobody waits for"),
    "an orphan": ([user(), result()], "nobody waits for"),
    "a late result": ([user(), calls(call()), user(), result()], "without a result"),
    "an id too long": ([user(), calls(call("x" * 41)), result("x" * 41)], "at most 40"),
    "an empty id": ([user(), calls(call("")), result("")], "at most 40"),
    "an id twice": ([user(), *[calls(call()), result()] * 2], "two tool calls have the id"),
    "broken arguments": ([user(), calls(call(arguments='{"a')), result()], "not a JSON object"),
    "no object": ([user(), calls(call(arguments="[]")), result()], "not a JSON object"),
    "arguments no string": ([user(), calls(call(arguments={})), result()], "not a string"),
    "a name": ([user(), calls(call(name="no spaces")), result()], "no name of a function"),
    "malformed": ([user(), {"content": "x"}], "malformed"),
}
RESPONSES_GOOD: dict[str, Any] = {
    "a string": "hi",
    "one message": [user()],
    "typed": [{"type": "message", **user([{"type": "input_text", "text": "x"}])}],
    "system first": [{"role": "system", "content": "be good"}, user()],
    "a call": [user(), fc(), fco()],
    "parallel calls": [user(), fc("a"), fc("b"), fco("b"), fco("a"), user()],
    "text behind a call": [user(), fc(), said(), fco()],
    "reasoning with its item": [user(), reasoning(), fc(id=FC), fco()],
    "two reasonings": [user(), reasoning("rs_1"), reasoning("rs_2"), said(), user()],
    "a strange reasoning": [user(), reasoning("rs_1"), fc(), fco()],
    "sealed": [user(), reasoning(encrypted_content=seal(RS)), said(), user()],
    "output text": [user(), said([{"type": "output_text", "text": "x"}], id="msg_1"), user()],
}
RESPONSES_BAD: dict[str, tuple[Any, str]] = {
    "an empty string": ("", "input is empty"),
    "nothing": ([], "input is empty"),
    "assistant first": ([said(), user()], "first item"),
    "assistant last": ([user(), said()], "last item"),
    "a call last": ([user(), fc()], "last item"),
    "empty text": ([user(), said(""), user()], "assistant is empty"),
    "no output": ([user(), fc(), user()], "no tool output found"),
    "one of two outputs": ([user(), fc("a"), fc("b"), fco("a")], "no tool output found"),
    "two outputs": ([user(), fc(), fco(), fco()], "no tool call found"),
    "an orphan": ([user(), fco()], "no tool call found"),
    "output before call": ([user(), fco(), fc(), user()], "no tool call found"),
    "broken arguments": ([user(), fc(arguments='{"a'), fco()], "not a JSON object"),
    "arguments no string": ([user(), fc(arguments={}), fco()], "not a string"),
    "a call id too long": ([user(), fc("x" * 65), fco("x" * 65)], "at most 64"),
    "a call id twice": ([user(), *[fc(), fco()] * 2], "two function calls have the id"),
    "an item twice": ([user(), *[said(id="msg_1")] * 2, user()], "two items have the id"),
    "an id of another kind": ([user(), said(id="fc_1"), user()], "begin with 'msg'"),
    "an id too long": ([user(), said(id="msg_" + "1" * 61), user()], "longer than 64"),
    "reasoning alone": ([user(), reasoning(), user()], "required following item"),
    "reasoning before an output": ([user(), fc(), reasoning(), fco()], "required following item"),
    "reasoning without id": ([user(), reasoning(""), said(), user()], "has no id"),
    "no reasoning": ([user(), said(id=MSG), user()], "required reasoning item"),
    "another reasoning": ([user(), reasoning("rs_1"), said(id=MSG), user()], "required following"),
    "a wrong seal": ([user(), reasoning(encrypted_content="x"), said(), user()], "verified"),
    "a part of the other's": (
        [user(), said([{"type": "input_text", "text": "x"}]), user()],
        "part",
    ),
}
ANTHROPIC_GOOD: dict[str, list[Any]] = {
    "one message": [user()],
    "blocks": [user([text(), image(png())])],
    "alternating": [user(), said(), user()],
    "two of the user's": [user(), user()],
    "two of the assistant's": [user(), said(), said([text()]), user()],
    "system inside": [user(), {"role": "system", "content": "be quick"}, said(), user()],
    "system last": [user(), {"role": "system", "content": [text("be quick")]}],
    "results in two messages": [
        user(),
        said([use("a"), use("b")]),
        user([used("a")]),
        user([used("b")]),
    ],
    "thinking in between": [user(), said([text(), thought(), use()]), user([used()])],
    "a tool used": [user(), said([use()]), user([used()])],
    "parallel": [user(), said([text(), use("a"), use("b")]), user([used("b"), used("a"), text()])],
    "thinking first": [user(), said([thought(), text(), use()]), user([used()])],
    "redacted": [user(), said([{"type": "redacted_thinking", "data": "x"}, text()]), user()],
    "an empty result": [user(), said([use()]), user([used(content="")])],
    "an id of 64": [user(), said([use("x" * 64)]), user([used("x" * 64)])],
}
ANTHROPIC_BAD: dict[str, tuple[list[Any], str]] = {
    "nothing": ([], "at least one message"),
    "assistant first": ([said(), user()], "first message"),
    "system before the user": ([user(), {"role": "system", "content": "x"}, user()], "must follow"),
    "system first": ([{"role": "system", "content": "x"}, user()], "must follow"),
    "assistant last": ([user(), said()], "last message"),
    "empty content": ([user(), said(""), user()], "assistant is empty"),
    "no blocks": ([user(), said([]), user()], "assistant is empty"),
    "a blank block": ([user(), said([text(" ")]), user()], "a text of the assistant is empty"),
    "a blank user": ([user(" \n")], "a text of the user is empty"),
    "no result": ([user(), said([use()]), user()], "without tool_result blocks"),
    "one of two": ([user(), said([use("a"), use("b")]), user([used("a")])], "without tool_result"),
    "two results": ([user(), said([use()]), user([used(), used()])], "two tool_result blocks"),
    "an orphan": ([user(), said(), user([used()])], "without a tool_use"),
    "a late result": ([user(), said([use()]), user(), said(), user([used()])], "without tool_res"),
    "a result behind text": ([user(), said([use()]), user([text(), used()])], "come first"),
    "a blank in a result": ([user(), said([use()]), user([used(content=[text("")])])], "is empty"),
    "an id's shape": ([user(), said([use("a b")]), user([used("a b")])], "must match"),
    "an id too long": ([user(), said([use("x" * 65)]), user([used("x" * 65)])], "must match"),
    "an id twice": ([user(), *[said([use()]), user([used()])] * 2], "two tool uses have the id"),
    "an input no object": ([user(), said([use(input="{}")]), user([used()])], "is no object"),
    "a name": ([user(), said([use(name="no spaces")]), user([used()])], "no name of a tool"),
    "only thinking": ([user(), said([thought()]), user()], "cannot be thinking"),
    "no signature": ([user(), said([thought(signature=""), text()]), user()], "Field required"),
    "a wrong one": ([user(), said([thought(signature="x"), text()]), user()], "invalid signature"),
    "a use of the user's": ([user([text(), use()])], "not the user's"),
    "a result of the assistant's": ([user(), said([used()]), user()], "not the assistant's"),
}


@pytest.mark.parametrize("case", CHAT_GOOD)
def test_chat_takes(case: str) -> None:
    assert refusal("chat", body("chat", CHAT_GOOD[case])) is None


@pytest.mark.parametrize("case", CHAT_BAD)
def test_chat_refuses(case: str) -> None:
    items, why = CHAT_BAD[case]

    assert why in str(refusal("chat", body("chat", items)))


@pytest.mark.parametrize("case", RESPONSES_GOOD)
def test_responses_take(case: str) -> None:
    assert refusal("responses", body("responses", RESPONSES_GOOD[case])) is None


@pytest.mark.parametrize("case", RESPONSES_BAD)
def test_responses_refuse(case: str) -> None:
    items, why = RESPONSES_BAD[case]

    assert why in str(refusal("responses", body("responses", items)))


@pytest.mark.parametrize("case", ANTHROPIC_GOOD)
def test_anthropic_takes(case: str) -> None:
    assert refusal("anthropic", body("anthropic", ANTHROPIC_GOOD[case])) is None


@pytest.mark.parametrize("case", ANTHROPIC_BAD)
def test_anthropic_refuses(case: str) -> None:
    items, why = ANTHROPIC_BAD[case]

    assert why in str(refusal("anthropic", body("anthropic", items)))


@pytest.mark.parametrize("format", ["chat", "responses", "anthropic"])
def test_what_is_needed_must_be_there(format: Format) -> None:
    assert refusal(format, body(format, [user()]) | {"model": ""}) == "model is required"
    assert "malformed" in str(refusal(format, {"model": "m", "max_tokens": 9}))
    with pytest.raises(Refused, match="malformed"):
        check(format, {"model": "m", "max_tokens": 9})


def test_anthropic_needs_to_know_how_much_to_say() -> None:
    assert "max_tokens" in str(refusal("anthropic", {"model": "m", "messages": [user()]}))


def test_a_reasoning_that_is_not_stored_must_come_sealed() -> None:
    bare, sealed = ([user(), reasoning(**more), said(), user()] for more in _sealed_or_not())

    assert "store is false" in str(refusal("responses", body("responses", bare, store=False)))
    assert refusal("responses", body("responses", sealed, store=False)) is None


def _sealed_or_not() -> list[dict[str, Any]]:
    return [{}, {"encrypted_content": seal(RS)}]


def test_a_continued_response_may_begin_with_an_output() -> None:
    items = [fco("known to the server")]

    assert refusal("responses", body("responses", items, previous_response_id="resp_1")) is None
    assert "first item" in str(refusal("responses", body("responses", items)))


def test_a_tool_loop_keeps_the_thinking_it_began_with() -> None:
    own, strange = MARKS.use(0, thought=True), "u1"
    without = MARKS.use(0, thought=False)
    enabled = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048}
    adaptive = {"thinking": {"type": "adaptive"}}

    def judged(id: str, *blocks: dict[str, Any], **more: Any) -> str:
        turn = [user(), said([*blocks, use(id)]), user([used(id)])]
        return str(refusal("anthropic", body("anthropic", turn, **more)))

    assert "starts with thinking" in judged(own, **enabled)
    assert "starts with thinking" in judged(strange, **enabled)
    assert judged(own, thought(), **enabled) == judged(without, **enabled) == judged(own) == "None"
    assert judged(own, **adaptive) == judged(strange, **adaptive) == "None"


async def test_a_request_that_breaks_a_rule_takes_nothing_from_the_script() -> None:
    async with (
        Provider() as provider,
        AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="k", max_retries=3) as client,
        AsyncAnthropic(base_url=provider.url, api_key="k", max_retries=3) as other,
    ):
        provider.say("still there")
        wrong: Any = [user(), said("")]
        with pytest.raises(openai.BadRequestError, match="last message"):
            await client.chat.completions.create(model="m", messages=wrong)
        with pytest.raises(openai.BadRequestError, match="last item"):
            await client.responses.create(model="m", input=wrong)
        with pytest.raises(BadRequestError, match="assistant is empty"):
            await other.messages.create(model="m", messages=wrong, max_tokens=9)
        right: Any = [user()]
        done = await client.chat.completions.create(model="m", messages=right)

    assert done.choices[0].message.content == "still there"
    assert provider.refused == provider.requests[:3]
    assert [bool(request.refused) for request in provider.requests] == [True, True, True, False]


async def test_a_provider_that_is_not_strict_takes_anything() -> None:
    async with (
        Provider(strict=False) as provider,
        AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="k", max_retries=0) as client,
    ):
        provider.say("if you say so")
        wrong: Any = [user(), said("")]
        await client.chat.completions.create(model="m", messages=wrong)

    assert provider.refused == []


async def test_an_item_that_comes_back_without_its_reasoning_is_refused() -> None:
    async with (
        Provider() as provider,
        AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="k", max_retries=0) as client,
    ):
        provider.answer(Think("hm"), Call("read"))
        provider.answer(Say("done"))
        response = await client.responses.create(model="m", input="hi")
        items: Any = [item.model_dump(exclude_none=True) for item in response.output]
        question: Any = user()
        output: Any = fco(items[1]["call_id"])
        with pytest.raises(openai.BadRequestError, match="required reasoning item"):
            await client.responses.create(model="m", input=[question, items[1], output])
        done = await client.responses.create(model="m", input=[question, *items, output])

    assert done.output_text == "done"
