"""OpenAI's responses, as the strictest of the servers that speak them take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from lastword.testing.provider.marks import is_ours, reasoning_of, seal
from lastword.testing.provider.strict import openai
from lastword.testing.provider.strict.media import data_url
from lastword.testing.provider.strict.offence import Offence, Rule
from lastword.testing.provider.strict.openai import SYSTEM, Item

_LONGEST_ID = 64
_PREFIX = {"reasoning": "rs", "function_call": "fc", "message": "msg"}
_GIVEN = ("input_text", "input_image", "input_file")
_PARTS = {"user": _GIVEN, "assistant": ("output_text", "refusal")}
_FILES = (
    "application/pdf",
    "application/json",
    "application/xml",
    "application/javascript",
    "application/typescript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-sh",
    "application/rtf",
    "application/csv",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "message/rfc822",
)

NO_INPUT = Rule("responses.no_input", "API reference, input", kind="missing_required_parameter")
FIRST = Rule("responses.first", "vLLM, which renders responses by a chat template")
LAST = Rule("responses.last", "vLLM, which renders responses by a chat template")
ROLE = Rule("responses.role", "API reference, input messages", kind="invalid_value")
BLANK = Rule("responses.blank", "vLLM, which renders responses by a chat template")
PART = Rule("responses.part", "API reference, content parts of each role", kind="invalid_value")
FILE_TYPE = Rule("responses.file_type", "File inputs guide, accepted types", kind="invalid_value")
ITEM_ID = Rule("responses.item_id", "met: expected an ID that begins with", kind="invalid_value")
LONG_ITEM_ID = Rule(
    "responses.long_item_id", "met: maximum length 64", kind="string_above_max_length"
)
DOUBLE_ITEM = Rule("responses.double_item", "met: Duplicate item found with id")
CALL_ID = Rule("responses.call_id", "met: maximum length 64", kind="string_above_max_length")
DOUBLE_CALL = Rule("responses.double_call", "met: Duplicate function_call_output for call_id")
NO_OUTPUT = Rule("responses.no_output", "met: No tool output found for function call")
ORPHAN = Rule("responses.orphan_output", "met: No tool call found for function call output")
OUTPUT = Rule("responses.output", "API reference, function_call_output", kind="invalid_type")
REASONING = Rule("responses.reasoning", "API reference, reasoning", kind="invalid_value")
LONE_REASONING = Rule("responses.lone_reasoning", "met: without its required following item")
LOST_REASONING = Rule("responses.lost_reasoning", "met: without its required reasoning item")
NOT_STORED = Rule("responses.not_stored", "met: not found, items are not persisted if store=false")
SEAL = Rule("responses.seal", "met: encrypted content could not be verified")

RULES = (
    NO_INPUT,
    FIRST,
    LAST,
    ROLE,
    BLANK,
    PART,
    FILE_TYPE,
    ITEM_ID,
    LONG_ITEM_ID,
    DOUBLE_ITEM,
    CALL_ID,
    DOUBLE_CALL,
    NO_OUTPUT,
    ORPHAN,
    OUTPUT,
    REASONING,
    LONE_REASONING,
    LOST_REASONING,
    NOT_STORED,
    SEAL,
)


def judged(body: Item) -> Iterator[Offence]:
    """Every breach in a request, in the order it is found."""
    offered: Sequence[Item] = body.get("tools") or ()
    functions = [(at, tool) for at, tool in enumerate(offered) if tool["type"] == "function"]
    yield from openai.tools([(tool, f"tools[{at}]") for at, tool in functions])
    continued = bool(body.get("previous_response_id") or body.get("conversation"))
    if not body["input"] and not continued:
        yield NO_INPUT.broken("Missing required parameter: input is empty.", "input")
        return
    if isinstance(body["input"], str):
        yield from openai.lengths(body["input"], "input")
        return
    items: Sequence[Item] = body["input"]
    yield from _ends(items, continued=continued)
    ids = [item["id"] for item in items if item.get("id")]
    duplicate = "Duplicate item found: two items have the id {}"
    yield from openai.twice(ids, DOUBLE_ITEM, duplicate)
    yield from _reasonings(items, stored=body.get("store") is not False)
    yield from _outputs(items, continued=continued)
    for index, item in enumerate(items):
        yield from _item(item, f"input[{index}]")
    yield from openai.weight(_files_in(items))


def _kind(item: Item) -> str:
    return item.get("type") or "message"


def _is_answer(item: Item) -> bool:
    """Whether it is the model's."""
    if _kind(item) == "message":
        return item["role"] == "assistant"
    return not _kind(item).endswith("_output")


def _ends(items: Sequence[Item], *, continued: bool) -> Iterator[Offence]:
    spoken = [item for item in items if item.get("role") not in SYSTEM]
    if continued:
        return
    if not spoken or spoken[0].get("role") != "user":
        yield FIRST.broken("the first item is not the user's", "input")
    if spoken and _is_answer(spoken[-1]):
        yield LAST.broken("the last item is not the user's or a tool's", "input")


def _item(item: Item, at: str) -> Iterator[Offence]:
    yield from _item_id(item, f"{at}.id")
    if _kind(item) == "message":
        yield from _message(item, at)
    elif _kind(item) == "function_call":
        if not 0 < len(item["call_id"]) <= _LONGEST_ID:
            why = f"{item['call_id']!r} is no id of a call: at most {_LONGEST_ID} characters"
            yield CALL_ID.broken(f"Invalid '{at}.call_id': {why}.", f"{at}.call_id")
        yield from openai.function(item, item["call_id"], at)
    elif _kind(item) == "function_call_output":
        yield from _output(item, at)


