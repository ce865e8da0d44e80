"""A frontier as it is kept: the interpreter's own dump, and beside it what we know of the cell.

Whoever keeps one need not look into it. That it is whole is checked before it is used: the
interpreter promises nothing about a dump that was changed.
"""

from __future__ import annotations

from hashlib import blake2b

from lastword.cells.inside.frames import HEAD, Message, Unreadable, lengths, packed, unpacked
from lastword.errors import UnreadableDump

_MARK = b"lastword cell 1\n"
_SUM = 16  # bytes


def sealed(state: Message, dump: bytes) -> bytes:
    """All that is needed to go on from a frontier."""
    body = packed(state, dump)
    return _MARK + _sum(body) + body


def opened(kept: bytes) -> tuple[Message, bytes]:
    """What was sealed. Raises UnreadableDump if it is not what it was."""
    start = len(_MARK) + _SUM
    body = kept[start:]
    if not kept.startswith(_MARK) or kept[len(_MARK) : start] != _sum(body):
        raise UnreadableDump("what was kept of this cell is damaged, or was never a frontier")
    try:
        text, _ = lengths(body[: HEAD.size])
        at = HEAD.size + text
        return unpacked(body[HEAD.size : at]), body[at:]
    except Unreadable as error:
        raise UnreadableDump(f"what was kept of this cell cannot be read: {error}") from error


def _sum(body: bytes) -> bytes:
    return blake2b(body, digest_size=_SUM).digest()
