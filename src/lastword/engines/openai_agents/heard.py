"""What a model answers in one request, passed on as it comes, before the framework has it.

So what was said stands before what was called, in the log as on the screen, and all that one answer
asks for is written down before the first of it is made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agents.models.fake_id import FAKE_RESPONSES_ID

from lastword.core.entries import Native
from lastword.engines.kit.responses import RESPONSES
from lastword.engines.kit.wire import native
from lastword.engines.openai_agents.actions import said_in
from lastword.engines.openai_agents.driving import Driven
from lastword.engines.openai_agents.handoffs import kept_agent
from lastword.engines.openai_agents.items import field_of

_GIVEN_BACK = ("message", "function_call")  # after a reasoning, in the words of `kit.responses`
_OURS = {  # other than functions; the name that each goes by
    "custom_tool_call": "",
    "shell_call": "shell",
    "local_shell_call": "local_shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
}
_HERE = ("reasoning", *_GIVEN_BACK, *_OURS)
_AT_THE_PROVIDER = "{} runs at the model's provider, where nothing here can stop it."
_KEEPS = ("id", "type", "summary", "encrypted_content")  # of a reasoning


class ModelAnswer:
    """One answer."""

    def __init__(self, driven: Driven, whose: str) -> None:
        self.said = False  # whether the person was told something of it
        self.failure: tuple[str, str] | None = None  # the code and the words of its provider
        self.whole = False  # its provider said that it was all
        self._driven = driven
        self._run = driven.run
        self._whose = whose
        self._speaks = driven.speaks
        self._knows_ids = whose.startswith(RESPONSES)
        self._reasoning: Any = None  # that is whole, and nothing has come of it yet
        self._items: list[Any] = []

    async def take(self, event: Any) -> None:  # noqa: ANN401 - as they come
        """Something of it came."""
        match getattr(event, "type", None):
            case "response.output_text.delta" | "response.refusal.delta" if self._speaks:
                self.said = self.said or bool(event.delta)
                await self._run.emit(event.delta, soon=True)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" if (
                self._speaks
            ):
                await self._run.think(event.delta, soon=True)
            case "response.output_item.added":
                await self._begins(event.item)
            case "response.output_item.done":
                await self._ended(event.item)
            case "response.completed":
                self.whole = True
                await self.asks(event.response.output)
                await self._driven.answered()
            case "response.failed" | "response.incomplete":
                self.failure = _failure_of(event.response)
            case "error" | "response.error":
                self.failure = str(event.code or ""), str(event.message)
            case _:
                pass

    async def asks(self, output: Iterable[Any]) -> None:
        """It is whole: write down all that it asks for, before the first of it is made."""
        await self._run.said()
        items = list(output) or self._items
        done = {field_of(item, "call_id") for item in items if _is_output(item)}
        for item in items:
            kind = str(field_of(item, "type"))
            if (kind == "function_call" or kind in _OURS) and field_of(item, "call_id") not in done:
                self._ask(item, kind)

    def _ask(self, item: Any, kind: str) -> None:  # noqa: ANN401 - the provider's
        id_ = str(field_of(item, "call_id"))
        name = _OURS.get(kind) or str(field_of(item, "name"))
        if kind == "function_call":
            given, own = str(field_of(item, "arguments")), self._native(item, call_id=id_)
        else:
            given, own = said_in(item), self._native(None, call_id=id_)
        self._driven.ask(id_, name, given, own)

    async def _begins(self, item: Any) -> None:  # noqa: ANN401 - the provider's
        reasoning, self._reasoning = self._reasoning, None
        if reasoning is not None and item.type in _GIVEN_BACK and reasoning.encrypted_content:
            kept = reasoning.model_dump(include=set(_KEEPS))
            self._run.seal(self._native(reasoning, item=kept), of="thinking")
        elif reasoning is not None:
            self._knows_ids = False  # what came of a reasoning is nothing without it
        if self._speaks and item.type not in _HERE and not _is_output(item):
            name = str(item.type).removesuffix("_call")
            await self._run.progress(_AT_THE_PROVIDER.format(name))

    async def _ended(self, item: Any) -> None:  # noqa: ANN401 - the provider's
        self._items.append(item)
        if not self._speaks:
            return
        await self._run.said()  # before what is sealed, or called, after it
        if item.type == "message":
            self._run.seal(self._native(item))
        elif item.type == "reasoning" and self._knows_ids:
            self._reasoning = item

    def _native(self, of: object, /, **kept: object) -> Native:
        id_ = field_of(of, "id")
        known = {"id": id_} if self._knows_ids and id_ and id_ != FAKE_RESPONSES_ID else {}
        return native(self._whose, **kept_agent(self._driven.agent), **known, **kept)


def _is_output(item: object) -> bool:
    return str(field_of(item, "type")).endswith("_output")


def _failure_of(response: Any) -> tuple[str, str]:  # noqa: ANN401 - the provider's
    if response.error is not None:
        return str(response.error.code), str(response.error.message)
    why = response.incomplete_details and response.incomplete_details.reason
    return str(why or ""), json.dumps(why)
