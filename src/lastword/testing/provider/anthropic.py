"""Anthropic's messages: an answer is a list of blocks, and thinking is signed."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from lastword.testing.provider.marks import Marks, asked_tokens, sign, tokens
from lastword.testing.provider.script import Answer, Call, Failure, Say, Think
from lastword.testing.provider.told import Told, event, framed

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error(failure: Failure) -> dict[str, Any]:
    """How Anthropic says that something went wrong."""
    usual = "api_error" if failure.status >= 500 else "invalid_request_error"
    what = {"type": _ERRORS.get(failure.status, usual), "message": failure.message}
    return {"type": "error", "error": what, "request_id": "req_011a57"}


def whole(answer: Answer, body: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    """The answer in one piece."""
    ends = {"stop_reason": _finish(answer), "stop_sequence": None}
    usage = {**_usage(body), "output_tokens": _given(answer)}
    return {**_head(body, marks), "content": _blocks(answer, marks), **ends, "usage": usage}


def stream(answer: Answer, body: Mapping[str, Any], marks: Marks) -> Told:
    """The answer event by event."""
    opening = _event("message_start", message={**_head(body, marks), "usage": _usage(body)})
    chunks: list[bytes] = []
    for index, block in enumerate(_blocks(answer, marks)):
        part = answer.parts[index]
        begun, deltas, signed = _steps(part, block)
        before = _event("content_block_start", index=index, content_block=begun)
        told = [_event("content_block_delta", index=index, delta=delta) for delta in deltas]
        after = b"".join(_event("content_block_delta", index=index, delta=one) for one in signed)
        after += _event("content_block_stop", index=index)
        chunks += framed(before, told, after)
    delta = {"stop_reason": _finish(answer), "stop_sequence": None}
    ending = _event("message_delta", delta=delta, usage={"output_tokens": _given(answer)})
    return Told(opening + _event("ping"), chunks, ending + _event("message_stop"))


def broken(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    return event(error(failure), name="error")


def _event(name: str, **data: Any) -> bytes:  # noqa: ANN401 - whatever the event has
    return event({"type": name, **data}, name=name)


def _steps(
    part: Say | Think | Call, block: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, str]], list[dict[str, str]]]:
    """A block as it begins, what is added to it, and what signs it."""
    match part:
        case Say():
            deltas = [{"type": "text_delta", "text": piece} for piece in part.chunks]
            return {**block, "text": ""}, deltas, []
        case Call():
            pieces = ["", *part.chunks]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            return {**block, "input": {}}, deltas, []
        case Think() if not part.chunks:
            return block, [], []
        case Think():
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in part.chunks]
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, deltas, [signature]


def _blocks(answer: Answer, marks: Marks) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    thought = False
    for index, part in answer.numbered:
        match part:
            case Say():
                blocks.append({"type": "text", "text": part.text})
            case Think():
                thought = True
                blocks.append(_thinking(part))
            case Call():
                own = part.id or marks.use(index, thought=thought)
                use = {"type": "tool_use", "id": own, "name": part.name}
                blocks.append({**use, "input": _input(part)})
    return blocks


def _thinking(part: Think) -> dict[str, Any]:
    if not part.chunks:
        hidden = base64.b64encode(b"thinking that is not shown").decode()
        return {"type": "redacted_thinking", "data": hidden}
    return {"type": "thinking", "thinking": part.text, "signature": sign(part.text)}


def _input(call: Call) -> Any:  # noqa: ANN401 - whatever JSON holds
    """An object; what is none is left as it is, for the client to find out."""
    try:
        return json.loads(call.text)
    except ValueError:
        return call.text


def _head(body: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    return {
        "id": f"msg_01{marks.hex('message', 22)}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _finish(answer: Answer) -> str:
    if answer.finish == "length":
        return "max_tokens"
    return "tool_use" if answer.calls else "end_turn"


def _given(answer: Answer) -> int:
    return sum(tokens(part.text) + 4 for part in answer.parts)


def _usage(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input_tokens": asked_tokens(body),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
        "service_tier": "standard",
    }
