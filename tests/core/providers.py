"""What strict providers take: three small renderers of what is shown, and the rules of each.

The renderers do what an engine's adapter does: they read natives that are their own, give calls
ids and names of the shape that is asked for, and put neighbours of one role together. They repair
nothing: a history that the rules refuse was built wrong. The checks are the published rules, and
know nothing of lastword.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from lastword.core.model import CallId
from lastword.core.shown import Shown

Item: TypeAlias = dict[str, Any]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_THOUGHT = ("thinking", "redacted_thinking")


class Invalid(Exception):
    """The provider would answer 400."""


def must(so: object, why: str) -> None:
    if not so:
        raise Invalid(why)


def sign(thinking: str) -> str:
    """What Anthropic would sign a thinking with: any change of the text breaks it."""
    return f"signed {thinking!r}"


# renderers


class _Names:
    """Ids and names of calls, in the shape that providers ask for."""

    def __init__(self) -> None:
        self._ids: dict[CallId | None, str] = {}

    def id(self, item: Shown) -> str:
        return self._ids.setdefault(item.call, f"call_{len(self._ids) + 1}")

    def name(self, item: Shown) -> str:
        return re.sub(r"[^a-zA-Z0-9_-]", "_", item.name)[:64] or "tool"


def _words(item: Shown) -> list[str]:
    """What stands on the user's side: the person's words, or the session's, marked as such."""
    if item.message is None:
        return [f"[{item.role}] {item.text}"]
    named = [f"[attached: {one.name or one.media_type}]" for one in item.message.attachments]
    return [*([item.text] if item.text.strip() else []), *named]


def _own(item: Shown, engine: str) -> str:
    return item.native.data if item.native and item.native.engine == engine else ""


def chat(shown: Iterable[Shown]) -> list[Item]:
    """Messages for OpenAI's chat completions, and for the many servers that speak it."""
    messages: list[Item] = [{"role": ""}]
    names = _Names()
    for item in shown:
        role = {"assistant": "assistant", "call": "assistant", "result": "tool"}.get(item.role)
        if item.role == "thinking":
            continue  # it has no place there
        if role == "tool" or messages[-1]["role"] != (role or "user"):
            messages.append({"role": role or "user"})
        _add_to(messages[-1], item, names)
    return messages[1:]


def _add_to(message: Item, item: Shown, names: _Names) -> None:
    match item.role:
        case "assistant":
            message["content"] = message.get("content", "") + item.text
        case "call":
            function = {"name": names.name(item), "arguments": item.text}
            call = {"id": names.id(item), "type": "function", "function": function}
            message.setdefault("tool_calls", []).append(call)
        case "result":
            message |= {"tool_call_id": names.id(item), "content": item.text}
        case _:
            parts = [{"type": "text", "text": text} for text in _words(item)]
            message["content"] = message.get("content", []) + parts


def responses(shown: Iterable[Shown]) -> list[Item]:
    """Input items for OpenAI's responses."""
    names = _Names()
    return [one for item in shown for one in _response_items(item, names)]


def _response_items(item: Shown, names: _Names) -> list[Item]:
    own = _own(item, "responses")
    known = {"id": own} if own else {}
    match item.role:
        case "user" | "note" | "summary":
            content = [{"type": "input_text", "text": text} for text in _words(item)]
            return [{"type": "message", "role": "user", "content": content}]
        case "assistant":
            content = [{"type": "output_text", "text": item.text}]
            return [{"type": "message", "role": "assistant", "content": content, **known}]
        case "thinking":
            return [{"type": "reasoning", "summary": [], **known}] if own else []
        case "call":
            call = {"call_id": names.id(item), "name": names.name(item), "arguments": item.text}
            return [{"type": "function_call", **call, **known}]
        case "result":
            output = {"call_id": names.id(item), "output": item.text}
            return [{"type": "function_call_output", **output}]


