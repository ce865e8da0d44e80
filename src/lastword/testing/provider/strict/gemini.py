"""Google's Gemini: the turns of either side, and the calls between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lastword.testing.provider.strict.offence import Offence, Rule

Item: TypeAlias = Mapping[str, Any]

NO_CONTENTS = Rule("gemini.no_contents", "met: contents is not specified")
ROLE = Rule("gemini.role", "met: Please use a valid role: user, model")
EMPTY_PART = Rule("gemini.empty_part", "met: required oneof field 'data' must be initialized")
NO_PARTS = Rule("gemini.no_parts", "met: contents.parts must not be empty")
CALL_PLACE = Rule(
    "gemini.call_place", "met: function call turn comes immediately after a user turn"
)
NO_RESULT = Rule("gemini.no_result", "met: number of function response parts is equal to calls")
ORPHAN = Rule("gemini.orphan_result", "met: function response turn comes after a call turn")

RULES = (NO_CONTENTS, ROLE, EMPTY_PART, NO_PARTS, CALL_PLACE, NO_RESULT, ORPHAN)
_DATA = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
)


def judged(body: Item) -> Iterator[Offence]:
    """Every breach in a request, in the order it is found."""
    contents: Sequence[Item] = body["contents"]
    if not contents:
        yield NO_CONTENTS.broken("* GenerateContentRequest.contents: contents is not specified")
    for index, content in enumerate(contents):
        yield from _content(content, f"contents[{index}]")
    yield from _calls(contents)


def _content(content: Item, at: str) -> Iterator[Offence]:
    parts: Sequence[Item] = content.get("parts") or ()
    if content.get("role", "user") not in ("user", "model", "function"):
        yield ROLE.broken(f"{at}: Please use a valid role: user, model.")
    if not parts:
        yield NO_PARTS.broken(f"* GenerateContentRequest.{at}.parts: must not be empty.")
    for index, part in enumerate(parts):
        if not any(name in part for name in _DATA):
            why = "required oneof field 'data' must have one initialized field"
            yield EMPTY_PART.broken(f"* GenerateContentRequest.{at}.parts[{index}].data: {why}")


def _calls(contents: Sequence[Item]) -> Iterator[Offence]:
    """A call stands behind the person's turn or a result, and each has a result right behind it."""
    before: Item = {}
    for index, content in enumerate([*contents, {"role": "user", "parts": []}]):
        calls, results = _count(before, "functionCall"), _count(content, "functionResponse")
        last = index == len(contents)
        if calls and results != calls:
            why = "the number of function response parts is equal to the number of function call"
            yield NO_RESULT.broken(f"Please ensure that {why} parts of the function call turn.")
        if results and not calls:
            why = "function response turn comes immediately after a function call turn"
            yield ORPHAN.broken(f"Please ensure that {why}.")
        if _count(content, "functionCall") and before.get("role", "model") == "model" and not last:
            why = "function call turn comes immediately after a user turn or after a function"
            yield CALL_PLACE.broken(f"Please ensure that {why} response turn.")
        before = content


def _count(content: Item, what: str) -> int:
    parts: Sequence[Item] = content.get("parts") or ()
    return sum(what in part for part in parts)