def _item_id(item: Item, at: str) -> Iterator[Offence]:
    prefix, own = _PREFIX.get(_kind(item), ""), item.get("id")
    if own is None or (_kind(item) == "message" and item["role"] != "assistant"):
        return
    if not own.startswith(prefix):
        why = f"the id {own!r} does not begin with {prefix!r}"
        yield ITEM_ID.broken(f"Invalid '{at}': {why}.", at)
    if len(own) > _LONGEST_ID:
        why = f"the id {own!r} is longer than {_LONGEST_ID} characters"
        yield LONG_ITEM_ID.broken(f"Invalid '{at}': {why}.", at)


def _message(item: Item, at: str) -> Iterator[Offence]:
    role, content = item["role"], item["content"]
    if role not in ("user", "assistant", *SYSTEM):
        yield ROLE.broken(f"Invalid value: there is no role {role!r}.", f"{at}.role")
        return
    yield from openai.blanks(content, BLANK, role, f"{at}.content")
    yield from openai.lengths(content, f"{at}.content")
    if not isinstance(content, str):
        yield from _parts(content, role, f"{at}.content")


def _output(item: Item, at: str) -> Iterator[Offence]:
    output: str | list[Item] | None = item["output"]
    if output is None:
        yield OUTPUT.broken(f"the output of {item['call_id']} is no text", f"{at}.output")
        return
    yield from openai.lengths(output, f"{at}.output")
    if not isinstance(output, str):
        yield from _parts(output, "user", f"{at}.output")


def _parts(parts: Sequence[Item], role: str, at: str) -> Iterator[Offence]:
    known = _PARTS["assistant" if role == "assistant" else "user"]
    for index, part in enumerate(parts):
        where = f"{at}[{index}]"
        if part["type"] not in known:
            why = f"a message of the {role} has a part {part['type']!r}"
            supported = f"supported values are {list(known)}"
            yield PART.broken(f"Invalid value: {why}; {supported}.", f"{where}.type")
        elif part["type"] == "input_image" and part.get("image_url"):
            yield from openai.image(part["image_url"], f"{where}.image_url")
        elif part["type"] == "input_file" and part.get("file_data"):
            yield from _file(part, f"{where}.file_data")


def _file(part: Item, at: str) -> Iterator[Offence]:
    given = data_url(part["file_data"])
    media_type = given.media_type if given else "none"
    if media_type not in _FILES and not media_type.startswith("text/"):
        expected = "Expected a base64-encoded data URL with a supported MIME type"
        why = f"{expected}, but got unsupported MIME type {media_type!r}."
        yield FILE_TYPE.broken(f"Invalid file data: '{at}'. {why}", at)


def _reasonings(items: Sequence[Item], *, stored: bool) -> Iterator[Offence]:
    """A reasoning stands right before what came of it, and what came of one comes with it."""
    given: set[str] = set()
    for item, after in zip(items, [*items[1:], None], strict=True):
        needed = reasoning_of(item.get("id") or "")
        if needed is not None and needed not in given:
            lost = f"item {item.get('id')!r} was given without its required reasoning item"
            yield LOST_REASONING.broken(f"{lost} {needed!r}", "input")
        if _kind(item) == "reasoning":
            yield from _reasoning(item, after, stored=stored)
            given.add(item.get("id") or "")


def _reasoning(item: Item, after: Item | None, *, stored: bool) -> Iterator[Offence]:
    own, sealed = item.get("id") or "", item.get("encrypted_content")
    if not own:
        yield REASONING.broken("a reasoning has no id", "input")
        return
    if not isinstance(item["summary"], list):
        yield REASONING.broken(f"the reasoning {own!r} has no summary", "input")
    came_of = reasoning_of((after or {}).get("id") or "")
    if after is None or not _is_answer(after) or came_of not in (None, own):
        lone = f"item {own!r} of type 'reasoning' was given without its required following item"
        yield LONE_REASONING.broken(lone, "input")
    if not stored and not sealed:
        yield NOT_STORED.broken(f"item {own!r} not found: nothing is kept when store is false")
    if sealed and is_ours(own) and sealed != seal(own):
        yield SEAL.broken(f"the encrypted content of {own!r} cannot be verified", "input")


def _outputs(items: Sequence[Item], *, continued: bool) -> Iterator[Offence]:
    """Each call has one output, before anybody else speaks."""
    calls: list[str] = []
    waiting: list[str] = []
    for item in items:
        if _kind(item) == "function_call":
            calls.append(item["call_id"])
            waiting.append(item["call_id"])
        elif _kind(item) == "function_call_output":
            call = item["call_id"]
            if call not in waiting and (not continued or call in calls):
                yield ORPHAN.broken(f"no tool call found for function call output {call!r}")
            waiting = [one for one in waiting if one != call]
        elif not _is_answer(item):
            yield from _unanswered(waiting)
            waiting = []
    yield from _unanswered(waiting)
    yield from openai.twice(calls, DOUBLE_CALL, "two function calls have the id {}")


def _unanswered(waiting: Sequence[str]) -> Iterator[Offence]:
    if waiting:
        yield NO_OUTPUT.broken(f"no tool output found for function calls {waiting}", "input")


def _files_in(items: Sequence[Item]) -> list[str]:
    """The files that stand in the request."""
    lists: list[Any] = [item.get("content") or item.get("output") for item in items]
    given = [cast("list[Item]", one) for one in lists if isinstance(one, list)]
    parts = [part for one in given for part in one]
    return [part.get("file_data") or "" for part in parts if part["type"] == "input_file"]
