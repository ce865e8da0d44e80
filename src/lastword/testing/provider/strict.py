"""The strict judge: why a provider that holds to every rule would refuse a request.

The rules are the published ones, and those that are only met as an error 400. Whoever builds a
history that passes here can give it to the real ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from lastword.testing.provider.marks import (
    came_of_thinking,
    is_ours,
    reasoning_of,
    seal,
    sign,
)

Format: TypeAlias = Literal["chat", "responses", "anthropic"]
Item: TypeAlias = Mapping[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SYSTEM = ("system", "developer")
_THOUGHT = ("thinking", "redacted_thinking")
_PREFIX = {"reasoning": "rs", "function_call": "fc", "message": "msg"}
_PARTS = {
    "user": ("input_text", "input_image", "input_file"),
    "assistant": ("output_text", "refusal"),
}
_MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)


class Refused(Exception):
    """The provider would answer 400."""


def refusal(format: Format, body: Mapping[str, Any]) -> str | None:
    """Why a strict provider refuses this request; None if it does not."""
    try:
        check(format, body)
    except Refused as error:
        return str(error)
    return None


def check(format: Format, body: Mapping[str, Any]) -> None:
    """Raise `Refused` if a strict provider would refuse this request."""
    rules = {"chat": _check_chat, "responses": _check_responses, "anthropic": _check_anthropic}
    try:
        _must(isinstance(body.get("model"), str) and body["model"], "model is required")
        rules[format](body)
    except _MALFORMED as error:
        raise Refused(f"the request is malformed: {error!r}") from error


def _must(so: object, why: str) -> None:
    if not so:
        raise Refused(why)


def _check_texts(content: Any, whose: str, *, blank: bool = True) -> None:  # noqa: ANN401 - as JSON has it
    """A text that is not empty, or a list of parts in which no text is. Whether blanks count."""
    _must(content, f"the content of a message of the {whose} is empty")
    texts = [content] if isinstance(content, str) else _texts(content)
    _must(all(text if blank else text.strip() for text in texts), f"a text of the {whose} is empty")


def _texts(parts: Sequence[Item]) -> list[str]:
    return [part["text"] for part in parts if "text" in part]


def _check_function(function: Item, id: str, longest: int) -> str:
    """Names have one shape, arguments are the text of a JSON object, ids have a longest length."""
    _must(_NAME.fullmatch(function["name"]), f"{function['name']!r} is no name of a function")
    _must(0 < len(id) <= longest, f"{id!r} is no id of a call: at most {longest} characters")
    arguments = function["arguments"]
    _must(isinstance(arguments, str), f"the arguments of {id} are not a string")
    try:
        decoded = json.loads(arguments)
    except ValueError:
        decoded = None
    _must(isinstance(decoded, dict), f"the arguments of {id} are not a JSON object")
    return id


def _check_once(ids: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for one in ids:
        _must(one not in seen, f"two {what} have the id {one!r}")
        seen.add(one)


def _check_chat(body: Item) -> None:
    """OpenAI's chat completions."""
    messages: Sequence[Item] = body["messages"]
    _must(messages, "messages is empty")
    spoken = [message for message in messages if message["role"] not in _SYSTEM]
    _must(spoken and spoken[0]["role"] == "user", "the first message is not the user's")
    _must(spoken[-1]["role"] in ("user", "tool"), "the last message is not the user's or a tool's")
    calls: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            # a tool's message answers a call of the assistant's message right before the tools'
            call = message["tool_call_id"]
            _must(call in waiting, f"a tool's message answers {call!r}, which nobody waits for")
            waiting.remove(call)
            _must(isinstance(message["content"], str | list), f"{call} has a result of no content")
            continue
        _must(not waiting, f"tool calls without a result right behind them: {waiting}")
        waiting = _check_chat_message(message)
        calls += waiting
        waiting = list(waiting)
    _must(not waiting, f"tool calls without a result right behind them: {waiting}")
    _check_once(calls, "tool calls")


