"""Loops over the `openai` client as engines: `Runtime(OpenAI(AsyncOpenAI(), model, tools=[...]))`.

What the model streams is said through the run, its tools are called through the gate, and each
request is made of the session's log. A stop closes the connection. `OpenAI` speaks chat
completions, as many servers do; `OpenAIResponses` speaks responses, and gives reasoning back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openai import APIError, AsyncOpenAI

from lastword.core.shown import Shown
from lastword.engines.kit.chat import CHAT, chat
from lastword.engines.kit.compaction import Compaction
from lastword.engines.kit.loop import HeardAnswer
from lastword.engines.kit.responses import RESPONSES, responses
from lastword.engines.kit.sdk import SdkEngine, broke_off, events
from lastword.engines.kit.tools import FunctionTool
from lastword.runtime.run import Run

__all__ = ["Compaction", "FunctionTool", "OpenAI", "OpenAIResponses"]


class OpenAI(SdkEngine[AsyncOpenAI]):
    """An engine over chat completions."""

    provider = "openai"
    speaks = CHAT
    errors = APIError
    usual = {"stream_options": {"include_usage": True}}  # noqa: RUF012 - never changed

    async def hear(
        self, talk: Sequence[Shown], tools: Sequence[FunctionTool], heard: HeardAnswer
    ) -> None:
        create: Any = self.client.chat.completions.create
        system = [{"role": "system", "content": self.instructions}] if self.instructions else []
        offered = [{"type": "function", "function": _described(one)} for one in tools]
        stream = await create(
            model=self.model,
            messages=[*system, *chat(talk, whose=self.whose)],
            stream=True,
            **({"tools": offered} if offered else {}),
            **self.settings,
        )
        calls, finish, used = dict[int, list[str]](), "", (0, 0)
        async with stream:
            async for chunk in events(stream, heard):
                if chunk.usage:
                    used = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
                for choice in chunk.choices:
                    finish = choice.finish_reason or finish
                    if extra := choice.delta.model_extra:
                        await heard.think(extra.get("reasoning_content") or "")
                    await heard.text(choice.delta.content or choice.delta.refusal or "")
                    for part in choice.delta.tool_calls or ():
                        _join(calls.setdefault(part.index, ["", "", ""]), part)
        for id_, name, arguments in calls.values():
            heard.want(id_, name, arguments)
        if not finish:
            raise broke_off(self.model, heard)
        await heard.end(*used, cut=finish == "length")

    async def summarise(self, run: Run, text: str) -> str:
        create: Any = self.client.chat.completions.create
        with self.request(run) as request:
            answer = await create(model=self.model, messages=[{"role": "user", "content": text}])
            if answer.usage:
                request.used(answer.usage.prompt_tokens, answer.usage.completion_tokens)
        return answer.choices[0].message.content or ""


def _described(tool: FunctionTool) -> dict[str, Any]:
    described = {"name": tool.name, "parameters": tool.schema}
    return {**described, "description": tool.description} if tool.description else described


def _join(call: list[str], part: Any) -> None:  # noqa: ANN401 - a piece of a call
    call[0] = call[0] or part.id or ""
    if part.function:
        call[1] += part.function.name or ""
        call[2] += part.function.arguments or ""


class OpenAIResponses(SdkEngine[AsyncOpenAI]):
    """An engine over responses. Nothing is kept at the provider: the log has what is given back."""

    provider = "openai"
    speaks = RESPONSES
    errors = APIError
    usual = {"store": False, "include": ["reasoning.encrypted_content"]}  # noqa: RUF012

    async def hear(
        self, talk: Sequence[Shown], tools: Sequence[FunctionTool], heard: HeardAnswer
    ) -> None:
        create: Any = self.client.responses.create
        offered = [{"type": "function", **_described(one), "strict": False} for one in tools]
        stream = await create(
            model=self.model,
            input=responses(talk, whose=self.whose),
            stream=True,
            **({"instructions": self.instructions} if self.instructions else {}),
            **({"tools": offered} if offered else {}),
            **self.settings,
        )
        ended = None
        async with stream:
            async for event in events(stream, heard):
                ended = await self._take(event, heard) or ended
        if ended is None:
            raise broke_off(self.model, heard)
        used = (ended.usage.input_tokens, ended.usage.output_tokens) if ended.usage else ()
        await heard.end(*used, cut=ended.status == "incomplete")

    async def _take(self, event: Any, heard: HeardAnswer) -> Any:  # noqa: ANN401 - as they come
        """Pass it on; the whole response, if that was its end."""
        match event.type:
            case "response.output_text.delta" | "response.refusal.delta":
                await heard.text(event.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                await heard.think(event.delta)
            case "response.output_item.done":
                await _seal(event.item, heard)
            case "response.completed" | "response.incomplete":
                return event.response
            case "error" | "response.failed":
                error = event.response.error if event.type == "response.failed" else event
                raise self.failed_with(error.code, error.message, heard)
            case _:
                pass
        return None

    async def summarise(self, run: Run, text: str) -> str:
        create: Any = self.client.responses.create
        with self.request(run) as request:
            answer = await create(model=self.model, input=text, store=False)
            if answer.usage:
                request.used(answer.usage.input_tokens, answer.usage.output_tokens)
        return answer.output_text


async def _seal(item: Any, heard: HeardAnswer) -> None:  # noqa: ANN401 - as they come
    match item.type:
        case "message":
            await heard.seal("text", id=item.id)
        case "reasoning":
            whole = item.model_dump(include={"id", "type", "summary", "encrypted_content"})
            await heard.seal("thinking", id=item.id, item=whole)
        case "function_call":
            heard.want(item.call_id, item.name, item.arguments, id=item.id)
        case _:
            pass
