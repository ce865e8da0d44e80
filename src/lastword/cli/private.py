"""Files that hold a secret: opened so that nobody keeps us waiting, and looked at while open."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read(path: Path, most: int, *, links: bool = False) -> tuple[bytes, os.stat_result]:
    """So many bytes of a file, and what is known of it. What is none, as a pipe, has no bytes."""
    follow = 0 if links else os.O_NOFOLLOW
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | follow)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return b"", status
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read(most), status
    finally:
        os.close(fd)


def wrong(status: os.stat_result, *others: int) -> str:
    """Why it is not the secret of this user, or of one of these others; nothing if it is."""
    if not stat.S_ISREG(status.st_mode):
        return "is no regular file"
    if status.st_uid not in {os.geteuid(), *others}:
        return "belongs to somebody else"
    return "can be read by others" if status.st_mode & 0o077 else ""
