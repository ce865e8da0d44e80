"""Which processes of its commands a planted agent finds alive."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def of_the_witness(*kinds: bytes) -> list[int]:
    """The processes of commands that were run here, known by the mark in their environment."""
    mark = os.environ.get("LASTWORD_CHECK", "?").encode()
    found = [p for p in Path("/proc").iterdir() if p.name.isdigit()]
    return [int(p.name) for p in found if beats(p, mark, kinds or (b"tree", b"beat"))]


def holds_a_pipe(pids: list[int]) -> bool:
    """Whether one of these has its output in a pipe still."""
    for pid in pids:
        with contextlib.suppress(OSError):
            if str(Path(f"/proc/{pid}/fd/1").readlink()).startswith("pipe:"):
                return True
    return False


def beats(process: Path, mark: bytes, kinds: tuple[bytes, ...]) -> bool:
    try:
        words = (process / "cmdline").read_bytes()
        mine = mark in (process / "environ").read_bytes()
    except OSError:
        return False
    return mine and any(b"witness.py\0" + kind in words for kind in kinds)
