"""Gemini: an answer is a list of parts, a call comes whole, and the model is in the path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lastword.testing.provider.marks import Marks, asked_tokens, tokens
from lastword.testing.provider.script import Answer, Call, Failure, Part, Think
from lastword.testing.provider.told import Told, event

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def error(failure: Failure) -> dict[str, Any]:
    """How Google says that something went wrong."""
    usual = "INTERNAL" if failure.status >= 500 else "INVALID_ARGUMENT"
    status = _STATUS.get(failure.status, usual)
    return {"error": {"code": failure.status, "message": failure.message, "status": status}}


def whole(answer: Answer, body: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    """The answer in one piece."""
    parts = [_part(part, part.text, index, marks) for index, part in answer.numbered]
    return _candidate(parts, marks, _ends(answer, body))


def stream(answer: Answer, body: Mapping[str, Any], marks: Marks) -> Told:
    """The answer piece by piece; a call is in the last of its own."""
    chunks: list[bytes] = []
    for index, part in answer.numbered:
        if isinstance(part, Call):
            chunks += [b""] * len(part.chunks)
            chunks.append(event(_candidate([_part(part, "", index, marks)], marks)))
        else:
            pieces = part.chunks or ("",)
            told = [_candidate([_part(part, piece, index, marks)], marks) for piece in pieces]
            chunks += [event(one) for one in told]
    return Told(b"", chunks, event(_candidate([], marks, _ends(answer, body))))


def broken(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    return event(error(failure))


def _part(part: Part, text: str, index: int, marks: Marks) -> dict[str, Any]:
    if isinstance(part, Call):
        own = part.id or marks.call(index)
        return {"functionCall": {"id": own, "name": part.name, "args": _arguments(part)}}
    return {"text": text, "thought": True} if isinstance(part, Think) else {"text": text}


def _arguments(call: Call) -> Any:  # noqa: ANN401 - whatever JSON holds
    """An object; what is none is left as it is, for the client to find out."""
    try:
        return json.loads(call.text)
    except ValueError:
        return call.text


def _candidate(
    parts: list[dict[str, Any]], marks: Marks, ends: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    head = {"modelVersion": "scripted", "responseId": marks.hex("response", 24)}
    told = dict(ends or {})
    finish = {"finishReason": told.pop("finishReason")} if told else {}
    content = {"role": "model", "parts": parts or [{"text": ""}]}
    return {"candidates": [{"content": content, "index": 0, **finish}], **told, **head}


def _ends(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    asked, thought = asked_tokens(body), tokens(answer.thought)
    given = tokens(answer.said) + sum(tokens(call.text) + 8 for call in answer.calls)
    usage = {
        "promptTokenCount": asked,
        "candidatesTokenCount": given,
        "thoughtsTokenCount": thought,
        "totalTokenCount": asked + given + thought,
    }
    finish = "MAX_TOKENS" if answer.finish == "length" else "STOP"
    return {"finishReason": finish, "usageMetadata": usage}
