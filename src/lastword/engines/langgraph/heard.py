"""One answer of a model, passed on where it comes in: before the framework has it, and in order.

What it says has left, and what it asks for is written down, before any node sees the answer. An
answer that was cut short is told as such; what its provider wants back is kept with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.outputs import ChatGeneration

from lastword.core.entries import Native
from lastword.engines.kit.wire import native
from lastword.runtime.run import Run

_LENGTH = "The answer was cut off at the model's limit of tokens."
_CUT = ("length", "max_tokens", "MAX_TOKENS", "max_output_tokens")
_THOUGHT = ("thinking", "reasoning", "redacted_thinking")
_CALLS = ("tool_use", "function_call")
_NOT_KEPT = ("index", "sub_index", "partial_json", "input", "arguments", "extras")


class WantedTool(NamedTuple):
    """A call that a model asked for."""

    id: str
    name: str
    arguments: str
    native: Native
    wrong: str = ""  # what it said is not arguments


class TakesDown(Protocol):
    """Who writes down what a model asked for."""

    run: Run

    def ask(self, wanted: Iterable[WantedTool]) -> None: ...
    def told(self, message: BaseMessage, text: str) -> None: ...


class HeardMessage:
    """For the run's event loop."""

    def __init__(self, talk: TakesDown, whose: str) -> None:
        self.said = False  # whether the person was told something of it
        self.alone = True  # whether no other answer came meanwhile: then natives have their place
        self._talk = talk
        self._run = talk.run
        self._whose = whose
        self._text: list[str] = []
        self._kept: list[AIMessageChunk] = []  # what is more than text
        self._block: dict[str, Any] = {}  # the thought, or text, that is under way

    async def take(self, message: BaseMessage) -> None:
        """A piece of it, or all of it."""
        if isinstance(message, AIMessageChunk) and _is_more(message):
            self._kept.append(message)
        if thought := message.additional_kwargs.get("reasoning_content"):
            await self._think(str(thought))
        if isinstance(message.content, str):
            await self._say(message.content)
            return
        for block in message.content:
            await self._part({"type": "text", "text": block} if isinstance(block, str) else block)

    async def _part(self, block: Mapping[str, Any]) -> None:
        kind = str(block.get("type", ""))
        if self._block and (kind, block.get("index")) != (
            self._block["type"],
            self._block.get("index"),
        ):
            await self._close()
        if kind in _CALLS:
            return
        if kind == "text":
            known = {"id": block["id"]} if block.get("id") else {}
            self._block = {**self._block, "type": kind, "index": block.get("index"), **known}
            await self._say(str(block.get("text") or ""))
        elif kind in _THOUGHT:
            self._block = _merged(self._block, block)
            await self._think(_thought(block))

    async def _say(self, text: str) -> None:
        if text:
            self._text.append(text)
            self.said = True
            await self._run.emit(text, soon=True)

    async def _think(self, text: str) -> None:
        if text:
            await self._run.think(text, soon=True)

    async def _close(self) -> None:
        """A thought, or a text, is whole: what its provider wants with it is kept."""
        block, self._block = self._block, {}
        thought = block.get("type") in _THOUGHT
        if not block or not self.alone or not (thought or "id" in block):
            return
        await self._run.said()  # before what is sealed, or called, after it
        own = {name: value for name, value in block.items() if name != "index"}
        self._run.seal(native(self._whose, block=own), of="thinking" if thought else "text")

    async def end(self, message: AIMessage | None = None, reason: str = "") -> None:
        """That was all, for that reason. What it asks for is written down at once."""
        whole = message or self._whole()
        await self._close()
        await self._run.said()
        self._talk.told(whole, "".join(self._text))
        self._talk.ask(self._wanted(whole))
        if reason in _CUT:
            await self._run.progress(_LENGTH)

    def _whole(self) -> AIMessageChunk:
        if not self._kept:
            return AIMessageChunk(content="")
        return add_ai_message_chunks(self._kept[0], *self._kept[1:])

    def _wanted(self, whole: AIMessage) -> Iterable[WantedTool]:
        blocks = {
            str(block.get("call_id") or block.get("id")): block
            for block in whole.content
            if isinstance(block, dict) and block.get("type") in _CALLS
        }
        for call in whole.tool_calls:
            own = _block_of(blocks.get(call["id"] or ""))
            known = {"call_id": call["id"], **own} if call["id"] else own
            said = json.dumps(call["args"], ensure_ascii=False, default=str)
            yield WantedTool(call["id"] or "", call["name"], said, native(self._whose, **known))
        for bad in whole.invalid_tool_calls:
            why = "its arguments are not a JSON object"
            known = {"call_id": bad["id"]} if bad["id"] else {}
            own_, said = native(self._whose, **known), bad["args"] or ""
            yield WantedTool(bad["id"] or "", bad["name"] or "", said, own_, why)


def reason_of(answer: ChatGeneration) -> str:
    """Why its provider says that it ends there; nothing, if it does not say."""
    about = {**(answer.generation_info or {}), **answer.message.response_metadata}
    details: Any = about.get("incomplete_details") or {}
    why = about.get("finish_reason") or about.get("stop_reason") or details.get("reason")
    return str(why or about.get("status") or "")


def _is_more(chunk: AIMessageChunk) -> bool:
    """Whether it is more than a piece of text."""
    if chunk.tool_call_chunks or chunk.usage_metadata or chunk.response_metadata:
        return True
    return not isinstance(chunk.content, str) and bool(chunk.content)


def _merged(block: Mapping[str, Any], piece: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(block)
    for name, value in piece.items():
        before = merged.get(name)
        if name in ("thinking", "signature", "data", "reasoning") and isinstance(before, str):
            merged[name] = before + str(value)
        elif name == "summary" and isinstance(before, list):
            merged[name] = _summed(cast("list[Any]", before), value)
        else:
            merged[name] = value
    return merged


def _summed(before: list[Any], pieces: Any) -> list[Any]:  # noqa: ANN401 - as the provider has it
    summary = {one.get("index", place): dict(one) for place, one in enumerate(before)}
    for place, piece in enumerate(pieces):
        at = piece.get("index", place)
        text = summary.get(at, {}).get("text", "") + piece.get("text", "")
        summary[at] = {**summary.get(at, {}), **piece, "text": text}
    return list(summary.values())


def _thought(block: Mapping[str, Any]) -> str:
    summary: Any = block.get("summary") or ()
    said = block.get("thinking") or block.get("reasoning") or ""
    return str(said) or "".join(str(one.get("text", "")) for one in summary)


def _block_of(block: Mapping[str, Any] | None) -> dict[str, Any]:
    """A call as its provider has it, for one that has an id beside the call's."""
    if not block or block.get("type") != "function_call":
        return {}
    return {"block": {name: value for name, value in block.items() if name not in _NOT_KEPT}}