def anthropic(shown: Iterable[Shown]) -> list[Item]:
    """Messages for Anthropic's messages."""
    messages: list[Item] = []
    names = _Names()
    for item in shown:
        own = item.role in ("assistant", "thinking", "call")
        blocks = _blocks(item, names)
        if not messages or messages[-1]["role"] != ("assistant" if own else "user"):
            messages.append({"role": "assistant" if own else "user", "content": []})
        content: list[Item] = messages[-1]["content"]
        if item.role != "thinking" or all(block["type"] in _THOUGHT for block in content):
            content += blocks
    messages = [message for message in messages if message["content"]]
    if messages and messages[-1]["role"] == "assistant" and "text" in messages[-1]["content"][-1]:
        block = messages[-1]["content"][-1]
        block["text"] = block["text"].rstrip()
    return messages


def _blocks(item: Shown, names: _Names) -> list[Item]:
    match item.role:
        case "user" | "note" | "summary":
            return [{"type": "text", "text": text} for text in _words(item)]
        case "assistant":
            return [{"type": "text", "text": item.text}]
        case "thinking":
            own = _own(item, "anthropic")
            redacted = {"type": "redacted_thinking", "data": own}
            thinking = {"type": "thinking", "thinking": item.text, "signature": own}
            return [] if not own else [thinking if item.text else redacted]
        case "call":
            use = {"type": "tool_use", "id": names.id(item), "name": names.name(item)}
            return [{**use, "input": json.loads(item.text)}]
        case "result":
            result = {"type": "tool_result", "tool_use_id": names.id(item), "content": item.text}
            return [{**result, "is_error": item.error}]


# the rules


def check_chat(messages: Sequence[Item], *, request: bool) -> None:
    """OpenAI's chat completions, as its strictest servers hold them."""
    # The first message is the user's (behind system messages, which a history has none of), and
    # user and assistant alternate, whatever tools answered in between.
    must(not messages or messages[0]["role"] == "user", "the first message is not the user's")
    for before, after in pairwise(message["role"] for message in messages):
        must(before != after or after == "tool", f"two messages of the {after}'s in a row")
        must(after in ("user", "assistant", "tool"), f"an unknown role: {after}")
    ids: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            # A tool's message answers a call of the assistant's message right before the tools'.
            must(message["tool_call_id"] in waiting, "a tool's message that answers no call")
            waiting.remove(message["tool_call_id"])
            must(message["content"].strip(), "an empty tool's message")
            continue
        # Each tool call is answered, once, before any other message.
        must(not waiting, f"tool calls without an answer: {waiting}")
        must("content" in message or "tool_calls" in message, "a message with nothing in it")
        content = message.get("content", "something")
        texts = [content] if isinstance(content, str) else [part["text"] for part in content]
        must(texts and all(text.strip() for text in texts), "an empty message")
        if "tool_calls" in message:
            must(message["tool_calls"], "an empty list of tool calls")
            waiting = [_function(call["function"], call["id"]) for call in message["tool_calls"]]
            ids += waiting
    must(not waiting, f"tool calls without an answer: {waiting}")
    must(len(ids) == len(set(ids)), "two calls of one id")
    if request:
        must(messages and messages[-1]["role"] == "user", "the last message is not the user's")


def _function(function: Item, id: str) -> str:
    """Names have one shape, arguments are the text of a JSON object, ids have a longest length."""
    must(_NAME.fullmatch(function["name"]), f"a function's name: {function['name']!r}")
    must(isinstance(json.loads(function["arguments"]), dict), "arguments that are no object")
    must(0 < len(id) <= 40, f"a call's id: {id!r}")
    return id


