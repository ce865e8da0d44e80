"""An answer as it goes over the wire: what opens it, each chunk, what ends it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Told:
    """The bytes of one answer, step by step."""

    opening: bytes
    chunks: list[bytes]
    ending: bytes


def encoded(what: Mapping[str, Any]) -> bytes:
    """As JSON, in as few bytes as it takes."""
    text = json.dumps(what, separators=(",", ":"), ensure_ascii=False)
    return text.encode(errors="backslashreplace")  # half a character, spelt out as JSON does


def event(data: Mapping[str, Any], *, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return head.encode() + b"data: " + encoded(data) + b"\n\n"


def framed(before: bytes, deltas: Iterable[bytes], after: bytes) -> list[bytes]:
    """The chunks of a part: what opens it goes with the first, what closes it with the last."""
    chunks = list(deltas) or [b""]
    chunks[0] = before + chunks[0]
    chunks[-1] += after
    return chunks
