"""Which commands are being looked at, by which process: each is a file, as long as it goes on.

Two sessions in one folder, of one process or of two, find out by it that each saw the other's
doings. What a process that has ended left behind counts for nothing.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, cast


def open_here(home: Path, roots: list[str]) -> Path:
    """From here on all that is below these is seen as a command's."""
    folder = home / "open"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / token_hex(8)
    told = {"process": os.getpid(), "born": _born(os.getpid()), "roots": roots}
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def others_open(home: Path, mine: Path, roots: list[str]) -> bool:
    """Whether somebody else sees what is done there as theirs, too."""
    found = False
    for path in (home / "open").glob("*"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            told = cast("dict[str, Any]", json.loads(path.read_bytes()))
            if path == mine:
                continue
            if _born(told["process"]) != told["born"]:
                path.unlink(missing_ok=True)
            else:
                found = found or overlap(told["roots"], roots)
    return found


def overlap(some: list[str], others: list[str]) -> bool:
    """Whether something is below both."""
    pairs = [(f"{a.rstrip('/')}/", f"{b.rstrip('/')}/") for a in some for b in others]
    return any(a.startswith(b) or b.startswith(a) for a, b in pairs)


def _born(process: int) -> str:
    """When it began, as this system counts: its number may be another's one day."""
    with suppress(OSError):
        told = Path(f"/proc/{process}/stat").read_bytes()
        return told.rpartition(b")")[2].split()[19].decode()
    with suppress(OSError):
        os.kill(process, 0)
        return "?"
    return ""
