"""Files of control groups that are ours, also after a run has been at them.

A run has the rights of this user, and so may close a folder of ours, freeze it, or allow it no
groups. All of that can be undone by whoever owns it; it is, where it is in the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_FOLDER, _FILE = 0o755, 0o644
_AS_MADE = (("cgroup.max.descendants", "max"), ("cgroup.max.depth", "max"), ("cgroup.freeze", "0"))


def read(path: Path, base: Path) -> str:
    """A file below `base`, which is opened again if somebody closed it."""
    try:
        return path.read_text(encoding="ascii")
    except PermissionError:
        _open_again(path, base)
        return path.read_text(encoding="ascii")


def write(path: Path, text: str, base: Path) -> None:
    """The same for what is written."""
    try:
        path.write_text(text, encoding="ascii")
    except PermissionError:
        _open_again(path, base)
        path.write_text(text, encoding="ascii")


def mend(folder: Path, base: Path) -> None:
    """Have it as it was made, and all between it and `base`, which is not of our making."""
    for name, text in _AS_MADE:
        for one in _down_to(folder, base)[1:]:
            with suppress(OSError):
                if read(one / name, base).strip() != text:
                    write(one / name, text, base)


def thaw(folder: Path, base: Path) -> None:
    """Let whoever is in it go on."""
    for one in _down_to(folder, base)[1:]:
        with suppress(OSError):
            if read(one / "cgroup.freeze", base).strip() == "1":
                write(one / "cgroup.freeze", "0", base)


def folders(top: Path) -> Iterator[Path]:
    """It, and all groups below it, each before those that it is in."""
    found, unseen = [top], [top]
    while unseen:
        folder = unseen.pop()
        with suppress(OSError):
            folder.chmod(_FOLDER)
            below = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir()]
            found += below
            unseen += below
    yield from reversed(found)


def _down_to(folder: Path, base: Path) -> list[Path]:
    """From `base` to the folder."""
    return [one for one in (*reversed(folder.parents), folder) if one.is_relative_to(base)]


def _open_again(path: Path, base: Path) -> None:
    for folder in _down_to(path.parent, base):
        with suppress(OSError):
            folder.chmod(_FOLDER)
    with suppress(OSError):
        path.chmod(_FILE)