def check_responses(items: Sequence[Item], *, request: bool) -> None:
    """OpenAI's responses. An id here says after a point which reasoning its item came of."""
    calls: list[str] = []
    answered: list[str] = []
    given = [item["id"] for item in items if "id" in item]
    must(len(given) == len(set(given)), "two items of one id")
    for item, after in zip(items, [*items[1:], None], strict=False):
        match item["type"]:
            case "reasoning":
                # A reasoning is given back by id, directly before the item that came of it.
                must(item.get("id"), "a reasoning without its id")
                its = after.get("id", "") if after else ""
                must(its.endswith(f".{item['id']}"), "a reasoning without its following item")
            case "function_call":
                calls.append(_function(item, item["call_id"]))
            case "function_call_output":
                # An output has a call before it, and a call one output.
                must(item["call_id"] in calls, "an output of no call")
                must(item["output"].strip(), "an empty output")
                answered.append(item["call_id"])
            case _:
                # Nobody speaks while a call has no output.
                must(sorted(calls) == sorted(answered), "a call without an output, or with two")
                must(item["role"] in ("user", "assistant"), "an unknown role")
                texts = [part["text"] for part in item["content"]]
                must(texts and all(text.strip() for text in texts), "an empty message")
    # What is given back by id comes with the reasoning that it came of.
    needed = {one.partition(".")[2] for one in given if "." in one}
    must(needed <= set(given), "an item without its reasoning")
    must(len(calls) == len(set(calls)), "two calls of one id")
    must(sorted(calls) == sorted(answered), "a call without an output, or with two")
    must(not items or items[0].get("role") == "user", "the first item is not the user's")
    if request:
        must(items and items[-1].get("role") == "user", "the last item is not the user's")


def check_anthropic(messages: Sequence[Item], *, request: bool) -> None:
    """Anthropic's messages."""
    # The first message is the user's; roles alternate; no content is empty.
    ids: list[str] = []
    asked: list[str] = []
    for number, message in enumerate(messages):
        must(message["role"] == ("assistant" if number % 2 else "user"), "roles do not alternate")
        blocks: list[Item] = message["content"]
        must(blocks, "a message without content")
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        must(all(text.strip() for text in texts), "a text block that is empty")
        if message["role"] == "user":
            _check_results(blocks, asked)
            asked = []
        else:
            asked = _check_answer(blocks)
            ids += asked
    must(not asked, f"tool uses without a result: {asked}")
    must(len(ids) == len(set(ids)), "two tool uses of one id")
    if messages and messages[-1]["role"] == "assistant":
        # A last message of the assistant's is one to be continued: no whitespace at its end.
        text = messages[-1]["content"][-1].get("text", "")
        must(text == text.rstrip(), "the last assistant text ends in whitespace")
    if request:
        must(messages and messages[-1]["role"] == "user", "the last message is not the user's")


def _check_results(blocks: list[Item], asked: list[str]) -> None:
    # Each tool use has one result in the very next message, before anything else in it.
    kinds = [block["type"] for block in blocks]
    results = [block for block in blocks if block["type"] == "tool_result"]
    must(kinds[: len(results)] == ["tool_result"] * len(results), "a result behind other content")
    must(set(kinds) <= {"tool_result", "text"}, "a block that is not the user's")
    given = sorted(block["tool_use_id"] for block in results)
    must(given == sorted(asked), f"tool uses {sorted(asked)}, but results {given}")
    must(all(block["content"].strip() for block in results), "an empty result")


def _check_answer(blocks: list[Item]) -> list[str]:
    # Thinking comes first, with the signature that it was given with, and is not all there is.
    order = [block["type"] not in _THOUGHT for block in blocks]
    must(order == sorted(order), "thinking behind an answer")
    must(order[-1], "thinking without an answer")
    for block in blocks:
        match block["type"]:
            case "thinking":
                must(block["signature"] == sign(block["thinking"]), "not the thinking as signed")
            case "redacted_thinking":
                must(block["data"], "a redacted thinking without its data")
            case "tool_use":
                must(_NAME.fullmatch(block["name"]), f"a tool's name: {block['name']!r}")
                must(_NAME.fullmatch(block["id"]), f"a tool use's id: {block['id']!r}")
                must(isinstance(block["input"], dict), "an input that is no object")
            case kind:
                must(kind == "text", f"a block that is not the assistant's: {kind}")
    return [block["id"] for block in blocks if block["type"] == "tool_use"]


def check_all(shown: Sequence[Shown], *, request: bool = False) -> None:
    """Each of the three takes this; as a request, with the person's words last."""
    check_chat(chat(shown), request=request)
    check_responses(responses(shown), request=request)
    check_anthropic(anthropic(shown), request=request)
