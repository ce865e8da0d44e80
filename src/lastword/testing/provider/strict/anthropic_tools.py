"""Tools in Anthropic's messages: how they are defined, used and answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lastword.testing.provider.strict.offence import Offence, Rule

Item: TypeAlias = Mapping[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_UNIONS = ("oneOf", "allOf", "anyOf")

TOOL_NAME = Rule("anthropic.tool_name", "Define tools: ^[a-zA-Z0-9_-]{1,128}$")
DOUBLE_TOOL = Rule("anthropic.double_tool", "met: Tool names must be unique")
TOOL_SCHEMA = Rule("anthropic.tool_schema", "met: input_schema.type, no unions at the top, keys")
NO_TOOLS = Rule("anthropic.no_tools", "Bedrock: tools must be defined where used", "advice")
USE_ID = Rule("anthropic.use_id", "met: ^[a-zA-Z0-9_-]+$; Bedrock: 64 characters at most")
DOUBLE_USE = Rule("anthropic.double_use", "met: `tool_use` ids must be unique")
USE_INPUT = Rule("anthropic.use_input", "met: Input should be a valid dictionary")
NO_RESULT = Rule("anthropic.no_result", "met: without `tool_result` blocks immediately after")
ORPHAN = Rule("anthropic.orphan_result", "met: unexpected `tool_use_id` in `tool_result` blocks")
DOUBLE_RESULT = Rule("anthropic.double_result", "met: each tool_use must have a single result")
LATE_RESULT = Rule("anthropic.late_result", "Handle tool calls: tool_result blocks come first")
SPLIT_RESULTS = Rule("anthropic.split_results", "Parallel tool use: one user message", "advice")
ERROR_EMPTY = Rule("anthropic.error_empty", "met: content cannot be empty if `is_error` is true")
ERROR_NOT_TEXT = Rule("anthropic.error_not_text", "met: must be type `text` if `is_error` is true")
RESULT_EMPTY = Rule("anthropic.result_empty", "met: text content blocks must be non-empty")
RESULT_BLANK = Rule("anthropic.result_blank", "as of other texts; not met in results", "advice")
RESULT_PART = Rule("anthropic.result_part", "Handle tool calls: text, image, document")

RULES = (
    TOOL_NAME,
    DOUBLE_TOOL,
    TOOL_SCHEMA,
    NO_TOOLS,
    USE_ID,
    DOUBLE_USE,
    USE_INPUT,
    NO_RESULT,
    ORPHAN,
    DOUBLE_RESULT,
    LATE_RESULT,
    SPLIT_RESULTS,
    ERROR_EMPTY,
    ERROR_NOT_TEXT,
    RESULT_EMPTY,
    RESULT_BLANK,
    RESULT_PART,
)
_IN_RESULTS = ("text", "image", "document", "search_result", "tool_reference")


def definitions(tools: Sequence[Item]) -> Iterator[Offence]:
    """The tools a model is offered; those that Anthropic runs itself have a type of their own."""
    names = [tool["name"] for tool in tools if "name" in tool]
    if len(set(names)) < len(names):
        yield DOUBLE_TOOL.broken("tools: Tool names must be unique.")
    for index, tool in enumerate(tools):
        if tool.get("type") in (None, "custom"):
            yield from _name(tool["name"], f"tools.{index}.custom.name")
            yield from _schema(tool["input_schema"], f"tools.{index}.custom.input_schema")


def use(block: Item, at: str) -> Iterator[Offence]:
    """One call of a tool, as it stands in the history."""
    yield from _name(block["name"], f"{at}.tool_use.name")
    if not _ID.fullmatch(block["id"]):
        shape = f"the id {block['id']!r} must match ^[a-zA-Z0-9_-]+$, at most 64 characters"
        yield USE_ID.broken(f"{at}.tool_use.id: {shape}")
    if not isinstance(block["input"], dict):
        why = f"Input should be a valid dictionary: the input of {block['id']} is no object"
        yield USE_INPUT.broken(f"{at}.tool_use.input: {why}")


def uses(ids: Sequence[str]) -> Iterator[Offence]:
    """A use's id is its own in the whole history."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            why = f"`tool_use` ids must be unique: two tool uses have the id {one!r}"
            yield DOUBLE_USE.broken(f"messages: {why}")
        seen.add(one)


def results(messages: Sequence[Sequence[Item]], asked: Sequence[str], at: str) -> Iterator[Offence]:
    """Each use has one result in the very next turn, before anything else in it.

    A turn may be several messages of the user's: they are taken as one.
    """
    blocks = [block for message in messages for block in message]
    answers = [block for block in blocks if block["type"] == "tool_result"]
    given: list[str] = [block["tool_use_id"] for block in answers]
    if lacking := [one for one in asked if one not in given]:
        why = f"tool_use ids were found without tool_result blocks immediately after: {lacking}"
        yield NO_RESULT.broken(f"{at}: {why}")
    if strange := [one for one in given if one not in asked]:
        why = f"tool_result blocks without a tool_use in the message before: {strange}"
        yield ORPHAN.broken(f"{at}: unexpected {why}")
    if doubled := {one for one in given if given.count(one) > 1}:
        why = f"each tool_use must have a single result: two tool_result blocks for {doubled}"
        yield DOUBLE_RESULT.broken(f"{at}: {why}")
    if blocks[: len(answers)] != answers:
        yield LATE_RESULT.broken(f"{at}: tool_result blocks come first in a message")
    if sum(any(block["type"] == "tool_result" for block in message) for message in messages) > 1:
        yield SPLIT_RESULTS.broken(f"{at}: tool_result blocks stand in several messages")
    for index, block in enumerate(answers):
        yield from _result(block, f"{at}.content.{index}.tool_result")


def _result(block: Item, at: str) -> Iterator[Offence]:
    content: str | Sequence[Item] = block.get("content") or ""
    parts: Sequence[Item] = () if isinstance(content, str) else content
    if strange := [part["type"] for part in parts if part["type"] not in _IN_RESULTS]:
        yield RESULT_PART.broken(f"{at}.content: {strange} cannot stand in a result")
    texts: list[str] = [part["text"] for part in parts if part["type"] == "text"]
    if not all(texts):
        yield RESULT_EMPTY.broken(f"{at}: text content blocks must be non-empty: a text is empty")
    elif not all(text.strip() for text in texts):
        yield RESULT_BLANK.broken(f"{at}: a text is blank")
    if block.get("is_error"):
        if not (content.strip() if isinstance(content, str) else content):
            yield ERROR_EMPTY.broken(f"{at}: content cannot be empty if `is_error` is true")
        if len(texts) < len(parts):
            yield ERROR_NOT_TEXT.broken(f"{at}: all content must be type `text` if is_error")


def _name(name: str, at: str) -> Iterator[Offence]:
    if not _NAME.fullmatch(name):
        why = (
            f"String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$': {name!r} is no name of a tool"
        )
        yield TOOL_NAME.broken(f"{at}: {why}")


def _schema(schema: Item, at: str) -> Iterator[Offence]:
    if schema.get("type") != "object":
        yield TOOL_SCHEMA.broken(f"{at}.type: Input should be 'object'")
    if found := [union for union in _UNIONS if union in schema]:
        why = "input_schema does not support oneOf, allOf, or anyOf at the top level"
        yield TOOL_SCHEMA.broken(f"{at}: {why}: {found}")
    keys: Sequence[str] = list(schema.get("properties") or ())
    if wrong := [key for key in keys if not _KEY.fullmatch(key)]:
        why = "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
        yield TOOL_SCHEMA.broken(f"{at}.properties: {why}: {wrong}")
