"""Pipes that hold more, for processes that write much: fewer turns for the same words.

Only for who has filled a pipe, and for few at a time: what all pipes of a user may hold in all is
limited, and beyond that every new one, of any program, holds next to nothing.
"""

from __future__ import annotations

import fcntl

CHUNK = 1 << 19  # bytes that are read at once from a wide one: some 0.2 ms of a turn of the loop
_HOLDS = 1 << 20
_MOST = 8  # at a time: an eighth of what Linux allows a user
_wide: set[int] = set()  # by descriptor


def widen(fd: int) -> bool:
    """Have this pipe hold more, if it can; whoever closes it has to say so."""
    resize: int | None = getattr(fcntl, "F_SETPIPE_SZ", None)
    if resize is None or len(_wide) >= _MOST:
        return False
    try:
        fcntl.fcntl(fd, resize, _HOLDS)
    except OSError:  # a terminal, or this user's pipes hold all that they may
        return False
    _wide.add(fd)
    return True


def closed(fd: int) -> None:
    """It is closed, and another may be wide."""
    _wide.discard(fd)
