"""The rules of the providers can fail: each refuses what its provider refuses, and says why."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.providers import (
    Invalid,
    Item,
    check_anthropic,
    check_chat,
    check_responses,
    sign,
)


def user(*texts: str) -> Item:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def assistant(content: str = "", *ids: str, **changes: Any) -> Item:
    function = {"name": "tool", "arguments": "{}", **changes}
    calls = [{"id": one, "type": "function", "function": function} for one in ids]
    spoken = {"content": content} if content else {}
    return {"role": "assistant", **spoken, **({"tool_calls": calls} if calls else {})}


def tool(id: str, content: str = "done") -> Item:
    return {"role": "tool", "tool_call_id": id, "content": content}


GOOD_CHAT = [user("go"), assistant("I", "c1", "c2"), tool("c2"), tool("c1"), user("and", "on")]


def test_a_good_chat_is_taken() -> None:
    check_chat(GOOD_CHAT, request=True)


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "last message is not the user's"),
        ([assistant("I"), user("go")], "first message is not the user's"),
        ([user("go"), assistant("I")], "last message is not the user's"),
        ([user("go"), user("go")], "two messages of the user's"),
        ([user("go"), assistant("I"), assistant("I"), user("go")], "two messages of the assist"),
        ([user("go"), assistant("", "c1"), user("go")], "without an answer"),
        ([user("go"), assistant("", "c1", "c2"), tool("c1"), user("go")], "without an answer"),
        ([user("go"), assistant("", "c1"), user("x"), tool("c1")], "without an answer"),
        ([user("go"), assistant("", "c1"), tool("c1"), tool("c1")], "answers no call"),
        ([user("go"), tool("c1"), user("go")], "answers no call"),
        ([user("go"), assistant("", "c1"), tool("c1", " "), user("go")], "empty tool's"),
        ([user("go"), assistant(" "), user("go")], "empty message"),
        ([user("go"), assistant(), user("go")], "nothing in it"),
        ([user(" ")], "empty message"),
        ([user()], "empty message"),
        ([user("go"), assistant("", "c" * 41), tool("c" * 41), user("x")], "a call's id"),
        ([user("go"), assistant("", "c", name="<l>"), tool("c"), user("x")], "function's name"),
        ([user("go"), assistant("", "c", arguments="1"), tool("c"), user("x")], "no object"),
        (
            [*GOOD_CHAT, assistant("", "c1"), tool("c1"), user("x")],
            "two calls of one id",
        ),
    ],
)
def test_a_bad_chat_is_refused(messages: list[Item], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        check_chat(messages, request=True)


def message(role: str, text: str = "words", **known: str) -> Item:
    return {"type": "message", "role": role, "content": [{"type": "x", "text": text}], **known}


def function(call: str, **known: str) -> Item:
    return {"type": "function_call", "call_id": call, "name": "f", "arguments": "{}", **known}


def output(call: str, text: str = "done") -> Item:
    return {"type": "function_call_output", "call_id": call, "output": text}


def reasoning(id: str) -> Item:
    return {"type": "reasoning", "id": id, "summary": []}


SAID = message("user")
GOOD_ITEMS = [
    SAID,
    reasoning("rs"),
    function("c1", id="fc_1.rs"),
    function("c2", id="fc_2.rs"),
    output("c1"),
    output("c2"),
    message("assistant"),
    SAID,
]


def test_good_response_items_are_taken() -> None:
    check_responses(GOOD_ITEMS, request=True)


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([], "last item is not the user's"),
        ([message("assistant"), SAID], "first item is not the user's"),
        ([SAID, message("assistant")], "last item is not the user's"),
        ([SAID, message("assistant", " "), SAID], "empty message"),
        ([SAID, function("c1"), SAID], "without an output"),
        ([SAID, function("c1"), message("assistant"), output("c1"), SAID], "without an output"),
        ([SAID, function("c1"), output("c1"), output("c1"), SAID], "with two"),
        ([SAID, function("c1")], "without an output"),
        ([SAID, output("c1"), SAID], "output of no call"),
        ([SAID, function("c1"), output("c1", ""), SAID], "empty output"),
        ([SAID, reasoning("rs"), SAID], "without its following item"),
        ([SAID, reasoning("rs")], "without its following item"),
        ([SAID, reasoning("rs"), message("assistant"), SAID], "without its following item"),
        ([SAID, reasoning("")], "a reasoning without its id"),
        ([SAID, message("assistant", id="msg.rs"), SAID], "without its reasoning"),
        ([*GOOD_ITEMS, *GOOD_ITEMS], "two items of one id"),
        ([SAID, function("c"), output("c"), function("c"), output("c"), SAID], "two calls"),
        ([message("system"), SAID], "unknown role"),
    ],
)
def test_bad_response_items_are_refused(items: list[Item], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        check_responses(items, request=True)


def says(*blocks: Item | str) -> Item:
    made = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": "assistant", "content": made}


def person(*blocks: Item | str) -> Item:
    return {**says(*blocks), "role": "user"}


def use(id: str, **changes: Any) -> Item:
    return {"type": "tool_use", "id": id, "name": "tool", "input": {}, **changes}


def answer(id: str, content: str = "done") -> Item:
    return {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": False}


def thinking(text: str, signature: str = "") -> Item:
    return {"type": "thinking", "thinking": text, "signature": signature or sign(text)}


REDACTED = {"type": "redacted_thinking", "data": "x"}
GOOD_MESSAGES = [
    person("go"),
    says(thinking("hm"), REDACTED, "I", use("t1"), use("t2")),
    person(answer("t2"), answer("t1"), "on"),
    says(thinking("well"), "so"),
    person("and?"),
]


def test_good_messages_are_taken() -> None:
    check_anthropic(GOOD_MESSAGES, request=True)


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "last message is not the user's"),
        ([says("I"), person("go")], "roles do not alternate"),
        ([person("go"), person("go")], "roles do not alternate"),
        ([person("go"), says("I")], "last message is not the user's"),
        ([person("go"), says("I ")], "ends in whitespace"),
        ([person("go"), says(), person("go")], "without content"),
        ([person("go"), says(" "), person("go")], "text block that is empty"),
        ([person("go"), says(use("t1")), person("x")], "but results"),
        ([person("go"), says(use("t1"))], "without a result"),
        ([person("go"), says(use("t1")), person("x", answer("t1"))], "behind other content"),
        ([person("go"), says(use("t1")), person(answer("t1"), answer("t1"))], "but results"),
        ([person("go", answer("t1"))], "behind other content"),
        ([person(answer("t1"))], "but results"),
        ([person("go"), says(use("t1")), person(answer("t1", ""))], "empty result"),
        ([person("go"), says("I", thinking("hm")), person("x")], "behind an answer"),
        ([person("go"), says(thinking("hm")), person("x")], "without an answer"),
        ([person("go"), says(thinking("hm", sign("hmm")), "I"), person("x")], "as signed"),
        ([person("go"), says({**REDACTED, "data": ""}, "I"), person("x")], "without its data"),
        ([person(thinking("hm"))], "not the user's"),
        ([person("go"), says(answer("t1")), person("x")], "not the assistant's"),
        ([person("go"), says(use("t.1")), person(answer("t.1"))], "tool use's id"),
        ([person("go"), says(use("t", name="<l>")), person(answer("t"))], "tool's name"),
        ([person("go"), says(use("t", input="{}")), person(answer("t"))], "no object"),
        ([*GOOD_MESSAGES, says(use("t1")), person(answer("t1"))], "two tool uses of one id"),
    ],
)
def test_bad_messages_are_refused(messages: list[Item], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        check_anthropic(messages, request=True)
