"""What both formats of OpenAI have in common: functions and their calls, images, lengths.

Many servers speak these formats. A rule that OpenAI itself does not keep names one that does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lastword.testing.provider.strict.media import IMAGES, MB, data_url, decoded, kind_of
from lastword.testing.provider.strict.offence import Offence, Rule

Item: TypeAlias = Mapping[str, Any]
SYSTEM = ("system", "developer")

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGEST_TEXT = 10 * MB
_MOST_TOOLS = 128
_LONGEST_DESCRIPTION = 1024
_LARGEST_IMAGE = 20 * MB
_LARGEST_FILES = 50 * MB

TOOL_NAME = Rule("openai.tool_name", "API reference, function.name", kind="invalid_value")
TOO_MANY_TOOLS = Rule(
    "openai.too_many_tools", "met: tools, maximum length 128", kind="array_above_max_length"
)
DOUBLE_TOOL = Rule("openai.double_tool", "DeepSeek: tool names must be unique", "advice")
TOOL_SCHEMA = Rule(
    "openai.tool_schema", "Function calling guide", kind="invalid_function_parameters"
)
TOOL_DESCRIPTION = Rule("openai.tool_description", "Azure OpenAI: at most 1024", "advice")
ARGUMENTS = Rule("openai.arguments", "vLLM, llama.cpp, Qwen: must be valid JSON, an object")
TEXT_TOO_LONG = Rule(
    "openai.text_too_long", "met: maximum length 10485760", kind="string_above_max_length"
)
IMAGE_TYPE = Rule("openai.image_type", "Images and vision guide", kind="invalid_image_format")
IMAGE_BASE64 = Rule("openai.image_base64", "met: Invalid base64 image_url", kind="invalid_value")
IMAGE_TOO_LARGE = Rule(
    "openai.image_too_large", "met: below 20 MB in size", kind="image_above_max_size"
)
FILES_TOO_LARGE = Rule("openai.files_too_large", "File inputs guide: 50 MB a request", "advice")

RULES = (
    TOOL_NAME,
    TOO_MANY_TOOLS,
    DOUBLE_TOOL,
    TOOL_SCHEMA,
    TOOL_DESCRIPTION,
    ARGUMENTS,
    TEXT_TOO_LONG,
    IMAGE_TYPE,
    IMAGE_BASE64,
    IMAGE_TOO_LARGE,
    FILES_TOO_LARGE,
)


def blanks(content: Any, rule: Rule, whose: str, at: str) -> Iterator[Offence]:  # noqa: ANN401 - as JSON has it
    """A text that is not empty, or a list of parts in which no text is."""
    if not content:
        yield rule.broken(f"the content of a message of the {whose} is empty", at)
        return
    given = [content] if isinstance(content, str) else texts(content)
    if not all(given):
        yield rule.broken(f"a text of the {whose} is empty", at)


def texts(parts: Sequence[Item]) -> list[str]:
    """The texts among these parts."""
    return [part["text"] for part in parts if "text" in part]


def lengths(content: Any, at: str) -> Iterator[Offence]:  # noqa: ANN401 - as JSON has it
    """No text has more characters than a string may have."""
    given = [content] if isinstance(content, str) else texts(content or ())
    for text in given:
        if len(text) > _LONGEST_TEXT:
            why = f"maximum length {_LONGEST_TEXT}, but got a string with length {len(text)}"
            yield TEXT_TOO_LONG.broken(f"Invalid '{at}': string too long. Expected {why}.", at)


def function(called: Item, id: str, at: str) -> Iterator[Offence]:
    """Names have one shape, arguments are the text of a JSON object."""
    yield from name(called["name"], f"{at}.name")
    arguments = called["arguments"]
    if not isinstance(arguments, str):
        yield ARGUMENTS.broken(f"the arguments of {id} are not a string", f"{at}.arguments")
        return
    try:
        made = json.loads(arguments)
    except ValueError:
        made = None
    if not isinstance(made, dict):
        yield ARGUMENTS.broken(f"the arguments of {id} are not a JSON object", f"{at}.arguments")


def name(given: str, at: str) -> Iterator[Offence]:
    """A function's name, where it is defined and where it was called."""
    if not _NAME.fullmatch(given):
        shape = "a string that matches '^[a-zA-Z0-9_-]+$', of 1 to 64 characters"
        why = f"Expected {shape}: {given!r} is no name of a function"
        yield TOOL_NAME.broken(f"Invalid '{at}'. {why}.", at)


def twice(ids: Iterable[str], rule: Rule, words: str) -> Iterator[Offence]:
    """An id stands for one thing."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            yield rule.broken(words.format(repr(one)))
        seen.add(one)


def tools(defined: Sequence[tuple[Item, str]]) -> Iterator[Offence]:
    """The functions a model is offered, each with where it stands."""
    if len(defined) > _MOST_TOOLS:
        most = f"maximum length {_MOST_TOOLS}, but got an array with length {len(defined)}"
        yield TOO_MANY_TOOLS.broken(f"Invalid 'tools': array too long. Expected {most}.", "tools")
    for tool, at in defined:
        yield from name(tool["name"], f"{at}.name")
        schema: Item = tool.get("parameters") or {"type": "object"}
        if schema.get("type") != "object":
            got = f"schema must be a JSON Schema of 'type: \"object\"', got {schema.get('type')!r}"
            why = f"Invalid schema for function {tool['name']!r}: {got}."
            yield TOOL_SCHEMA.broken(why, f"{at}.parameters")
        if len(tool.get("description") or "") > _LONGEST_DESCRIPTION:
            yield TOOL_DESCRIPTION.broken("string too long: 1024 at most", f"{at}.description")
    yield from twice((tool["name"] for tool, _ in defined), DOUBLE_TOOL, "two tools are named {}")


def image(url: str, at: str) -> Iterator[Offence]:
    """An image that stands in the request itself; another URL is not looked up."""
    if not url.startswith("data:"):
        return
    given = data_url(url)
    data = decoded(given.encoded) if given else None
    if given is None or not data:
        yield IMAGE_BASE64.broken("Invalid base64 image_url.", at)
        return
    if not given.media_type.startswith("image/"):
        why = f"Invalid MIME type {given.media_type!r}. Only image types are supported."
        yield IMAGE_TYPE.broken(why, at)
    elif kind_of(data) not in IMAGES:
        known = "['png', 'jpeg', 'gif', 'webp']"
        why = f"Please make sure your image has one of the following formats: {known}."
        yield IMAGE_TYPE.broken(f"You uploaded an unsupported image. {why}", at)
    if len(data) > _LARGEST_IMAGE:
        yield IMAGE_TOO_LARGE.broken("Please make sure your image is below 20 MB in size.", at)


def weight(files: Iterable[str]) -> Iterator[Offence]:
    """How large the files of a request are together, as they stand in it."""
    size = sum(len(file) * 3 // 4 for file in files)
    if size > _LARGEST_FILES:
        yield FILES_TOO_LARGE.broken(f"files of {size} bytes: 50 MB at most in a request")
