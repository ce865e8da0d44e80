"""What is long leaves in pieces: the next is written when there is room for it, and in between all
others have their turn."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.types import Message

_AT_ONCE = 256 << 10  # bytes


def in_pieces(body: bytes, *, more: bool = False) -> Iterator[Message]:
    """A body, to be sent one after another; with `more`, something else follows it."""
    for start in range(0, max(len(body), 1), _AT_ONCE):
        end = start + _AT_ONCE
        goes_on = more or end < len(body)
        yield {"type": "http.response.body", "body": body[start:end], "more_body": goes_on}
