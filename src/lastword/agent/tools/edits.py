"""What a file holds, as a person is shown it before it is changed, and what an edit makes of it.

What they agreed to is known by its mark: of what was shown, by its content; of what is too long to
be shown, by which file it is and when it was last touched.
"""

from __future__ import annotations

import hashlib
import os

from lastword.core.value import value

MOST_COMPARED = 1 << 20  # bytes of a file that a person is shown a change of
MOST_EDITED = 16 << 20  # bytes of a file that is edited, or searched


@value
class There:
    """What is where something is to be written."""

    data: bytes | None  # None if nothing is there, or it cannot be read
    size: int
    mark: str
    unread: str = ""  # why it cannot be read


def mark(status: os.stat_result | None, data: bytes | None) -> str:
    """By which it is known again."""
    if data is not None and len(data) <= MOST_COMPARED:
        return hashlib.sha256(data).hexdigest()
    return "nothing" if status is None else repr(identity(status))


def identity(status: os.stat_result | None) -> tuple[int, ...]:
    """Which file it is, and when it was last touched."""
    if status is None:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def replaced(data: bytes, old: str, new: str, name: str, *, every: bool) -> tuple[bytes, int]:
    """With `new` in place of `old`, and how often; in bytes: what is no text stays as it is."""
    if not old or old == new:
        raise ValueError("old must not be empty, and must differ from new; nothing was changed")
    wanted, instead = _as_in(data, old.encode(), new.encode(errors="replace"))
    count = data.count(wanted)
    if not count:
        raise ValueError(f"old does not occur in {name}; nothing was changed")
    if not every and data.find(wanted, data.find(wanted) + 1) >= 0:
        raise ValueError(
            f"old occurs {max(count, 2)} times in {name}; give more of what is "
            "around it, or all=true. Nothing was changed"
        )
    size = len(data) + count * (len(instead) - len(wanted))
    if size > MOST_EDITED:
        raise ValueError(
            f"{name} would have {size:,} bytes, and {MOST_EDITED:,} is the most "
            "that an edit may leave; nothing was changed"
        )
    return data.replace(wanted, instead), count


def _as_in(data: bytes, old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """With the line ends of the file, if it is only by those that `old` does not occur."""
    if old in data or b"\r\n" not in data or b"\r" in old:
        return old, new
    return old.replace(b"\n", b"\r\n"), new.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
