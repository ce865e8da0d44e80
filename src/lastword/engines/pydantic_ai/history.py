"""What the model is shown, in pydantic-ai's words.

The framework's own messages live as long as one run. What is shown of a session is put into its
words from the session's log, so that a stop can leave nothing in it that a provider would refuse.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeAlias

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model

from lastword.core.entries import Native
from lastword.core.model import CallId, Message
from lastword.core.shown import Shown
from lastword.engines.kit import files
from lastword.engines.kit.wire import is_id, kept, native, wire_id, wire_name
from lastword.engines.pydantic_ai.files import in_its_words, reader
from lastword.engines.pydantic_ai.sendable import safe_part

ENGINE = "pydantic-ai"
_SAID_BY_THE_MODEL = {"thinking", "assistant", "call"}
_KEPT = ("id", "signature", "provider_name", "provider_details", "tool_call_id")
Part: TypeAlias = TextPart | ThinkingPart | ToolCallPart


class Rewording:
    """A history on its way into the framework's words. What comes next is added to what there is.

    What another provider than the model's wants back is left out: this one would refuse it.
    """

    def __init__(self, model: Model | None = None, after: Rewording | None = None) -> None:
        self.model = model
        self.messages: list[ModelMessage] = []  # those that nothing can join
        self.parts: list[Any] = []  # of the next
        self.by_the_model = False
        # what each call is known by: what its provider called it, or what is its own alone
        self.ids: ChainMap[CallId | None, str] = ChainMap()
        self.taken: ChainMap[str, CallId | None] = ChainMap()
        if after:
            self.messages, self.parts = after.messages.copy(), after.parts.copy()
            self.by_the_model = after.by_the_model
            self.ids, self.taken = after.ids.new_child(), after.taken.new_child()

    def take(self, items: Iterable[Shown]) -> None:
        """What is shown next."""
        for given in items:
            item = _for(given, self.model)
            by_the_model = item.role in _SAID_BY_THE_MODEL
            if by_the_model != self.by_the_model:
                self._close()
                self.by_the_model = by_the_model
            if item.role == "call":
                self._name(item)
            part = _said(item, self.ids) if by_the_model else _told(item, self.ids, self.model)
            if part:
                self.parts.append(part)

    def all(self) -> list[ModelMessage]:
        """The messages; the one to answer is in the last request. Nothing is added behind them."""
        self._close()
        return self.messages

    def _name(self, made: Shown) -> None:
        given = str(_kept(made.native).get("tool_call_id", ""))
        own = given if is_id(given) and given not in self.taken else wire_id(made.call)
        self.ids[made.call], self.taken[own] = own, made.call

    def _close(self) -> None:
        parts, self.parts = self.parts, []
        last = self.messages[-1] if self.messages else None
        if not parts:
            return
        if self.by_the_model:
            self.messages.append(ModelResponse(parts, provider_name=_provider(parts)))
        elif isinstance(last, ModelRequest):  # the model had said nothing between
            self.messages[-1] = ModelRequest([*last.parts, *parts])
        else:
            self.messages.append(ModelRequest(parts))


def messages_of(history: Iterable[Shown], model: Model | None = None) -> list[ModelMessage]:
    """The history as the framework takes it."""
    words = Rewording(model)
    words.take(history)
    return words.all()


def _for(item: Shown, model: Model | None) -> Shown:
    given_by = _kept(item.native).get("provider_name")
    if model is None or given_by is None or given_by in _systems(model):
        return item
    return replace(item, native=None)


def _systems(model: Model) -> list[str]:
    """The names of the providers that it asks, one or, if some are for when others fail, many."""
    return model.system.removeprefix("fallback:").split(",")


def _said(item: Shown, ids: Mapping[CallId | None, str]) -> ModelResponsePart | None:
    back = _kept(item.native)
    match item.role:
        case "thinking":
            back.pop("tool_call_id", None)
            return ThinkingPart(item.text, **back) if back else None
        case "call":
            back.pop("signature", None)
            back["tool_call_id"] = ids[item.call]
            return ToolCallPart(wire_name(item.name), item.text, **back)
        case _:
            for name in ("signature", "tool_call_id"):
                back.pop(name, None)
            return TextPart(item.text, **back)


def _told(item: Shown, ids: Mapping[CallId | None, str], model: Model | None) -> ModelRequestPart:
    match item.role:
        case "result":
            failed = "failed" if item.error else "success"
            return ToolReturnPart(wire_name(item.name), item.text, ids[item.call], outcome=failed)
        case "user":
            return UserPromptPart(content_of(item.text, item.message, model))
        case _:  # lastword's own words, which the model must not take for the person's
            return UserPromptPart(f"[{item.text}]")


def content_of(
    text: str, message: Message | None, model: Model | None = None
) -> str | list[UserContent]:
    """What a person sent, with what came with it as far as the model can take it."""
    content = [in_its_words(one) for one in files.content_of(text, message, reader(model))]
    [first, *_] = content
    return content if (message and message.attachments) or not isinstance(first, str) else first


def with_own_ids(response: ModelResponse) -> ModelResponse:
    """An answer that can be stored and given back: a text has an encoding, an id is of one call."""
    seen: set[str] = set()
    parts: list[ModelResponsePart] = []
    for part in map(safe_part, response.parts):
        if isinstance(part, ToolCallPart) and part.tool_call_id in seen:
            again = f"{part.tool_call_id} {len(parts)}"
            parts.append(replace(part, tool_call_id=wire_id(CallId(again))))
        else:
            parts.append(part)
        if isinstance(part, ToolCallPart):
            seen.add(part.tool_call_id)
    return replace(response, parts=parts)


def native_of(part: Part) -> Native | None:
    """What the provider wants back with a part, if it said anything of the kind."""
    plain = {name: value for name in _KEPT if (value := getattr(part, name, None)) is not None}
    if not plain.get("provider_name"):
        return None
    return native(ENGINE, **plain)


def _kept(given: Native | None) -> dict[str, Any]:
    return kept(given, ENGINE)


def _provider(parts: Sequence[ModelResponsePart]) -> str | None:
    return next((asdict(p)["provider_name"] for p in parts if getattr(p, "provider_name", 0)), None)