def _check_chat_message(message: Item) -> list[str]:
    role, content = message["role"], message.get("content")
    _must(role in ("user", "assistant", *_SYSTEM), f"there is no role {role!r}")
    if role != "assistant" or content is not None or "tool_calls" not in message:
        _check_texts(content, role)
    if "tool_calls" not in message:
        return []
    _must(role == "assistant", f"a message of the {role} has tool calls")
    _must(message["tool_calls"], "a list of tool calls is empty")
    return [_check_function(one["function"], one["id"], 40) for one in message["tool_calls"]]


def _check_responses(body: Item) -> None:
    """OpenAI's responses."""
    if isinstance(body["input"], str):
        _must(body["input"], "input is empty")
        return
    items: Sequence[Item] = body["input"]
    continued = bool(body.get("previous_response_id") or body.get("conversation"))
    _must(items or continued, "input is empty")
    _check_ends(items, continued=continued)
    _check_once((item["id"] for item in items if item.get("id")), "items")
    _check_reasoning(items, stored=body.get("store") is not False)
    _check_outputs(items, continued=continued)
    for item in items:
        _check_item_id(item)
        if _kind(item) == "message":
            _check_response_message(item)


def _kind(item: Item) -> str:
    return item.get("type") or "message"


def _is_answer(item: Item) -> bool:
    """Whether it is the model's."""
    if _kind(item) == "message":
        return item["role"] == "assistant"
    return not _kind(item).endswith("_output")


def _check_ends(items: Sequence[Item], *, continued: bool) -> None:
    spoken = [item for item in items if item.get("role") not in _SYSTEM]
    users = [item.get("role") == "user" for item in spoken]
    _must(continued or (users and users[0]), "the first item is not the user's")
    _must(continued or not _is_answer(spoken[-1]), "the last item is not the user's or a tool's")


def _check_item_id(item: Item) -> None:
    prefix, own = _PREFIX.get(_kind(item), ""), item.get("id")
    if own is not None and (_kind(item) != "message" or item["role"] == "assistant"):
        _must(own.startswith(prefix), f"the id {own!r} does not begin with {prefix!r}")
        _must(len(own) <= 64, f"the id {own!r} is longer than 64 characters")


def _check_response_message(item: Item) -> None:
    role, content = item["role"], item["content"]
    _must(role in ("user", "assistant", *_SYSTEM), f"there is no role {role!r}")
    _check_texts(content, role)
    if not isinstance(content, str):
        for part in content:
            known = _PARTS["assistant" if role == "assistant" else "user"]
            _must(part["type"] in known, f"a message of the {role} has a part {part['type']!r}")


def _check_reasoning(items: Sequence[Item], *, stored: bool) -> None:
    """A reasoning stands right before what came of it, and what came of one comes with it."""
    given: set[str] = set()
    for item, after in zip(items, [*items[1:], None], strict=True):
        needed = reasoning_of(item.get("id") or "")
        _must(
            needed is None or needed in given,
            f"item {item.get('id')!r} was given without its required reasoning item {needed!r}",
        )
        if _kind(item) != "reasoning":
            continue
        own: str = item.get("id") or ""
        _must(own, "a reasoning has no id")
        _must(isinstance(item["summary"], list), f"the reasoning {own!r} has no summary")
        its = after is not None and _is_answer(after)
        came_of = reasoning_of((after or {}).get("id") or "")
        _must(
            its and came_of in (None, own),
            f"item {own!r} of type 'reasoning' was given without its required following item",
        )
        sealed = item.get("encrypted_content")
        _must(stored or sealed, f"item {own!r} not found: nothing is kept when store is false")
        _must(not sealed or not is_ours(own) or sealed == seal(own), f"{own!r} cannot be verified")
        given.add(own)


