"""OpenAI's responses: an answer is a list of items, and each says which reasoning it came of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastword.testing.provider.chat import error
from lastword.testing.provider.marks import CREATED, Marks, asked_tokens, seal, tokens
from lastword.testing.provider.script import Answer, Call, Failure, Say, Think
from lastword.testing.provider.told import Told, event, framed

__all__ = ["broken", "error", "stream", "whole"]

_SEALED = "reasoning.encrypted_content"


def whole(answer: Answer, body: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    """The answer in one piece."""
    short = answer.finish == "length"
    head = _head(body, marks, "incomplete" if short else "completed")
    why = {"reason": "max_output_tokens"} if short else None
    output = _items(answer, body, marks)
    usage = _usage(answer, body)
    return {**head, "incomplete_details": why, "output": output, "usage": usage}


def stream(answer: Answer, body: Mapping[str, Any], marks: Marks) -> Told:
    """The answer event by event."""
    tell = _Teller()
    begun = _head(body, marks, "in_progress")
    opening = tell("response.created", response=begun)
    opening += tell("response.in_progress", response=begun)
    chunks: list[bytes] = []
    for index, (part, item) in enumerate(
        zip(answer.parts, _items(answer, body, marks), strict=True)
    ):
        at = {"item_id": item["id"], "output_index": index}
        match part:
            case Say():
                chunks += _message(tell, part, item, at)
            case Think():
                chunks += _reasoning(tell, part, item, at)
            case Call():
                chunks += _call(tell, part, item, at)
    done = whole(answer, body, marks)
    return Told(opening, chunks, tell(f"response.{done['status']}", response=done))


def broken(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    told = error(failure)["error"]
    told = {"code": told["code"] or told["type"], "message": told["message"], "param": None}
    return event({"type": "error", **told, "sequence_number": 0}, name="error")


class _Teller:
    """Events, numbered."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, name: str, /, **data: Any) -> bytes:  # noqa: ANN401 - whatever the event has
        number, self._number = self._number, self._number + 1
        return event({"type": name, **data, "sequence_number": number}, name=name)


def _message(
    tell: _Teller, part: Say, item: Mapping[str, Any], at: Mapping[str, Any]
) -> list[bytes]:
    where = {**at, "content_index": 0}
    before = _added(tell, {**item, "content": []}, at)
    empty: dict[str, Any] = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    before += tell("response.content_part.added", **where, part=empty)
    deltas = [
        tell("response.output_text.delta", **where, delta=piece, logprobs=[])
        for piece in part.chunks
    ]
    after = tell("response.output_text.done", **where, text=part.text, logprobs=[])
    after += tell("response.content_part.done", **where, part=item["content"][0])
    return framed(before, deltas, after + _done(tell, item, at))


def _reasoning(
    tell: _Teller, part: Think, item: Mapping[str, Any], at: Mapping[str, Any]
) -> list[bytes]:
    where = {**at, "summary_index": 0}
    before, after = _added(tell, {**item, "summary": []}, at), b""
    deltas: list[bytes] = []
    if part.chunks:
        empty = {"type": "summary_text", "text": ""}
        before += tell("response.reasoning_summary_part.added", **where, part=empty)
        name = "response.reasoning_summary_text.delta"
        deltas = [tell(name, **where, delta=piece) for piece in part.chunks]
        after = tell("response.reasoning_summary_text.done", **where, text=part.text)
        full = {"type": "summary_text", "text": part.text}
        after += tell("response.reasoning_summary_part.done", **where, part=full)
    return framed(before, deltas, after + _done(tell, item, at))


def _call(tell: _Teller, part: Call, item: Mapping[str, Any], at: Mapping[str, Any]) -> list[bytes]:
    name = "response.function_call_arguments"
    added = _added(tell, {**item, "arguments": ""}, at)
    deltas = [tell(f"{name}.delta", **at, delta=piece) for piece in part.chunks]
    after = tell(f"{name}.done", **at, name=part.name, arguments=part.text)
    return framed(added, [b"", *deltas], after + _done(tell, item, at))


def _added(tell: _Teller, item: Mapping[str, Any], at: Mapping[str, Any]) -> bytes:
    status = {"status": "in_progress"} if "status" in item else {}
    name = "response.output_item.added"
    return tell(name, output_index=at["output_index"], item={**item, **status})


def _done(tell: _Teller, item: Mapping[str, Any], at: Mapping[str, Any]) -> bytes:
    return tell("response.output_item.done", output_index=at["output_index"], item=item)


def _items(answer: Answer, body: Mapping[str, Any], marks: Marks) -> list[dict[str, Any]]:
    sealed = _SEALED in (body.get("include") or ())
    reasoning: int | None = None
    items: list[dict[str, Any]] = []
    for index, (calls, part) in enumerate(answer.numbered):
        match part:
            case Think():
                reasoning = index
                items.append(_thought(part, marks.item("rs", index), sealed=sealed))
            case Say():
                own = marks.item("msg", index, reasoning)
                text: dict[str, Any] = {"type": "output_text", "annotations": [], "logprobs": []}
                said: dict[str, Any] = {
                    "role": "assistant",
                    "content": [{**text, "text": part.text}],
                }
                items.append({"id": own, "type": "message", "status": "completed", **said})
            case Call():
                own = marks.item("fc", index, reasoning)
                call = {"name": part.name, "arguments": part.text, "status": "completed"}
                call_id = part.id or marks.call(calls)
                items.append({"id": own, "type": "function_call", "call_id": call_id, **call})
    return items


def _thought(part: Think, id: str, *, sealed: bool) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": part.text}] if part.chunks else []
    item = {"id": id, "type": "reasoning", "summary": summary}
    return {**item, "encrypted_content": seal(id)} if sealed else item


def _head(body: Mapping[str, Any], marks: Marks, status: str) -> dict[str, Any]:
    def asked(name: str, usual: Any) -> Any:  # noqa: ANN401 - whatever was asked for
        return body.get(name) or usual

    return {
        "id": f"resp_{marks.hex('response', 48)}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": asked("metadata", {}),
        "model": asked("model", ""),
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": asked("reasoning", {"effort": None, "summary": None}),
        "service_tier": "default",
        "store": body.get("store", True),
        "temperature": asked("temperature", 1.0),
        "text": asked("text", {"format": {"type": "text"}}),
        "tool_choice": asked("tool_choice", "auto"),
        "tools": asked("tools", []),
        "top_p": asked("top_p", 1.0),
        "truncation": "disabled",
        "usage": None,
        "user": None,
    }


def _usage(answer: Answer, body: Mapping[str, Any]) -> dict[str, Any]:
    asked = asked_tokens(body)
    given = sum(tokens(part.text) + 4 for part in answer.parts)
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": given,
        "output_tokens_details": {"reasoning_tokens": tokens(answer.thought)},
        "total_tokens": asked + given,
    }
