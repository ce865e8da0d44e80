"""Which format is spoken where, and what each can say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lastword.testing.provider import anthropic, chat, gemini, responses
from lastword.testing.provider.marks import CREATED, Marks
from lastword.testing.provider.script import Answer, Failure
from lastword.testing.provider.strict import Format
from lastword.testing.provider.told import Told

PATHS: dict[str, Format] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
}


_GEMINI = re.compile(r"/v1(?:beta|alpha)?/models/[^/:]+:(generate|streamGenerate)Content")


def format_of(path: str) -> Format | None:
    """What is spoken at a path."""
    return "gemini" if _GEMINI.fullmatch(path) else PATHS.get(path)


@dataclass(frozen=True, slots=True)
class Speech:
    """How one format says each thing."""

    whole: Callable[[Answer, Mapping[str, Any], Marks], dict[str, Any]]
    stream: Callable[[Answer, Mapping[str, Any], Marks], Told]
    error: Callable[[Failure], dict[str, Any]]
    broken: Callable[[Failure], bytes]


SPEECH: dict[Format, Speech] = {
    "chat": Speech(chat.whole, chat.stream, chat.error, chat.broken),
    "responses": Speech(responses.whole, responses.stream, responses.error, responses.broken),
    "anthropic": Speech(anthropic.whole, anthropic.stream, anthropic.error, anthropic.broken),
    "gemini": Speech(gemini.whole, gemini.stream, gemini.error, gemini.broken),
}


def models(names: tuple[str, ...]) -> dict[str, Any]:
    """The list of models, as both of them would give it."""
    openai = {"object": "model", "created": CREATED, "owned_by": "lastword"}
    both = {**openai, "type": "model", "created_at": "2025-10-09T08:53:20Z"}
    data = [{"id": name, "display_name": name, "lifecycle": "active", **both} for name in names]
    page = {"has_more": False, "first_id": names[0], "last_id": names[-1]}
    return {"object": "list", "data": data, **page}
