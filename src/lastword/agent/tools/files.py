"""Files: read, written, edited, listed and searched, inside the roots and nowhere else.

Nothing here is async: the gate runs it in threads, which a stop cannot end. So what takes long, or
changes something, takes a `may_go_on` (give it `lambda: run.current`) and asks it: a search before
every file, a write right before the one step that changes anything. What was cut is always said.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from itertools import islice
from secrets import token_hex
from typing import BinaryIO

from lastword.agent.tools.edits import MOST_COMPARED, MOST_EDITED, There, identity, mark, replaced
from lastword.agent.tools.glob import glob as matching
from lastword.agent.tools.noting import Noting, unnoted
from lastword.agent.tools.private import Private
from lastword.agent.tools.roots import Met, Place, Roots, must_be_ordinary, walk

_MOST_SHOWN = 100_000  # bytes of a file, a list or a search that are given at once
_MOST_SCANNED = 256 << 20  # bytes that are read to get to a line
_MOST_FOUND = 200  # lines of a search
_MOST_LISTED = 1000
_MOST_LOOKED_AT = 200_000  # names
_LINE = 400  # characters of a line that a search gives
_SNIFF = 8192
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
SKIPPED = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})


def always() -> bool:
    """Nobody has asked to stop, and nobody will."""
    return True


def all_of(path: str) -> bool:  # noqa: ARG001 - whichever it is
    """Every file may be shown."""
    return True


class Files:
    """An agent's files. Relative paths are from the first root; absolute ones must be in one.

    Symlinks are followed as long as they stay inside. An object of this class can be handed to
    another process, so that its methods can be isolated tools.
    """

    def __init__(
        self, roots: Sequence[str | os.PathLike[str]], *, private: Private | None = None
    ) -> None:
        self.roots = Roots(roots, private)

    def name(self, path: str) -> str:
        """The one name that a file has here, however its path was written; for rules."""
        return self.roots.name(path)

    # for who keeps files elsewhere, too, as an editor does that has not saved them

    def held(self, place: Place, may_go_on: Callable[[], bool]) -> bytes | None:  # noqa: ARG002 - of the file that is asked about
        """What a file holds, if that is not what is on the disk."""
        return None

    def put(
        self,
        place: Place,
        data: bytes,
        before: os.stat_result | None,
        may_go_on: Callable[[], bool],
    ) -> None:
        """Have a file hold this, in place of what was there before."""
        _replace(place, data, before, may_go_on)

    def there(self, place: Place, may_go_on: Callable[[], bool]) -> There:
        """What a file holds now, for who is to agree to a change of it."""
        held, status = self.held(place, may_go_on), place.status()
        if held is not None or status is None:
            return There(held, 0 if held is None else len(held), mark(status, held))
        try:
            with place.file() as file:
                held = file.read(MOST_COMPARED + 1)
        except PermissionError:
            return There(None, status.st_size, mark(status, None), "not to be read")
        return There(held, status.st_size, mark(status, held))

    def _must_be_agreed(
        self, place: Place, agreed: str | None, may_go_on: Callable[[], bool]
    ) -> None:
        """A person may have agreed to this change, by the mark of what they were shown."""
        if agreed is not None and self.there(place, may_go_on).mark != agreed:
            raise ValueError(
                f"{place.shown} is not what it was when the person was asked, so it was left as it "
                "is; call it again to have it asked for again"
            )

    # the tools

    def read_file(
        self,
        path: str,
        offset: int = 1,
        limit: int = 2000,
        *,
        may_go_on: Callable[[], bool] = always,
    ) -> str:
        """Read a text file, from line `offset` (the first is 1), at most `limit` lines."""
        if offset < 1 or limit < 1:
            raise ValueError(f"offset and limit must be at least 1; they are {offset}, {limit}")
        with self.roots.at(path) as place:
            if (held := self.held(place, may_go_on)) is not None:
                return _lines(BytesIO(held), offset, limit) or f"[{place.shown} is empty]"
        with self.roots.at(path) as place, place.file() as file:
            size = os.fstat(file.fileno()).st_size
            if _is_binary(file):
                return f"[{place.shown} is a binary file of {size:,} bytes; it is not shown]"
            return _lines(file, offset, limit) or f"[{place.shown} is empty]"

    def write_file(
        self,
        path: str,
        text: str,
        *,
        agreed: str | None = None,
        noting: Noting = unnoted,
        may_go_on: Callable[[], bool] = always,
    ) -> str:
        """Write a text file, in place of what was there; missing directories are made."""
        data = text.encode(errors="replace")
        with self.roots.at(path, make=may_go_on) as place:
            before = place.status()
            self._must_be_agreed(place, agreed, may_go_on)
            with noting(place, data):
                self.put(place, data, before, may_go_on)
        did = "wrote" if before is None else "replaced"
        return f"{did} {place.shown}: {len(data):,} bytes"

    def edit_file(
        self,
        path: str,
        old: str,
        new: str,
        all: bool = False,
        *,
        agreed: str | None = None,
        noting: Noting = unnoted,
        may_go_on: Callable[[], bool] = always,
    ) -> str:
        """Put `new` in place of `old`, which must occur exactly once unless `all` is true."""
        with self.roots.at(path) as place:
            held = self.held(place, may_go_on)
            before, data = _whole(place) if held is None else (place.status(), held)
            edited, count = replaced(data, old, new, place.shown, every=all)
            self._must_be_agreed(place, agreed, may_go_on)
            with noting(place, edited):
                self.put(place, edited, before, may_go_on)
        return f"edited {place.shown}: {count} {'place' if count == 1 else 'places'}"

    def list_files(
        self,
        path: str = ".",
        pattern: str = "*",
        *,
        may_go_on: Callable[[], bool] = always,
        may_show: Callable[[str], bool] = all_of,
    ) -> str:
        """List a directory by a glob: "*" what is in it, "**" all below, "**/*.py" files by name.

        Directories end with a slash, links with an @.
        """
        matches, shown = matching(pattern), _Shown(may_show)
        depth = 60 if "**" in pattern else pattern.count("/") + 1
        with (
            self.roots.at(path) as place,
            place.directory() as folder,
            closing(walk(folder, place, SKIPPED, depth)) as found,
        ):
            some = (one for one in _looked_at(found, may_go_on) if matches(one.path))
            names = (_marked(one) for one in some if shown(one.place))
            lines = list(islice(names, _MOST_LISTED + 1))
        skipped = sorted(line for line in lines if line.rstrip("/").rpartition("/")[2] in SKIPPED)
        notes = [f"not looked into: {', '.join(skipped)}"] if skipped and depth > 1 else []
        notes += shown.notes()
        if len(lines) > _MOST_LISTED:
            notes.append(f"only the first {_MOST_LISTED:,} are listed; give a narrower pattern")
        return _given(lines[:_MOST_LISTED], notes, nothing=f"nothing matches {pattern}")

    def search_files(
        self,
        pattern: str,
        path: str = ".",
        glob: str = "**",
        *,
        may_go_on: Callable[[], bool] = always,
        may_show: Callable[[str], bool] = all_of,
    ) -> str:
        """Search for a regular expression, line by line, in the files that match the glob.

        An expression can take for ever, and Python runs nothing else meanwhile: to be able to
        stop it, make this an isolated tool.
        """
        try:
            search = re.compile(pattern.encode()).search
        except re.error as error:
            raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
        matches = matching(glob if "/" in glob or "**" in glob else f"**/{glob}")
        hunt = _Hunt(search, matches, _Shown(may_show))
        with self.roots.at(path) as place:
            if (status := place.status()) is not None and stat.S_ISREG(status.st_mode):
                hunt.look_into(place)
            else:
                with (
                    place.directory() as folder,
                    closing(walk(folder, place, SKIPPED)) as found,
                ):
                    hunt.look_below(found, may_go_on)
        return _given(hunt.lines[:_MOST_FOUND], hunt.notes(), nothing=f"{pattern!r} is nowhere")


class _Shown:
    """Which files may be shown, and how many were not."""

    def __init__(self, may_show: Callable[[str], bool]) -> None:
        self._may_show = may_show
        self._left_out = 0

    def __call__(self, place: Place) -> bool:
        may_show = self._may_show(place.shown)
        self._left_out += not may_show
        return may_show

    def notes(self) -> list[str]:
        return [f"{self._left_out:,} left out by a rule"] if self._left_out else []


class _Hunt:
    """A search, and what it came to."""

    def __init__(
        self,
        search: Callable[[bytes], object],
        matches: Callable[[str], object],
        shown: _Shown,
    ) -> None:
        self.lines: list[str] = []
        self._search = search
        self._matches = matches
        self._shown = shown
        self._files = 0
        self._left_out = 0  # files: binary, too long, not ours to read

    def look_below(self, found: Iterator[Met], may_go_on: Callable[[], bool]) -> None:
        for one in _looked_at(found, may_go_on):
            if one.is_folder or one.is_link or not self._matches(one.path):
                continue
            self.look_into(one.place)
            if len(self.lines) > _MOST_FOUND:
                return

    def look_into(self, place: Place) -> None:
        if not self._shown(place):
            return
        self._files += 1
        try:
            with place.file() as file:
                if os.fstat(file.fileno()).st_size > MOST_EDITED or _is_binary(file):
                    self._left_out += 1
                    return
                data = file.read(MOST_EDITED)
        except (OSError, ValueError):
            self._left_out += 1
            return
        for number, line in enumerate(data.split(b"\n"), 1):
            if self._search(line):
                self.lines.append(f"{place.shown}:{number}: {_short(line)}")
            if len(self.lines) > _MOST_FOUND:
                return

    def notes(self) -> list[str]:
        notes = [f"{self._files:,} files searched", *self._shown.notes()]
        if self._left_out:
            notes.append(f"{self._left_out:,} left out: binary, too long, or not readable")
        if len(self.lines) > _MOST_FOUND:
            notes.append(f"only the first {_MOST_FOUND} lines are given; search for less")
        return notes


def _looked_at(found: Iterator[Met], may_go_on: Callable[[], bool]) -> Iterator[Met]:
    for number, one in enumerate(found):
        if not may_go_on():
            raise InterruptedError(f"stopped after {number:,} names")
        if number == _MOST_LOOKED_AT:
            raise ValueError(f"there are more than {number:,} names here; begin further down")
        yield one


def _marked(one: Met) -> str:
    return one.place.shown + ("/" if one.is_folder else "@" if one.is_link else "")


def _short(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return text if len(text) <= _LINE else f"{text[:_LINE]}… ({len(text):,} characters)"


def _given(lines: list[str], notes: list[str], *, nothing: str) -> str:
    """Lines for a model, as many as may be, and after them what is to be said of them."""
    size, given = 0, 0
    for line in lines:
        size += len(line) + 1
        if size > _MOST_SHOWN:
            break
        given += 1
    if given < len(lines):
        notes = [*notes, f"{len(lines) - given:,} lines left out: too long"]
    body = lines[:given] or [f"[{nothing}]"]
    return "\n".join(body + [f"[{note}]" for note in notes])


def _is_binary(file: BinaryIO) -> bool:
    start = file.read(_SNIFF)
    file.seek(0)
    return b"\0" in start


def _lines(file: BinaryIO, offset: int, limit: int) -> str:
    taken: list[bytes] = []
    size, number, note = 0, 1, ""
    while data := file.readline(1 << 16):  # a line may be longer than memory
        if number >= offset:
            size += len(data)
            if number == offset + limit or size > _MOST_SHOWN:
                note = _cut(number, offset, whole=not taken or taken[-1].endswith(b"\n"))
                break
            taken.append(data)
        number += data.endswith(b"\n")
        if file.tell() > _MOST_SCANNED:
            note = f"[cut: {_MOST_SCANNED:,} bytes were read, up to line {number}; no more]"
            break
    if offset > 1 and not taken and not note:
        note = f"[there are only {number - 1} lines; line {offset} is beyond the end]"
    text = b"".join(taken).decode(errors="replace")
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{note}" if note else text


def _cut(number: int, offset: int, *, whole: bool) -> str:
    if whole and number > offset:
        return f"[cut: lines {offset} to {number - 1} are shown; go on with offset={number}]"
    return f"[cut in the middle of line {number}, which is too long to be shown]"


def _whole(place: Place) -> tuple[os.stat_result, bytes]:
    with place.file() as file:
        before = os.fstat(file.fileno())
        if before.st_size > MOST_EDITED:
            raise ValueError(
                f"{place.shown} has {before.st_size:,} bytes, and {MOST_EDITED:,} is the most "
                "that can be edited; nothing was changed"
            )
        return before, file.read(MOST_EDITED)


def _replace(
    place: Place, data: bytes, before: os.stat_result | None, may_go_on: Callable[[], bool]
) -> None:
    """Write beside it, then take its place in one step; a link that came there is replaced."""
    if not place.name:
        raise IsADirectoryError(f"{place.shown} is a directory, not a file")
    if before is not None:
        must_be_ordinary(before, place.shown)
    with _beside(place) as (name, fd):
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor
            if before is not None:
                with suppress(PermissionError):  # only root can give it back to its owner
                    os.fchown(fd, before.st_uid, before.st_gid)
                os.fchmod(fd, before.st_mode & 0o777)
            file.write(data)
        if not may_go_on():
            raise InterruptedError(f"stopped before {place.shown} was changed; it is as it was")
        if identity(place.status()) != identity(before):
            raise ValueError(f"somebody else changed {place.shown} meanwhile; it was left so")
        os.rename(name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)


@contextmanager
def _beside(place: Place) -> Generator[tuple[str, int]]:
    name = f".lastword-{token_hex(8)}.tmp"
    fd = os.open(name, _WRITE, 0o666, dir_fd=place.folder)
    try:
        yield name, fd
    finally:
        with suppress(FileNotFoundError):  # it has taken its place
            os.unlink(name, dir_fd=place.folder)
