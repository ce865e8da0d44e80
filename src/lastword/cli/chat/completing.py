"""What Tab makes of a line: the rest of a command behind a slash, or of a file's name behind an @.

Files are those of the folder that is worked in, a directory at a time, as shells do it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_COMMAND = re.compile(r"/[a-z]*")
_FILE = re.compile(r"(?:^|(?<=\s))@(\S*)$")
_MOST = 2000  # names that are looked at
_HIDDEN = {".git", "__pycache__", "node_modules"}


class Completion(NamedTuple):
    """What to put behind the cursor, and between what a person has to choose."""

    more: str = ""
    options: tuple[str, ...] = ()


def completed(before: str, commands: Iterable[str], folder: Path) -> Completion:
    """Of what stands before the cursor."""
    if _COMMAND.fullmatch(before):
        return _among([f"/{name} " for name in sorted(commands)], before)
    if found := _FILE.search(before):
        return _among(_files(folder, found[1]), found[1])
    return Completion()


def _among(names: Iterable[str], begun: str) -> Completion:
    fitting = [name for name in names if name.startswith(begun)]
    more = _shared(fitting)[len(begun) :]
    return Completion(more, tuple(fitting) if len(fitting) > 1 else ())


def _shared(names: list[str]) -> str:
    """With what all of them begin."""
    first, last = min(names, default=""), max(names, default="")
    return first[: next((n for n, c in enumerate(first) if last[n : n + 1] != c), len(first))]


def _files(folder: Path, begun: str) -> list[str]:
    """What is in the directory that is named so far; a directory ends with a slash."""
    above, _, start = begun.rpartition("/")
    above = f"{above}/" if "/" in begun else ""
    found: list[str] = []
    with suppress(OSError, ValueError), os.scandir(folder / above) as entries:
        for _, one in zip(range(_MOST), entries, strict=False):
            plain = one.name.isprintable() and not any(map(str.isspace, one.name))
            wanted = one.name not in _HIDDEN and start.startswith(".") >= one.name.startswith(".")
            if plain and wanted:
                found.append(f"{above}{one.name}{'/' if one.is_dir() else ' '}")
    return sorted(found)
