"""Paths inside what may be touched, walked one component at a time.

Every component is opened from the directory before it, and never through a symlink: a link is
read, and what it says is walked in the same way. So a link that leads out is refused, and whoever
swaps a directory for a link meanwhile brings about an error, not a way out. What is private is
refused where it is opened, whichever way led there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from lastword.agent.tools.private import Private

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOWHERE = -1  # a directory that is only named, because it is missing
_MOST_LINKS = 40
_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A name in an open directory; without a name, the directory itself."""

    folder: int
    name: str
    shown: str  # as a person would write it: from the first root, or in full
    private: Private

    def status(self) -> os.stat_result | None:
        """What is there, a link not followed; None if nothing is."""
        try:
            return os.stat(self.name or ".", dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @contextmanager
    def file(self) -> Generator[BinaryIO]:
        """Open it for reading. It has to be an ordinary file: a pipe could keep us for ever."""
        try:
            fd = os.open(self.name or ".", _FILE, dir_fd=self.folder)
        except OSError as error:
            raise _in_words(error, self.shown) from error
        try:
            status = os.fstat(fd)
            must_be_ordinary(status, self.shown)
            self.private.must_not_be(status, self.shown)
            with open(fd, "rb", buffering=1 << 16, closefd=False) as file:
                yield file
        finally:
            os.close(fd)

    @contextmanager
    def directory(self) -> Generator[int]:
        """Open it to look into."""
        try:
            fd = os.open(self.name or ".", _FOLDER, dir_fd=self.folder)
        except OSError as error:
            raise _in_words(error, self.shown) from error
        try:
            self.private.must_not_be(os.fstat(fd), self.shown)
            yield fd
        finally:
            os.close(fd)

    def must_be_public(self) -> None:
        """An error if it is private, or would be once it is made."""
        self.private.must_not_be(self.status(), self.shown)
        if self.name:
            self.private.must_not_become(self.folder, self.name, self.shown)


@dataclass(frozen=True, slots=True)
class Met:
    """Something met on a walk through a directory."""

    place: Place
    path: str  # from where the walk began
    is_folder: bool
    is_link: bool


class Roots:
    """The directories in which files may be touched. Relative paths begin in the first."""

    def __init__(
        self, paths: Sequence[str | os.PathLike[str]], private: Private | None = None
    ) -> None:
        self.private = Private.of() if private is None else private
        if isinstance(paths, str) or not paths:
            raise ValueError("roots must be a list of directories, at least one")
        known: dict[str, str] = {}
        for path in paths:
            real = Path(path).resolve(strict=True)
            if not real.is_dir():
                raise NotADirectoryError(f"the root {path} is not a directory")
            known[str(real)] = str(real)
            known.setdefault(str(Path(path).absolute()), str(real))  # as it was written
        self.first = next(iter(known.values()))
        self._known = sorted(known.items(), key=lambda pair: len(pair[0]), reverse=True)

    def __str__(self) -> str:
        return ", ".join(self.every)

    @property
    def every(self) -> tuple[str, ...]:
        """All of them, by the paths to which no link leads."""
        return tuple(dict.fromkeys([self.first, *(real for _, real in self._known)]))

    def split(self, path: str) -> tuple[str, str] | None:
        """The root that a path begins in, and the rest of it; None if it is in none."""
        if not path.startswith("/"):
            return self.first, path
        for alias, real in self._known:
            if path == alias or path.startswith(alias.rstrip("/") + "/"):
                return real, path[len(alias) :]
        return None

    @contextmanager
    def at(
        self, path: str, *, make: Callable[[], bool] | None = None, by_text: bool = False
    ) -> Generator[Place]:
        """Where a path leads; directories on the way that are missing are made while `make()`."""
        if not path or "\0" in path:
            raise ValueError("a path must not be empty, and must not hold a NUL character")
        walk = _Walk(self, path, make=make, by_text=by_text)
        try:
            place = walk.to_the_end()
            if not by_text:
                place.must_be_public()
            yield place
        finally:
            walk.close()

    def full(self, name: str) -> Path:
        """What is called so here, by its whole path."""
        return Path(self.first) / name

    def name(self, path: str) -> str:
        """What a path leads to, by its one name; from where nothing is, its text says it."""
        with self.at(path, by_text=True) as place:
            return place.shown


class _Walk:
    """One path on its way: what was opened, and what is left of it."""

    def __init__(
        self, roots: Roots, path: str, *, make: Callable[[], bool] | None, by_text: bool
    ) -> None:
        self._roots = roots
        self._asked = path
        self._make = make
        self._by_text = by_text
        self._links = 0
        self._root = ""
        self._folders: list[int] = []
        self._names: list[str] = []  # of all but the first of those
        self._last = ""  # the name that was come to, and not yet opened
        self._left: deque[str] = deque()
        self._begin(path)

    def _begin(self, path: str) -> None:
        start = self._roots.split(path)
        if start is None:
            raise self._outside()
        self.close()
        self._root, rest = start
        self._names, self._last = [], ""
        if not self._by_text:
            self._roots.private.must_not_hold(self._root)
        self._folders.append(os.open(self._root, _FOLDER))
        self._left.extendleft(reversed(rest.split("/")))

    def close(self) -> None:
        while self._folders:
            self._leave()

    def _leave(self) -> None:
        if (folder := self._folders.pop()) != _NOWHERE:
            os.close(folder)

    def to_the_end(self) -> Place:
        while self._left:
            part = self._left.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                self._up()
                continue
            self._enter()
            if (link := self._link(part)) is None:
                self._last = part
            elif link.startswith("/"):
                self._begin(link)
            else:
                self._left.extendleft(reversed(link.split("/")))
        shown = self._shown(self._last)
        return Place(self._folders[-1], self._last, shown, self._roots.private)

    def _up(self) -> None:
        # not by the kernel's "..": what was opened may have been moved out of the root
        if self._last:
            self._last = ""
        elif self._names:
            self._names.pop()
            self._leave()
        else:
            raise self._outside()

    def _enter(self) -> None:
        if not self._last:
            return
        name, above = self._last, self._folders[-1]
        if self._make and not self._make():
            raise InterruptedError(f"stopped on the way to {self._asked}; no more was made")
        try:
            if self._make:
                self._roots.private.must_not_become(above, name, self._shown(name))
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=above)
            self._folders.append(self._opened(name, above))
        except OSError as error:
            raise _in_words(error, self._shown(name)) from error
        self._names.append(name)
        self._last = ""

    def _opened(self, name: str, above: int) -> int:
        if above == _NOWHERE:
            return _NOWHERE
        try:
            folder = os.open(name, _FOLDER, dir_fd=above)
        except FileNotFoundError:
            if self._by_text:
                return _NOWHERE
            raise
        try:
            if not self._by_text:  # a name is no look inside
                self._roots.private.must_not_be(os.fstat(folder), self._shown(name))
        except BaseException:
            os.close(folder)
            raise
        return folder

    def _link(self, name: str) -> str | None:
        if self._folders[-1] == _NOWHERE:
            return None
        try:
            link = os.readlink(name, dir_fd=self._folders[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):  # no link, or nothing
                return None
            raise _in_words(error, self._shown(name)) from error
        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, f"{self._asked} leads through too many symlinks")
        return link

    def _shown(self, name: str) -> str:
        inside = "/".join([*self._names, *([name] if name else [])])
        if self._root == self._roots.first:
            return inside or "."
        return f"{self._root.rstrip('/')}/{inside}".rstrip("/")

    def _outside(self) -> PermissionError:
        by_link = ", through a symlink," if self._links else ""
        return PermissionError(
            f"{self._asked} leads{by_link} out of what may be touched: {self._roots}"
        )


