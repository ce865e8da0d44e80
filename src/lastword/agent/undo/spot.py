"""One name in one directory, reached from a root without following a link, and what is there."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lastword.agent.tools.edits import identity
from lastword.agent.tools.private import Private
from lastword.agent.undo.copies import Copies
from lastword.core.undo import FileState, There

MOST_KEPT = 32 << 20  # bytes of a file
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MustBePublic: TypeAlias = Callable[[os.stat_result | None, str], None]
_KNOWN = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Spot:
    """It."""

    folder: int
    name: str
    path: str

    def status(self) -> os.stat_result | None:
        """What is there, a link not followed."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self) -> int:
        """What is there, to be read, or to have its mode changed."""
        return os.open(self.name, _FILE, dir_fd=self.folder)


@contextmanager
def spot(root: str, path: str, must_be_public: MustBePublic) -> Generator[Spot]:
    """Where a path below a root is. A directory on the way that is a link now is an error."""
    parts = Path(path).relative_to(root).parts
    if not parts or ".." in parts:
        raise ValueError(f"{path} is not below {root}")
    folder = os.open(root, FOLDER)
    try:
        for part in parts[:-1]:
            below = os.open(part, FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
            must_be_public(os.fstat(folder), path)
        found = Spot(folder, parts[-1], path)
        must_be_public(found.status(), path)
        yield found
    finally:
        os.close(folder)


def state_of(one: Spot, status: os.stat_result | None, copies: Copies) -> There:
    """What is there, a copy of it kept. What is no file, folder or link is as nothing, and is left
    alone. Whether it may be read at all was asked by its status."""
    kind = 0 if status is None else stat.S_IFMT(status.st_mode)
    if status is None or kind not in _KNOWN:
        return None
    mode = stat.S_IMODE(status.st_mode)
    if kind == stat.S_IFLNK:
        return FileState("link", 0, os.readlink(one.name, dir_fd=one.folder))
    if kind == stat.S_IFDIR:
        return FileState("folder", mode)
    return _file(one, status, mode, copies)


def _file(one: Spot, status: os.stat_result, mode: int, copies: Copies) -> FileState:
    unread = FileState("file", mode, f"unread {identity(status)}", kept=False)
    if status.st_size > MOST_KEPT:
        return unread
    try:
        fd = one.open()
    except PermissionError:
        return unread
    with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor
        opened = os.fstat(fd)
        if (opened.st_dev, opened.st_ino) != (status.st_dev, status.st_ino):
            raise FileNotFoundError(f"{one.path} was replaced while it was looked at")
        data = file.read(MOST_KEPT + 1)
    return unread if len(data) > MOST_KEPT else FileState("file", mode, copies.keep(data))


def now_at(root: str, path: str, private: Private, copies: Copies) -> There:
    """What is at a path at this moment; nothing, if what should hold it is not there."""
    try:
        with spot(root, path, private.must_not_be) as one:
            return state_of(one, one.status(), copies)
    except (FileNotFoundError, NotADirectoryError):
        return None
