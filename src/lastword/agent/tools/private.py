"""What no file tool shows or changes, whatever the roots and rules: lastword's own files.

The store has what others said, tokens and keys are the right to act as somebody, and what is
trusted is trusted for good. A file has many names (links, mounts, other spellings), so it is known
by device and inode, looked up in the step that asks: one that was made a moment ago counts. A file
that is not there yet is known by its name in its directory, so that nobody can plant it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self, TypeAlias

from lastword.agent.trust import of_the_person

_Identity: TypeAlias = tuple[int, int]
_BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite keeps with a database
_MOUNTED = "/proc/self/mountinfo"


@dataclass(frozen=True, slots=True)
class Private:
    """Files, and directories with all that is below them. It can be handed to another process."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        store: str = "",
        files: Iterable[str | os.PathLike[str]] = (),
        environment: Mapping[str, str] = os.environ,
    ) -> Self:
        """A store by its address, some files, and what lastword keeps for the person."""
        scheme, _, path = store.partition(":")
        kept = [Path(path).expanduser()] if scheme == "sqlite" and path else []
        named = [os.path.abspath(one) for one in (*kept, *files)]  # noqa: PTH100 - no link followed
        homes = (("XDG_STATE_HOME", ".local/state"), ("XDG_CONFIG_HOME", ".config"))
        folders = [str(of_the_person(*home, environment)) for home in homes]
        return cls(tuple(named), tuple(folders))

    def must_not_be(self, status: os.stat_result | None, shown: str) -> None:
        """An error if what was found there is one of them."""
        if status is None:
            return
        identity = status.st_dev, status.st_ino
        linked = stat.S_ISREG(status.st_mode) and status.st_nlink > 1  # it has other names
        if (
            _tells_of_processes(status.st_dev)
            or identity in self.known()
            or (linked and identity in self._below())
        ):
            raise _refused(shown)

    def must_not_become(self, folder: int, name: str, shown: str) -> None:
        """An error if what gets that name in that open directory would be one of them."""
        here = os.fstat(folder)
        for parent, own in map(os.path.split, (*self._names(), *_both(self.folders))):
            if own == name and _identity_of(parent) == (here.st_dev, here.st_ino):
                raise _refused(shown)

    def must_not_hold(self, root: str) -> None:
        """An error if a directory lies in one of those."""
        known = self.known()
        for one in (root, *map(str, Path(root).parents)):
            if _identity_of(one) in known:
                raise _refused(root)

    def known(self) -> set[_Identity]:
        """What there is of them at this moment, by device and inode; a link is what it leads to."""
        found = map(_identity_of, (*self._names(), *self.folders))
        return {identity for identity in found if identity is not None}

    def _below(self) -> set[_Identity]:
        """What lies in the directories."""
        found = (
            _identity_of(os.path.join(folder, name))  # noqa: PTH118 - as os.walk has it
            for home in self.folders
            for folder, _, names in os.walk(home)
            for name in names
        )
        return {identity for identity in found if identity is not None}

    def _names(self) -> Iterator[str]:
        """Where they are, or would be: SQLite keeps its own beside what a link leads to."""
        for one in _both(self.files):
            yield from (one + more for more in _BESIDE)


def _both(paths: Iterable[str]) -> Iterator[str]:
    """As they are written, and where they lead."""
    for path in paths:
        yield from dict.fromkeys((path, os.path.realpath(path)))


def _identity_of(path: str) -> _Identity | None:
    with suppress(OSError, ValueError):
        status = os.stat(path)  # noqa: PTH116 - thousands of times in a search
        return status.st_dev, status.st_ino
    return None


@cache
def _tells_of_processes(device: int) -> bool:
    """Whether it is of a file system with environments, and whatever is open. There is not only
    one of them: a process that is sealed off has its own, and finds it at the same place."""
    with suppress(OSError):
        for line in Path(_MOUNTED).read_text(encoding="utf-8", errors="replace").splitlines():
            mount, _, what = line.partition(" - ")
            major, _, minor = mount.split()[2].partition(":")
            if os.makedev(int(major), int(minor)) == device:
                return what.startswith("proc ")
    return False


def _refused(shown: str) -> PermissionError:
    return PermissionError(
        f"{shown} is lastword's own, or tells of its processes (a store, tokens, keys, what is "
        "trusted), and no file tool may look at it or change it; nothing was done"
    )
