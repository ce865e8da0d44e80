"""What a worker and its host say to each other: a JSON object and some bytes, each with its length.

Written and read by both, so that there is one description of it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
HEAD = struct.Struct(">II")
_MOST = 256 << 20  # bytes; whoever says that it will send more is out of its mind


class Unreadable(Exception):
    """What was said makes no sense."""


def packed(message: Message, blob: bytes = b"") -> bytes:
    """A message, ready to be sent."""
    text = json.dumps(message, allow_nan=False).encode()
    return HEAD.pack(len(text), len(blob)) + text + blob


def lengths(head: bytes) -> tuple[int, int]:
    """How much follows: of text, and of bytes."""
    text, blob = HEAD.unpack(head)
    if text + blob > _MOST:
        raise Unreadable(f"{text + blob:,} bytes were announced")
    return text, blob


def unpacked(text: bytes) -> Message:
    """A message as it was meant."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    if not isinstance(message, dict):
        raise Unreadable("it is no object")
    return message  # pyright: ignore[reportUnknownVariableType] - keys of JSON are text


def read(exactly: Callable[[int], bytes]) -> tuple[Message, bytes]:
    """The next message of a stream. Raises EOFError at its end."""
    text, blob = lengths(exactly(HEAD.size))
    return unpacked(exactly(text)), exactly(blob)
