"""The ids, signatures and seals that a provider gives, and what can be read from them again.

An id says what it came of: an item of a response names the reasoning before it, and a tool use
says whether there was thinking. So a judge needs to know nothing but the request to find that a
history came back without what belongs to it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

CREATED = 1_760_000_000  # when every answer was made: no test needs another
_OURS = "1a57"
_ITEM = re.compile(rf"[a-z]+_({_OURS}[0-9a-f]{{40}})([0-9a-f]{{2}})([0-9a-f]{{2}})")
_USE = re.compile(r"toolu_01[0-9a-f]{20}([TN])W")
_NONE = 0xFF


class Marks:
    """The ids of one answer: the same for the same seed, and unlike those of any other."""

    __slots__ = ("_seed",)

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def hex(self, what: str, length: int) -> str:
        return hashlib.sha512(f"{self._seed} {what}".encode()).hexdigest()[:length]

    def call(self, index: int) -> str:
        """A call's id, as OpenAI gives them."""
        return f"call_{self.hex(f'call {index}', 24)}"

    def use(self, index: int, *, thought: bool) -> str:
        """A tool use's id, as Anthropic gives them."""
        return f"toolu_01{self.hex(f'use {index}', 20)}{'T' if thought else 'N'}W"

    def item(self, prefix: str, index: int, reasoning: int | None = None) -> str:
        """The id of an item of a response, and which reasoning it came of."""
        stem = _OURS + self.hex("item", 40)
        return f"{prefix}_{stem}{index:02x}{_NONE if reasoning is None else reasoning:02x}"


def is_ours(item: str) -> bool:
    """Whether the id is one that `Marks` gave to an item of a response."""
    return _ITEM.fullmatch(item) is not None


def reasoning_of(item: str) -> str | None:
    """The id of the reasoning that an item of ours came of."""
    found = _ITEM.fullmatch(item)
    if found is None or int(found[3], 16) == _NONE:
        return None
    return f"rs_{found[1]}{found[3]}{_NONE:02x}"


def came_of_thinking(use: str) -> bool:
    """Whether there was thinking before this tool use; of one that is not ours, nobody knows."""
    found = _USE.fullmatch(use)
    return found is None or found[1] == "T"


def sign(thinking: str) -> str:
    """What a thinking is signed with: any change of the text breaks it."""
    return "EqQB" + base64.b64encode(hashlib.sha256(thinking.encode()).digest()).decode()


def seal(item: str) -> str:
    """What a reasoning is given out as, so that it can be given back: bound to its id."""
    return "gAAAAAB" + base64.urlsafe_b64encode(hashlib.sha256(item.encode()).digest()).decode()


def tokens(text: str) -> int:
    """About how many."""
    return len(text) // 4 + 1 if text else 0


def asked_tokens(body: Mapping[str, Any]) -> int:
    """About how many a request came to."""
    return tokens(json.dumps(body, default=str))