def must_be_ordinary(status: os.stat_result, shown: str) -> None:
    """An error if it is not an ordinary file."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{shown} is a directory, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{shown} is a device, a pipe or a socket, not an ordinary file")


def walk(folder: int, start: Place, skip: frozenset[str], depth: int = _DEEPEST) -> Generator[Met]:
    """Everything below an open directory, in order of name; no link is followed."""
    at = replace(start, shown="" if start.shown == "." else f"{start.shown}/")
    yield from _walk(folder, at, "", skip, depth)


def _walk(folder: int, above: Place, path: str, skip: frozenset[str], depth: int) -> Generator[Met]:
    with os.scandir(folder) as entries:
        here = sorted(entries, key=lambda entry: entry.name)
    for entry in here:
        is_folder = entry.is_dir(follow_symlinks=False)
        place = replace(above, folder=folder, name=entry.name, shown=above.shown + entry.name)
        yield Met(place, path + entry.name, is_folder, entry.is_symlink())
        if is_folder and depth > 1 and entry.name not in skip:
            with suppress(OSError), place.directory() as below:  # gone, or not ours to look into
                inner = replace(place, shown=f"{place.shown}/")
                yield from _walk(below, inner, f"{path}{entry.name}/", skip, depth - 1)


def _in_words(error: OSError, shown: str) -> OSError:
    match error.errno:
        case None:  # in words already
            return error
        case errno.ENOENT:
            return FileNotFoundError(f"there is no {shown}")
        case errno.ENOTDIR:
            return NotADirectoryError(f"{shown} is not a directory")
        case errno.ELOOP:
            return PermissionError(f"{shown} became a symlink while it was being opened")
        case errno.ENXIO:
            return OSError(errno.ENXIO, f"{shown} is a pipe or a socket, not an ordinary file")
        case _:
            return type(error)(error.errno, f"{shown}: {error.strerror}")
