"""The formats in which the planted agent asks its model: the same history, told in four ways.

The agent keeps its history as OpenAI's chat has it, and hears what comes as chat's deltas.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """Where is asked, with what, and what an event of the answer says."""

    path: str
    body: Callable[[Sequence[Item], Sequence[Item]], Item]  # of a history, and what is offered
    deltas: Callable[[Item], Iterator[Item]]


def _chat(history: Sequence[Item], offered: Sequence[Item]) -> Item:
    return {"model": "scripted", "stream": True, "messages": history, "tools": offered}


def _chat_deltas(event: Item) -> Iterator[Item]:
    for choice in event["choices"]:
        yield choice["delta"]


def _anthropic(history: Sequence[Item], offered: Sequence[Item]) -> Item:
    tools = [{"name": name, "input_schema": schema} for name, schema in _named(offered)]
    head = {"model": "scripted", "stream": True, "max_tokens": 4096, "tools": tools}
    messages: list[Item] = []
    for role, several in _turns(history):
        told = "assistant" if role == "assistant" else "user"
        blocks = [block for one in several for block in _blocks(one)]
        messages.append({"role": told, "content": blocks})
    return {**head, "messages": messages}


def _blocks(message: Item) -> Iterator[Item]:
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
        yield {**result, "content": message["content"]}
        return
    if message["content"]:
        yield {"type": "text", "text": message["content"]}
    for own, name, arguments in _calls(message):
        yield {"type": "tool_use", "id": own, "name": name, "input": json.loads(arguments)}


def _anthropic_deltas(event: Item) -> Iterator[Item]:
    delta, begun = event.get("delta", {}), event.get("content_block", {})
    match delta.get("type"), begun.get("type"):
        case "text_delta", _:
            yield {"content": delta["text"]}
        case "thinking_delta", _:
            yield {"reasoning_content": delta["thinking"]}
        case "input_json_delta", _:
            yield _called(event["index"], arguments=delta["partial_json"])
        case _, "tool_use":
            yield _called(event["index"], begun["id"], begun["name"])
        case _:
            pass


def _responses(history: Sequence[Item], offered: Sequence[Item]) -> Item:
    tools = [
        {"type": "function", "name": name, "parameters": schema, "strict": False}
        for name, schema in _named(offered)
    ]
    items = [item for message in history for item in _items(message)]
    return {"model": "scripted", "stream": True, "store": False, "tools": tools, "input": items}


def _items(message: Item) -> Iterator[Item]:
    if message["role"] == "tool":
        result = {"type": "function_call_output", "call_id": message["tool_call_id"]}
        yield {**result, "output": message["content"]}
        return
    if message["content"]:
        yield {"role": message["role"], "content": message["content"]}
    for own, name, arguments in _calls(message):
        yield {"type": "function_call", "call_id": own, "name": name, "arguments": arguments}


def _responses_deltas(event: Item) -> Iterator[Item]:
    match event:
        case {"type": "response.output_text.delta", "delta": text}:
            yield {"content": text}
        case {"type": "response.reasoning_summary_text.delta", "delta": text}:
            yield {"reasoning_content": text}
        case {"type": "response.output_item.added", "item": {"type": "function_call"} as call}:
            yield _called(event["output_index"], call["call_id"], call["name"])
        case {"type": "response.function_call_arguments.delta", "delta": text}:
            yield _called(event["output_index"], arguments=text)
        case _:
            pass


def _gemini(history: Sequence[Item], offered: Sequence[Item]) -> Item:
    names = {own: name for message in history for own, name, _ in _calls(message)}
    tools = [{"name": name, "parameters": schema} for name, schema in _named(offered)]
    contents: list[Item] = []
    for role, several in _turns(history):
        told = "model" if role == "assistant" else "user"
        parts = [part for one in several for part in _parts(one, names)]
        contents.append({"role": told, "parts": parts})
    return {"contents": contents, "tools": [{"functionDeclarations": tools}]}


def _parts(message: Item, names: Item) -> Iterator[Item]:
    if message["role"] == "tool":
        own = message["tool_call_id"]
        result = {"id": own, "name": names[own], "response": {"result": message["content"]}}
        yield {"functionResponse": result}
        return
    if message["content"]:
        yield {"text": message["content"]}
    for own, name, arguments in _calls(message):
        yield {"functionCall": {"id": own, "name": name, "args": json.loads(arguments)}}


def _gemini_deltas(event: Item) -> Iterator[Item]:
    for part in event["candidates"][0]["content"]["parts"]:
        if call := part.get("functionCall"):  # whole, and under no number but its id
            yield _called(call["id"], call["id"], call["name"], json.dumps(call["args"]))
        elif text := part["text"]:
            yield {"reasoning_content" if part.get("thought") else "content": text}


def _turns(history: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """The results of one answer's calls go together; what says nothing is left out."""
    said = [one for one in history if one["content"] or one.get("tool_calls")]
    for role, several in groupby(said, key=lambda one: str(one["role"])):
        yield role, list(several)


def _named(offered: Sequence[Item]) -> list[tuple[str, Item]]:
    return [(one["function"]["name"], one["function"]["parameters"]) for one in offered]


def _calls(message: Item) -> Iterator[tuple[str, str, str]]:
    for call in message.get("tool_calls", ()):
        yield call["id"], call["function"]["name"], call["function"]["arguments"]


def _called(at: object, own: str = "", name: str = "", arguments: str = "") -> Item:
    call = {"index": at, "id": own, "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [call]}


FORMATS = {
    "chat": Format("/v1/chat/completions", _chat, _chat_deltas),
    "anthropic": Format("/v1/messages", _anthropic, _anthropic_deltas),
    "responses": Format("/v1/responses", _responses, _responses_deltas),
    "gemini": Format(
        "/v1beta/models/scripted:streamGenerateContent?alt=sse", _gemini, _gemini_deltas
    ),
}