def _check_outputs(items: Sequence[Item], *, continued: bool) -> None:
    """Each call has one output, before anybody else speaks."""
    calls: list[str] = []
    waiting: list[str] = []
    for item in items:
        if _kind(item) == "function_call":
            calls.append(_check_function(item, item["call_id"], 64))
            waiting.append(item["call_id"])
        elif _kind(item) == "function_call_output":
            call = item["call_id"]
            known = call in waiting or (continued and call not in calls)
            _must(known, f"no tool call found for function call output {call!r}")
            waiting = [one for one in waiting if one != call]
            _must(isinstance(item["output"], str | list), f"the output of {call} is no text")
        elif not _is_answer(item):
            _must(not waiting, f"no tool output found for function calls {waiting}")
    _must(not waiting, f"no tool output found for function calls {waiting}")
    _check_once(calls, "function calls")


def _check_anthropic(body: Item) -> None:
    """Anthropic's messages."""
    messages: Sequence[Item] = body["messages"]
    _must(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
    _must(messages, "messages: at least one message is required")
    ids: list[str] = []
    asked: list[str] = []
    for number, message in enumerate(messages):
        due = "assistant" if number % 2 else "user"
        _must(message["role"] == due, f"messages.{number}: roles must alternate, {due} is next")
        _check_texts(message["content"], due, blank=False)
        blocks: Sequence[Item] = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if due == "user":
            _check_results(blocks, asked)
            asked = []
        else:
            asked = _check_answer(blocks)
            ids += asked
    _must(messages[-1]["role"] == "user", "the last message is not the user's")
    _check_once(ids, "tool uses")
    thinking: Item = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        _check_thought(messages)


def _check_results(blocks: Sequence[Item], asked: list[str]) -> None:
    """Each tool use has one result in the very next message, before anything else in it."""
    results = [block for block in blocks if block["type"] == "tool_result"]
    given = [block["tool_use_id"] for block in results]
    if lacking := [use for use in asked if use not in given]:
        raise Refused(f"tool_use ids without tool_result blocks immediately after: {lacking}")
    if strange := [use for use in given if use not in asked]:
        raise Refused(f"tool_result blocks without a tool_use in the message before: {strange}")
    _check_once(given, "tool_result blocks")
    _must(list(blocks[: len(results)]) == results, "tool_result blocks come first in a message")
    for block in results:
        content: str | Sequence[Item] = block.get("content") or ""
        texts = [] if isinstance(content, str) else _texts(content)
        _must(all(texts), "a text in a tool_result is empty")
    own = ("thinking", "redacted_thinking", "tool_use")
    _must(all(block["type"] not in own for block in blocks), "a block is not the user's")


def _check_answer(blocks: Sequence[Item]) -> list[str]:
    """Thinking comes first, as it was signed, and is not all there is."""
    order = [block["type"] not in _THOUGHT for block in blocks]
    _must(order == sorted(order), "thinking stands behind other content")
    _must(order[-1], "the final block in an assistant message cannot be thinking")
    for block in blocks:
        match block["type"]:
            case "thinking":
                _must(block.get("signature"), "thinking.signature: Field required")
                _must(
                    block["signature"] == sign(block["thinking"]), "invalid signature in thinking"
                )
            case "redacted_thinking":
                _must(block.get("data"), "redacted_thinking.data: Field required")
            case "tool_use":
                _must(_NAME.fullmatch(block["name"]), f"{block['name']!r} is no name of a tool")
                shape = f"the id {block['id']!r} must match ^[a-zA-Z0-9_-]+$, at most 64 characters"
                _must(_NAME.fullmatch(block["id"]), shape)
                _must(isinstance(block["input"], dict), f"the input of {block['id']} is no object")
            case kind:
                _must(kind != "tool_result", "a tool_result block is not the assistant's")
    return [block["id"] for block in blocks if block["type"] == "tool_use"]


def _check_thought(messages: Sequence[Item]) -> None:
    """While tools answer, the turn that called them keeps the thinking it began with."""
    if len(messages) < 2 or isinstance(messages[-2]["content"], str):
        return
    blocks: Sequence[Item] = messages[-2]["content"]
    uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
    _must(
        blocks[0]["type"] in _THOUGHT or not any(came_of_thinking(use) for use in uses),
        "when thinking is enabled, an assistant message with tool_use starts with thinking",
    )
