"""OpenAI's chat completions, as the strictest of the servers that speak them take them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lastword.testing.provider.strict import openai
from lastword.testing.provider.strict.media import data_url
from lastword.testing.provider.strict.offence import Offence, Rule
from lastword.testing.provider.strict.openai import SYSTEM, Item

_LONGEST_ID = 40
_PARTS = {
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
_DEAF = re.compile(r"(gpt|chatgpt|o\d)(?!.*audio).*")  # OpenAI's own, but for those that hear

NO_MESSAGES = Rule("chat.no_messages", "API reference, messages", kind="empty_array")
ROLE = Rule("chat.role", "API reference, messages", kind="invalid_value")
FIRST = Rule("chat.first", "vLLM, by the chat templates of Mistral and Gemma")
LAST = Rule("chat.last", "Mistral: expected last role user or tool")
BLANK = Rule("chat.blank", "Moonshot: a message must not be empty", kind="invalid_value")
PART = Rule("chat.part", "API reference, content parts of each role", kind="invalid_value")
FILE_TYPE = Rule("chat.file_type", "File inputs guide: PDF only", kind="invalid_value")
AUDIO_FORMAT = Rule("chat.audio_format", "API reference, input_audio", kind="invalid_value")
AUDIO_MODEL = Rule("chat.audio_model", "Audio guide: gpt-audio models", kind="invalid_value")
EMPTY_CALLS = Rule("chat.empty_calls", "met: tool_calls, empty array", kind="empty_array")
CALL_ID = Rule("chat.call_id", "met: maximum length 40", kind="string_above_max_length")
DOUBLE_CALL = Rule("chat.double_call", "met: Duplicate value for 'tool_call_id'")
NO_RESULT = Rule("chat.no_result", "met: must be followed by tool messages")
ORPHAN = Rule("chat.orphan_result", "met: must be a response to a preceding message")
AFTER_TOOL = Rule("chat.user_after_tool", "Mistral: unexpected role user after tool", "advice")

RULES = (
    NO_MESSAGES,
    ROLE,
    FIRST,
    LAST,
    BLANK,
    PART,
    FILE_TYPE,
    AUDIO_FORMAT,
    AUDIO_MODEL,
    EMPTY_CALLS,
    CALL_ID,
    DOUBLE_CALL,
    NO_RESULT,
    ORPHAN,
    AFTER_TOOL,
)


def judged(body: Item) -> Iterator[Offence]:
    """Every breach in a request, in the order it is found."""
    messages: Sequence[Item] = body["messages"]
    if not messages:
        yield NO_MESSAGES.broken("Invalid 'messages': messages is empty.", "messages")
        return
    spoken = [message["role"] for message in messages if message["role"] not in SYSTEM]
    if not spoken or spoken[0] != "user":
        yield FIRST.broken("the first message is not the user's", "messages")
    if spoken and spoken[-1] not in ("user", "tool"):
        yield LAST.broken("the last message is not the user's or a tool's", "messages")
    for index, message in enumerate(messages):
        yield from _message(message, f"messages[{index}]", body["model"])
    yield from _calls(messages)
    offered: Sequence[Item] = body.get("tools") or ()
    named = [(tool["function"], f"tools[{at}].function") for at, tool in enumerate(offered)]
    yield from openai.tools(named)
    yield from openai.weight(_files(messages))


def _message(message: Item, at: str, model: str) -> Iterator[Offence]:
    role = message["role"]
    if role not in ("user", "assistant", "tool", *SYSTEM):
        yield ROLE.broken(f"Invalid value: there is no role {role!r}.", f"{at}.role")
        return
    yield from _content(message, f"{at}.content", model)
    if "tool_calls" in message:
        yield from _called(message, f"{at}.tool_calls")


def _content(message: Item, at: str, model: str) -> Iterator[Offence]:
    role: str = message["role"]
    content: str | list[Item] | None = message.get("content")
    if role == "tool":
        if content is None:
            yield BLANK.broken(f"{message['tool_call_id']} has a result of no content", at)
    elif role != "assistant" or content is not None or "tool_calls" not in message:
        yield from openai.blanks(content, BLANK, role, at)
    yield from openai.lengths(content, at)
    parts: list[Item] = [] if isinstance(content, str) else content or []
    for index, part in enumerate(parts):
        yield from _part(part, role, f"{at}[{index}]", model)


def _called(message: Item, at: str) -> Iterator[Offence]:
    calls: list[Item] = message["tool_calls"] or []
    if message["role"] != "assistant":
        yield ROLE.broken(f"a message of the {message['role']} has tool calls", at)
    if not calls:
        yield EMPTY_CALLS.broken(f"Invalid '{at}': empty array: a list of tool calls is empty.", at)
    for index, call in enumerate(calls):
        where, own = f"{at}[{index}]", call["id"]
        if not 0 < len(own) <= _LONGEST_ID:
            why = f"{own!r} is no id of a call: at most {_LONGEST_ID} characters"
            yield CALL_ID.broken(f"Invalid '{where}.id': {why}.", f"{where}.id")
        yield from openai.function(call["function"], own, f"{where}.function")


def _part(part: Item, role: str, at: str, model: str) -> Iterator[Offence]:
    kind, known = part["type"], _PARTS.get(role, ("text",))
    if kind not in known:
        why = f"a message of the {role} has a part {kind!r}; supported values are {list(known)}"
        yield PART.broken(f"Invalid value: {why}.", f"{at}.type")
    elif kind == "image_url":
        yield from openai.image(part["image_url"]["url"], f"{at}.image_url")
    elif kind == "input_audio":
        yield from _audio(part["input_audio"], f"{at}.input_audio", model)
    elif kind == "file" and not part["file"].get("file_id"):
        given = data_url(part["file"]["file_data"])
        media_type = given.media_type if given else "none"
        if media_type != "application/pdf":
            expected = "Expected a base64-encoded data URL with an application/pdf MIME type"
            why = f"{expected}, but got unsupported MIME type {media_type!r}."
            where = f"{at}.file.file_data"
            yield FILE_TYPE.broken(f"Invalid file data: '{where}'. {why}", where)


def _audio(audio: Item, at: str, model: str) -> Iterator[Offence]:
    if audio["format"] not in ("wav", "mp3"):
        why = f"{audio['format']!r}. Supported values are: 'wav' and 'mp3'."
        yield AUDIO_FORMAT.broken(f"Invalid value: {why}", f"{at}.format")
    if _DEAF.fullmatch(model):
        why = "content blocks are expected to be either text or image_url type"
        yield AUDIO_MODEL.broken(f"{why}: {model} takes no audio", at)


def _calls(messages: Sequence[Item]) -> Iterator[Offence]:
    """A tool's message answers a call of the assistant's message right before the tools'."""
    made: list[str] = []
    waiting: list[str] = []
    before = ""
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if message["role"] == "tool":
            call = message["tool_call_id"]
            if call not in waiting:
                why = f"a tool's message answers {call!r}, which nobody waits for"
                yield ORPHAN.broken(f"Invalid parameter: {why}.", f"{at}.role")
            waiting = [one for one in waiting if one != call]
        else:
            yield from _unanswered(waiting, at)
            waiting = [one["id"] for one in message.get("tool_calls") or ()]
            made += waiting
        if (before, message["role"]) == ("tool", "user"):
            yield AFTER_TOOL.broken("Unexpected role 'user' after role 'tool'", f"{at}.role")
        before = message["role"]
    yield from _unanswered(waiting, "messages")
    yield from openai.twice(made, DOUBLE_CALL, "two tool calls have the id {}")


def _unanswered(waiting: Sequence[str], at: str) -> Iterator[Offence]:
    if waiting:
        yield NO_RESULT.broken(f"tool calls without a result right behind them: {waiting}", at)


def _files(messages: Sequence[Item]) -> list[str]:
    lists = [message["content"] for message in messages if isinstance(message.get("content"), list)]
    parts: list[Item] = [part for content in lists for part in content]
    return [part["file"].get("file_data") or "" for part in parts if part["type"] == "file"]
