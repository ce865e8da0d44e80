"""Anthropic's messages: turns of either side, thinking, and what a request as a whole may have.

Messages of one role that follow each other are taken as one turn, and instructions may come in
the middle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lastword.testing.provider.marks import came_of_thinking, sign
from lastword.testing.provider.strict import anthropic_files, anthropic_tools
from lastword.testing.provider.strict.media import MB
from lastword.testing.provider.strict.offence import Offence, Rule

Item: TypeAlias = Mapping[str, Any]

_LARGEST = 32 * MB
_MOST_MESSAGES = 100_000
_MOST_CACHED = 4
_LEAST_BUDGET = 1024
_THOUGHT = ("thinking", "redacted_thinking")
_OF_THE_MODEL = (*_THOUGHT, "tool_use", "server_tool_use", "mcp_tool_use", "compaction")
_OF_THE_USER = ("tool_result", "image", "document", "search_result", "container_upload")
_KNOWN = ("text", "mid_conv_system", *_OF_THE_MODEL, *_OF_THE_USER)
_CONTINUES = re.compile(r"claude-(2|3|instant|[a-z]+-4(-[0-5])?(-\d{8}|@.*)?$).*")
_INSTRUCTED_FIRST = re.compile(r"claude-(2|3|instant|[a-z]+-4(-[0-7])?(-\d{8}|@.*)?$).*")
_ADAPTIVE_ONLY = re.compile(r"claude-[a-z]+-(4-[7-9]|[5-9]).*")

TOO_LARGE = Rule("anthropic.too_large", "Errors: 32 MB a request", status=413)
NO_MAX_TOKENS = Rule("anthropic.no_max_tokens", "API reference, max_tokens")
NO_MESSAGES = Rule("anthropic.no_messages", "met: at least one message is required")
TOO_MANY_MESSAGES = Rule("anthropic.too_many_messages", "API reference: 100,000 a request")
ROLE = Rule("anthropic.role", "API reference: user, assistant or system")
FIRST = Rule("anthropic.first", 'Bedrock: first message must use the "user" role')
SYSTEM_PLACE = Rule("anthropic.system_place", "Mid-conversation system messages, limitations")
SYSTEM_MODEL = Rule("anthropic.system_model", "Mid-conversation system messages: since Opus 4.8")
PREFILL = Rule("anthropic.prefill", "What's new in Claude 4.6: must end with a user message")
TRAILING_SPACE = Rule("anthropic.trailing_space", "met: cannot end with trailing whitespace")
EMPTY_CONTENT = Rule("anthropic.empty_content", "met: all messages must have non-empty content")
BLANK_TEXT = Rule("anthropic.blank_text", "met: text content blocks must contain non-whitespace")
BLOCK = Rule("anthropic.block", "API reference, content blocks")
BLOCK_ROLE = Rule("anthropic.block_role", "met: blocks can only be in messages of the other role")
THINKING_LAST = Rule("anthropic.thinking_last", "met: final block cannot be `thinking`")
THINKING_SIGNATURE = Rule("anthropic.thinking_signature", "met: Invalid `signature`, or none")
THINKING_PLACE = Rule("anthropic.thinking_place", "met for a time: first block", "advice")
THINKING_LOST = Rule("anthropic.thinking_lost", "met: must start with a thinking block")
THINKING_CONFIG = Rule("anthropic.thinking_config", "Thinking: budgets, and adaptive without one")
TOO_MANY_CACHED = Rule("anthropic.too_many_cached", "met: maximum of 4 blocks with cache_control")

RULES = (
    TOO_LARGE,
    NO_MAX_TOKENS,
    NO_MESSAGES,
    TOO_MANY_MESSAGES,
    ROLE,
    FIRST,
    SYSTEM_PLACE,
    SYSTEM_MODEL,
    PREFILL,
    TRAILING_SPACE,
    EMPTY_CONTENT,
    BLANK_TEXT,
    BLOCK,
    BLOCK_ROLE,
    THINKING_LAST,
    THINKING_SIGNATURE,
    THINKING_PLACE,
    THINKING_LOST,
    THINKING_CONFIG,
    TOO_MANY_CACHED,
    *anthropic_tools.RULES,
    *anthropic_files.RULES,
)


@dataclass(slots=True)
class _Turn:
    """Messages of one role, right behind each other, as lists of blocks."""

    role: str
    at: str
    messages: list[Sequence[Item]] = field(default_factory=list[Sequence[Item]])

    @property
    def blocks(self) -> list[Item]:
        return [block for message in self.messages for block in message]

    @property
    def uses(self) -> list[str]:
        return [block["id"] for block in self.blocks if block["type"] == "tool_use"]


def sized(size: int) -> Iterator[Offence]:
    """How large the whole request may be."""
    if size > _LARGEST:
        yield TOO_LARGE.broken("Request exceeds the maximum size")


def judged(body: Item) -> Iterator[Offence]:
    """Every breach in a request, in the order it is found."""
    messages: Sequence[Item] = body["messages"]
    if not isinstance(body.get("max_tokens"), int):
        yield NO_MAX_TOKENS.broken("max_tokens: Field required")
    if not messages:
        yield NO_MESSAGES.broken("messages: at least one message is required")
        return
    if len(messages) > _MOST_MESSAGES:
        yield TOO_MANY_MESSAGES.broken(f"messages: {_MOST_MESSAGES} messages at most")
    yield from _system(body.get("system") or "")
    yield from _places(messages)
    if _INSTRUCTED_FIRST.fullmatch(body["model"]) and _has_system(messages):
        yield SYSTEM_MODEL.broken('messages: Unexpected role "system", for this model')
    for index, message in enumerate(messages):
        yield from _message(message, f"messages.{index}")
    turns = _turns(messages)
    yield from _exchanges(turns)
    yield from _ending(turns, body["model"])
    tools: Sequence[Item] = body.get("tools") or ()
    yield from anthropic_tools.definitions(tools)
    if not tools and any(turn.uses for turn in turns):
        why = "requests which include `tool_use` or `tool_result` blocks must define tools"
        yield anthropic_tools.NO_TOOLS.broken(why)
    blocks = list(_placed(messages))
    yield from anthropic_files.judged(blocks)
    yield from _cached([block for block, _ in blocks], tools, body.get("system") or "")
    yield from _thinking(body, turns)


def _blocks(content: str | Sequence[Item]) -> Sequence[Item]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _placed(messages: Sequence[Item]) -> Iterator[tuple[Item, str]]:
    """Every block, those in results too, and where it stands."""
    for number, message in enumerate(messages):
        for index, block in enumerate(_blocks(message["content"])):
            at = f"messages.{number}.content.{index}"
            yield block, at
            if block["type"] == "tool_result":
                inside = _blocks(block.get("content") or ())
                yield from ((part, f"{at}.tool_result.content") for part in inside)


def _turns(messages: Sequence[Item]) -> list[_Turn]:
    turns: list[_Turn] = []
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "system":
            continue
        if not turns or turns[-1].role != role:
            turns.append(_Turn(role, f"messages.{index}"))
        turns[-1].messages.append(_blocks(message["content"]))
    return turns


def _system(system: str | Sequence[Item]) -> Iterator[Offence]:
    if not isinstance(system, str) and not all(block["text"].strip() for block in system):
        yield BLANK_TEXT.broken("system: text content blocks must be non-empty")


def _has_system(messages: Sequence[Item]) -> bool:
    return any(message["role"] == "system" for message in messages)


def _places(messages: Sequence[Item]) -> Iterator[Offence]:
    """Instructions come behind the user's turn, and before the model's or last."""
    roles = ["", *(message["role"] for message in messages), "assistant"]
    for index, message in enumerate(messages):
        at, before, after = f"messages.{index}", roles[index], roles[index + 2]
        if message["role"] not in ("user", "assistant", "system"):
            known = "'user', 'assistant' or 'system'"
            yield ROLE.broken(f"{at}.role: Input should be {known}")
        if message["role"] == "system" and (before != "user" or after != "assistant"):
            where = "follow a 'user' message, and precede an 'assistant' message or end the array"
            yield SYSTEM_PLACE.broken(f"{at}: role 'system' must {where}")
    if messages[0]["role"] == "assistant":
        yield FIRST.broken('messages: first message must use the "user" role')


def _message(message: Item, at: str) -> Iterator[Offence]:
    """What is in one message, whatever stands around it."""
    role, content = message["role"], message["content"]
    if not content:
        yield EMPTY_CONTENT.broken(f"{at}: the content of a message of the {role} is empty")
        return
    for index, block in enumerate(_blocks(content)):
        where = f"{at}.content.{index}"
        wrong = list(_owned(block["type"], role, where))
        yield from wrong or _block(block, role, where)


def _owned(kind: str, role: str, at: str) -> Iterator[Offence]:
    """Blocks are of known kinds, and each role has its own."""
    if kind not in _KNOWN and not kind.endswith("_tool_result"):
        yield BLOCK.broken(f"{at}: Input tag {kind!r} does not match any of {list(_KNOWN)}")
        return
    theirs = _OF_THE_MODEL if role == "user" else _OF_THE_USER
    if kind in theirs or (role == "system" and kind != "text"):
        yield BLOCK_ROLE.broken(f"{at}: a {kind} block is not the {role}'s")


def _block(block: Item, role: str, at: str) -> Iterator[Offence]:
    match block["type"]:
        case "text":
            if not block["text"].strip():
                why = "text content blocks must contain non-whitespace text"
                yield BLANK_TEXT.broken(f"{at}: {why}: a text of the {role} is empty")
        case "tool_use":
            yield from anthropic_tools.use(block, at)
        case "thinking" | "redacted_thinking":
            yield from _signed(block, at)
        case _:
            pass


def _signed(block: Item, at: str) -> Iterator[Offence]:
    if block["type"] == "redacted_thinking":
        if not block.get("data"):
            yield THINKING_SIGNATURE.broken(f"{at}.redacted_thinking.data: Field required")
    elif not block.get("signature"):
        yield THINKING_SIGNATURE.broken(f"{at}.thinking.signature: Field required")
    elif block["signature"] != sign(block["thinking"]):
        yield THINKING_SIGNATURE.broken(f"{at}: invalid signature in thinking block")


def _exchanges(turns: Sequence[_Turn]) -> Iterator[Offence]:
    """Uses and their results, turn by turn; thinking where it belongs."""
    asked: list[str] = []
    for turn in turns:
        if turn.role == "user":
            yield from anthropic_tools.results(turn.messages, asked, turn.at)
        asked = turn.uses
        thought = [block["type"] in _THOUGHT for block in turn.blocks]
        if any(thought) and not thought[0]:
            why = "if an assistant message contains any thinking, the first block must be thinking"
            yield THINKING_PLACE.broken(f"{turn.at}: {why}")
        if thought and thought[-1]:
            yield THINKING_LAST.broken(f"{turn.at}: the final block cannot be thinking")
    yield from anthropic_tools.uses([use for turn in turns for use in turn.uses])


def _ending(turns: Sequence[_Turn], model: str) -> Iterator[Offence]:
    last = turns[-1]
    if last.role != "assistant":
        return
    if last.uses:
        why = f"tool_use ids were found without tool_result blocks immediately after: {last.uses}"
        yield anthropic_tools.NO_RESULT.broken(f"{last.at}: {why}")
    elif not _CONTINUES.fullmatch(model):
        why = "the last message is not the user's: this model does not continue an answer"
        yield PREFILL.broken(f"messages: {why}")
    elif (text := last.blocks[-1].get("text", "")) != text.rstrip():
        why = "final assistant content cannot end with trailing whitespace"
        yield TRAILING_SPACE.broken(f"messages: {why}")


def _cached(
    blocks: Sequence[Item], tools: Sequence[Item], system: str | Sequence[Item]
) -> Iterator[Offence]:
    carriers = [*blocks, *tools, *(() if isinstance(system, str) else system)]
    found = sum(bool(carrier.get("cache_control")) for carrier in carriers)
    if found > _MOST_CACHED:
        why = f"A maximum of {_MOST_CACHED} blocks with cache_control may be provided"
        yield TOO_MANY_CACHED.broken(f"{why}. Found {found}.")


def _thinking(body: Item, turns: Sequence[_Turn]) -> Iterator[Offence]:
    config: Item = body.get("thinking") or {}
    budget = config.get("budget_tokens")
    if config.get("type") != "enabled":
        if budget is not None:
            yield THINKING_CONFIG.broken("thinking: budget_tokens: Extra inputs are not permitted")
        return
    if _ADAPTIVE_ONLY.fullmatch(body["model"]):
        why = '"thinking.type.enabled" is not supported for this model. Use "adaptive"'
        yield THINKING_CONFIG.broken(why)
    if not isinstance(budget, int) or not _LEAST_BUDGET <= budget < body["max_tokens"]:
        why = "budget_tokens must be at least 1024 and less than max_tokens"
        yield THINKING_CONFIG.broken(f"thinking.enabled: {why}")
    yield from _kept_thinking(turns)


def _kept_thinking(turns: Sequence[_Turn]) -> Iterator[Offence]:
    """While tools answer, the turn that called them keeps the thinking it began with.

    With adaptive thinking it need not.
    """
    answers = [turn for turn in turns if turn.role == "assistant"]
    if not answers or turns[-1].role != "user" or not answers[-1].uses:
        return
    begins = answers[-1].blocks[0]["type"] in _THOUGHT
    if not begins and any(came_of_thinking(use) for use in answers[-1].uses):
        why = "when thinking is enabled, an assistant message with tool_use starts with thinking"
        yield THINKING_LOST.broken(f"{answers[-1].at}: {why}")
