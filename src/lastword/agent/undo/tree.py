"""All that is below the roots, as it is at one moment; only what was touched since the last look is
read. Never under a link, into another file system, or where tools keep what can be made again.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

from lastword.agent.tools.edits import identity
from lastword.agent.tools.files import SKIPPED
from lastword.agent.tools.private import Private
from lastword.agent.undo.copies import Copies
from lastword.agent.undo.spot import FOLDER, MOST_KEPT, Spot, spot, state_of
from lastword.core.undo import FileState

MOST_FILES = 20_000
DEEPEST = 100  # folders in folders
MOST_READ = 256 << 20  # bytes that one look may read and copy
LONGEST = 5.0  # seconds of one look
_FRESH = 100_000_000  # nanoseconds in which a file can change again without another time
_OURS = re.compile(r"\.lastword-[0-9a-f]{16}\.tmp")  # what a write that was killed leaves


class TooMuch(Exception):
    """There is more below the roots than is looked at, in words."""


class Tree:
    """What is below some roots, and is remembered of it."""

    def __init__(self, roots: Iterable[str], private: Private, copies: Copies) -> None:
        every = sorted(set(roots))
        self.roots = [r for r in every if not any(r.startswith(f"{o}/") for o in every)]
        self._private = private
        self._copies = copies
        self._known: dict[str, tuple[tuple[int, ...], FileState]] = {}

    def root_of(self, path: str) -> str | None:
        """The root that a path is below."""
        return next((root for root in self.roots if path.startswith(f"{root.rstrip('/')}/")), None)

    def look(self) -> dict[str, FileState]:
        """All of it; of every file there is a copy from here on, or it says that there is none.
        Raises `TooMuch` before it reads more than it may."""
        look = _Look(self._private)
        met = [(root, *one) for root in self.roots for one in look.of(root)]
        found, known = dict[str, FileState](), dict[str, tuple[tuple[int, ...], FileState]]()
        unknown, size = list[tuple[str, str, os.stat_result]](), 0
        for root, path, status in met:
            now, (then, state) = identity(status), self._known.get(path, ((), None))
            if state and now == then and (not state.kept or self._copies.has(state.mark)):
                found[path], known[path] = state, (now, state)
            elif stat.S_ISDIR(status.st_mode):
                found[path] = FileState("folder", stat.S_IMODE(status.st_mode))
            else:
                unknown.append((root, path, status))
                size += status.st_size if status.st_size <= MOST_KEPT else 0
        if size > MOST_READ:
            raise TooMuch(f"{size >> 20:,} MB would have to be copied")
        for root, path, status in unknown:
            look.must_be_in_time()
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                self._read(look, root, path, status, found, known)
        self._known = known
        return found

    def _read(
        self,
        look: _Look,
        root: str,
        path: str,
        status: os.stat_result,
        found: dict[str, FileState],
        known: dict[str, tuple[tuple[int, ...], FileState]],
    ) -> None:
        with spot(root, path, look.must_be_public) as one:
            state = state_of(one, status, self._copies)
        if state is None:
            return
        found[path] = state
        if time.time_ns() - status.st_ctime_ns > _FRESH:  # nobody can set that back
            known[path] = identity(status), state


class _Look:
    """One: the names first, in no time, and whether it may go on."""

    def __init__(self, private: Private) -> None:
        self._private = private
        self._own = private.known()
        self._count = self._deep = 0
        self._until = time.monotonic() + LONGEST

    def of(self, root: str) -> Iterator[tuple[str, os.stat_result]]:
        self._private.must_not_hold(root)
        folder = os.open(root, FOLDER)
        try:
            yield from self._below(folder, root.rstrip("/"), os.fstat(folder).st_dev)
        finally:
            os.close(folder)

    def _below(self, folder: int, path: str, device: int) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
        for name in names:
            self._count += 1
            self.must_be_in_time()
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                yield from self._at(Spot(folder, name, f"{path}/{name}"), device)

    def _at(self, one: Spot, device: int) -> Iterator[tuple[str, os.stat_result]]:
        status = one.status()
        if status is None or _OURS.fullmatch(one.name):
            return
        self.must_be_public(status, one.path)
        is_folder = stat.S_ISDIR(status.st_mode)
        if is_folder and (one.name in SKIPPED or status.st_dev != device):
            return
        yield one.path, status
        if is_folder:
            if self._deep == DEEPEST:
                raise TooMuch(f"there are folders more than {DEEPEST} deep")
            below = os.open(one.name, FOLDER, dir_fd=one.folder)
            self._deep += 1
            try:
                yield from self._below(below, one.path, device)
            finally:
                self._deep -= 1
                os.close(below)

    def must_be_public(self, status: os.stat_result | None, path: str) -> None:
        """An error if it is lastword's own. A file with other names is looked up."""
        if status is None:
            return
        if (status.st_dev, status.st_ino) in self._own:
            raise PermissionError(f"{path} is lastword's own")
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            self._private.must_not_be(status, path)

    def must_be_in_time(self) -> None:
        """Raises `TooMuch` if there is too much of it."""
        if self._count > MOST_FILES:
            raise TooMuch(f"there are more than {MOST_FILES:,} files")
        if time.monotonic() > self._until:
            raise TooMuch(f"to look at all files took more than {LONGEST:g} seconds")
