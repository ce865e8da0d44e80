"""The loops that teams write by hand over a provider's own client, with no engine.

They ask as lastword's engines do: streamed, by the same call of the client.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
Tools: TypeAlias = Mapping[str, Callable[..., Any]]
Say: TypeAlias = Callable[[str], Awaitable[object]]
Messages: TypeAlias = list[Any]


async def chat(client: AsyncOpenAI, messages: Messages, tools: Tools, say: Say) -> None:
    create: Any = client.chat.completions.create
    offered = [{"type": "function", "function": {"name": n, "parameters": SCHEMA}} for n in tools]
    while True:
        heard, calls = list[str](), dict[int, dict[str, Any]]()
        stream = await create(model="gpt-5", messages=messages, tools=offered, stream=True)
        async for chunk in stream:
            for choice in chunk.choices:
                if text := choice.delta.content:
                    heard.append(text)
                    await say(text)
                for part in choice.delta.tool_calls or ():
                    call = calls.setdefault(part.index, {"id": part.id, "name": "", "said": ""})
                    call["name"] += part.function.name or ""
                    call["said"] += part.function.arguments or ""
        if not calls:
            messages.append({"role": "assistant", "content": "".join(heard)})
            return
        asked = [
            {"id": call["id"], "type": "function"}
            | {"function": {"name": call["name"], "arguments": call["said"]}}
            for call in calls.values()
        ]
        messages.append({"role": "assistant", "content": "".join(heard), "tool_calls": asked})
        told = await _called(tools, ((call["name"], call["said"]) for call in calls.values()))
        for call, text in zip(calls.values(), told, strict=True):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


async def responses(client: AsyncOpenAI, items: Messages, tools: Tools, say: Say) -> None:
    create: Any = client.responses.create
    offered = [
        {"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in tools
    ]
    kept = {"store": False, "include": ["reasoning.encrypted_content"]}
    while True:
        calls = list[Any]()
        async for event in await create(
            model="gpt-5", input=items, tools=offered, stream=True, **kept
        ):
            if event.type == "response.output_text.delta":
                await say(event.delta)
            elif event.type == "response.output_item.done":
                items.append(event.item.model_dump(exclude_none=True))
                if event.item.type == "function_call":
                    calls.append(event.item)
        if not calls:
            return
        told = await _called(tools, ((call.name, call.arguments) for call in calls))
        for call, text in zip(calls, told, strict=True):
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": text})


async def anthropic(client: AsyncAnthropic, messages: Messages, tools: Tools, say: Say) -> None:
    create: Any = client.messages.create
    offered = [{"name": n, "description": n, "input_schema": SCHEMA} for n in tools]
    while True:
        blocks = list[dict[str, Any]]()
        async for event in await create(
            model="claude-opus-4-8", max_tokens=1000, messages=messages, tools=offered, stream=True
        ):
            await _block(event, blocks, say)
        for block in blocks:
            if block["type"] == "tool_use":
                block["input"] = json.loads(block["input"] or "{}")
        messages.append({"role": "assistant", "content": blocks})
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not calls:
            return
        told = await _called(tools, ((call["name"], json.dumps(call["input"])) for call in calls))
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": text}
            for call, text in zip(calls, told, strict=True)
        ]
        messages.append({"role": "user", "content": results})


async def _block(event: Any, blocks: list[dict[str, Any]], say: Say) -> None:  # noqa: ANN401
    match event.type:
        case "content_block_start" if event.content_block.type == "text":
            blocks.append({"type": "text", "text": ""})
        case "content_block_start":
            given = event.content_block
            blocks.append({"type": "tool_use", "id": given.id, "name": given.name, "input": ""})
        case "content_block_delta" if event.delta.type == "text_delta":
            blocks[-1]["text"] += event.delta.text
            await say(event.delta.text)
        case "content_block_delta":
            blocks[-1]["input"] += event.delta.partial_json
        case _:
            pass


async def _called(tools: Tools, calls: Iterable[tuple[str, str]]) -> list[str]:
    return await asyncio.gather(*(_call(tools[name], json.loads(said)) for name, said in calls))


async def _call(tool: Callable[..., Any], given: dict[str, Any]) -> str:
    if inspect.iscoroutinefunction(tool):
        return await tool(**given)
    return await asyncio.to_thread(tool, **given)
