"""A loop over the `anthropic` client as an engine: `Runtime(Anthropic(AsyncAnthropic(), model))`.

What the model streams is said through the run, its tools are called through the gate, and each
request is made of the session's log, with the thinking that has to come back. A stop closes the
connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anthropic import APIError, AsyncAnthropic

from lastword.core.shown import Shown
from lastword.engines.kit.anthropic import ANTHROPIC, anthropic
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.loop import HeardAnswer
from lastword.engines.kit.sdk import SdkEngine, broke_off, events
from lastword.engines.kit.tools import FunctionTool
from lastword.runtime.run import Run

__all__ = ["Anthropic", "Compaction", "FunctionTool"]
_MOST = 16_000  # tokens of an answer, if nobody says; the provider wants to be told


class Anthropic(SdkEngine[AsyncAnthropic]):
    """An engine over messages."""

    provider = "anthropic"
    speaks = ANTHROPIC
    errors = APIError
    usual = {"max_tokens": _MOST}  # noqa: RUF012 - never changed

    async def hear(
        self, talk: Sequence[Shown], tools: Sequence[FunctionTool], heard: HeardAnswer
    ) -> None:
        create: Any = self.client.messages.create
        offered = [
            {"name": one.name, "description": one.description, "input_schema": one.schema}
            for one in tools
        ]
        stream = await create(
            model=self.model,
            messages=anthropic(talk, whose=self.whose),
            stream=True,
            **({"system": self.instructions} if self.instructions else {}),
            **({"tools": offered} if offered else {}),
            **self.settings,
        )
        answer = _Answer(heard)
        async with stream:
            async for event in events(stream, heard):
                await answer.take(event)
        if not answer.reason:
            raise broke_off(self.model, heard)
        await heard.end(*answer.used, cut=answer.reason == "max_tokens")

    async def summarise(self, run: Run, text: str) -> str:
        create: Any = self.client.messages.create
        asked = [{"role": "user", "content": text}]
        with self.request(run) as request:
            answer = await create(model=self.model, messages=asked, max_tokens=_MOST)
            request.used(answer.usage.input_tokens, answer.usage.output_tokens)
        return "".join(block.text for block in answer.content if block.type == "text")


class _Answer:
    """One answer, block by block."""

    def __init__(self, heard: HeardAnswer) -> None:
        self.reason = ""
        self.used = (0, 0)
        self._heard = heard
        self._block: Any = None
        self._said = ""  # of the block: its thinking, or its input
        self._signature = ""

    async def take(self, event: Any) -> None:  # noqa: ANN401 - as they come
        match event.type:
            case "message_start":
                self.used = (event.message.usage.input_tokens, 0)
            case "content_block_start":
                self._block, self._said, self._signature = event.content_block, "", ""
            case "content_block_delta":
                await self._delta(event.delta)
            case "content_block_stop":
                await self._end()
            case "message_delta":
                self.reason = event.delta.stop_reason or self.reason
                self.used = (self.used[0], event.usage.output_tokens)
            case _:
                pass

    async def _delta(self, delta: Any) -> None:  # noqa: ANN401
        match delta.type:
            case "text_delta":
                await self._heard.text(delta.text)
            case "thinking_delta":
                self._said += delta.thinking
                await self._heard.think(delta.thinking)
            case "signature_delta":
                self._signature += delta.signature
            case "input_json_delta":
                self._said += delta.partial_json
            case _:
                pass

    async def _end(self) -> None:
        match self._block.type:
            case "thinking":
                signed = {"thinking": self._said, "signature": self._signature}
                await self._heard.seal("thinking", block={"type": "thinking", **signed})
            case "redacted_thinking":
                block = {"type": "redacted_thinking", "data": self._block.data}
                await self._heard.seal("thinking", block=block)
            case "tool_use":
                self._heard.want(self._block.id, self._block.name, self._said or "{}")
            case _:
                pass
