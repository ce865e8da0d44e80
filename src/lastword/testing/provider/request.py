"""What was asked, as a test looks at it: what came in, and what became of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lastword.testing.provider.script import Reply
from lastword.testing.provider.strict import Format, Offence

_ASSISTANT = ("function_call", "reasoning")
_MODEL = ("assistant", "model")
_WHERE = {"responses": "input", "gemini": "contents"}


@dataclass(eq=False, slots=True)
class Request:
    """One request. Its times are the loop's.

    `closed` is set when the client leaves before the answer is through, `finished` when the
    answer is. What a test releases of a paced answer after the client has left goes nowhere, and
    is counted in `sent_after_close`.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]  # by their names in small letters
    body: Mapping[str, Any]
    format: Format | None
    when: float
    answer: Reply | None = None
    offences: Sequence[Offence] = ()  # what the judge found, advice too
    refused: str | None = None
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    closed_at: float | None = None
    sent: int = 0
    sent_after_close: int = 0

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream")) or ":stream" in self.path

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        """The conversation in it, as its format has it."""
        where = _WHERE.get(self.format or "", "messages")
        given: str | list[Mapping[str, Any]] = self.body.get(where) or []
        return [{"role": "user", "content": given}] if isinstance(given, str) else given

    @property
    def prompt(self) -> str:
        """What the person said last."""
        return self.said[-1] if self.said else ""

    @property
    def said(self) -> list[str]:
        """All that the person said, in order."""
        theirs = [
            one.get("content") or one.get("parts")
            for one in self.messages
            if one.get("role") == "user"
        ]
        return [text for text in map(_text, theirs) if text]

    @property
    def results(self) -> list[str]:
        """What tools gave since the model last spoke."""
        since: list[Mapping[str, Any]] = []
        for message in reversed(self.messages):
            if message.get("role") in _MODEL or message.get("type") in _ASSISTANT:
                break
            since.insert(0, message)
        return [_text(result) for message in since for result in _results(message)]


def _results(message: Mapping[str, Any]) -> Iterator[Any]:
    content = message.get("content")
    if message.get("role") == "tool":
        yield content
    elif message.get("type") == "function_call_output":
        yield message.get("output")
    elif isinstance(content, list):
        blocks = cast("list[Mapping[str, Any]]", content)
        yield from (one.get("content") for one in blocks if one.get("type") == "tool_result")
    for part in message.get("parts") or ():
        if given := part.get("functionResponse"):
            yield json.dumps(given.get("response"), ensure_ascii=False)


def _text(content: Any) -> str:  # noqa: ANN401 - a text, or a list of parts
    if isinstance(content, str):
        return content
    parts: list[Mapping[str, Any]] = content or []
    return "".join(part.get("text", "") for part in parts)
