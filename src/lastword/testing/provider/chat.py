"""OpenAI's chat completions, and thinking as the many servers that speak it give it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lastword.testing.provider.marks import CREATED, Marks, asked_tokens, tokens
from lastword.testing.provider.script import Answer, Call, Failure, Part, Think
from lastword.testing.provider.told import Told, event

_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def error(failure: Failure) -> dict[str, Any]:
    """How OpenAI says that something went wrong."""
    usual = ("server_error" if failure.status >= 500 else "invalid_request_error", None)
    kind, code = _ERRORS.get(failure.status, usual)
    where = {"param": failure.param, "code": failure.code or code}
    return {"error": {"message": failure.message, "type": kind, **where}}


def whole(answer: Answer, body: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    """The answer in one piece."""
    calls = [
        {"id": _id(call, index, marks), "type": "function", "function": _function(call)}
        for index, call in enumerate(answer.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": answer.said or None}
    message |= {"refusal": None, "annotations": []}
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    head = _head("chat.completion", body, marks)
    return {**head, "choices": [choice], "usage": _usage(answer, body)}


def stream(answer: Answer, body: Mapping[str, Any], marks: Marks) -> Told:
    """The answer chunk by chunk."""
    head = _head("chat.completion.chunk", body, marks)
    options: Mapping[str, Any] = body.get("stream_options") or {}
    counted = bool(options.get("include_usage"))
    usage = {"usage": None} if counted else {}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**head, "choices": [choice], **usage})

    deltas = (delta for index, part in answer.numbered for delta in _deltas(part, index, marks))
    ending = chunk({}, _finish(answer))
    if counted:
        ending += event({**head, "choices": [], "usage": _usage(answer, body)})
    return Told(
        opening=chunk({"role": "assistant", "content": "", "refusal": None}),
        chunks=[chunk(delta) for delta in deltas],
        ending=ending + b"data: [DONE]\n\n",
    )


def broken(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    return event(error(failure))


def _deltas(part: Part, index: int, marks: Marks) -> Iterator[dict[str, Any]]:
    if isinstance(part, Call):
        named = {"name": part.name, "arguments": ""}
        opened = {"index": index, "id": _id(part, index, marks), "type": "function"}
        yield {"tool_calls": [{**opened, "function": named}]}
        for piece in part.chunks:
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
    elif isinstance(part, Think):
        yield from ({"reasoning_content": piece} for piece in part.chunks)
        if not part.chunks:
            yield {}
    else:
        yield from ({"content": piece} for piece in part.chunks)


def _head(object: str, body: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{marks.hex('completion', 29)}",
        "object": object,
        "created": CREATED,
        "model": body.get("model", ""),
        "service_tier": "default",
        "system_fingerprint": "fp_1a57000000",
    }


def _id(call: Call, index: int, marks: Marks) -> str:
    return call.id or marks.call(index)


def _function(call: Call) -> dict[str, str]:
    return {"name": call.name, "arguments": call.text}


def _finish(answer: Answer) -> str:
    if answer.finish == "length":
        return "length"
    return "tool_calls" if answer.calls else "stop"


def _usage(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    asked, thought = asked_tokens(body), tokens(answer.thought)
    given = thought + tokens(answer.said) + sum(tokens(call.text) + 8 for call in answer.calls)
    return {
        "prompt_tokens": asked,
        "completion_tokens": given,
        "total_tokens": asked + given,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": thought,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
