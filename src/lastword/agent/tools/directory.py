"""Where a command begins: in the agent's directory, below its roots, or where the last ended.

A directory is looked up as the file tools look one up, so that no link leads out, and a command
begins in that one or not at all. That a `cd` lasts is no guess from what a command writes: its
shell notes where it is as it leaves.
"""

from __future__ import annotations

import errno
import os
import shutil
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp, mkstemp

from lastword.agent.about import begins
from lastword.agent.tools.roots import Roots
from lastword.processes.command import Folder
from lastword.runtime.run import Run

_REMEMBERED = 1000  # sessions
_LONGEST = 4096  # bytes: no longer path can be begun in
_NOTED = """\
lastword_line=$1 lastword_note=$2; shift 2
trap '[ -f "$lastword_note" ] && { pwd -P || echo; } >|"$lastword_note" 2>/dev/null' EXIT
eval "$lastword_line"
"""  # a line with a trap of its own for EXIT, or an exec, notes nothing: then nothing changes


class ShellNote:
    """A file in which a shell writes one line. What becomes of its name is the command's affair:
    what is read is the file that was opened here, and no more of it than a path is long."""

    def __init__(self, folder: str) -> None:
        self._fd, self.path = mkstemp(dir=folder)
        self.close = weakref.finalize(self, _put_away, self._fd, self.path)

    def read(self) -> str:
        """What was written, if anything was."""
        said = os.pread(self._fd, _LONGEST + 2, 0)
        return said.decode(errors="surrogateescape")


def _put_away(fd: int, path: str) -> None:
    os.close(fd)
    with suppress(OSError):  # the command may have done so
        Path(path).unlink()


@dataclass(frozen=True, slots=True)
class Stay:
    """A session, and where the command of this call was judged to begin, if it was."""

    session: tuple[str, str]  # by its name, and by what tells it from a deleted one of that name
    judged: str | None = None


class Directories:
    """Those of each session."""

    def __init__(self, roots: Roots, *, last: bool) -> None:
        self.lasts = last  # whether a `cd` does
        self.roots = roots
        self._left: dict[tuple[str, str], str] = {}  # where each session's last command has ended
        self._notes = ""  # a directory of our own, once it is needed

    @property
    def first(self) -> str:
        return self.roots.first

    @staticmethod
    def of(run: Run) -> Stay:
        """Whose command is to begin; asked where its call is made."""
        return Stay((run.session, run.epoch), begins.get())

    def find(self, stay: Stay, asked: str) -> Folder:
        """Where to begin. Raises an OSError if that is no directory inside the roots."""
        try:
            return self.look(stay, asked)
        except OSError as error:
            if asked or self._left.pop(stay.session, None) is None:
                raise
            raise OSError(
                f"{error}. That is where the last command ended, and nothing was started; the "
                f"next one begins in {self.first}"
            ) from error

    def look(self, stay: Stay, asked: str) -> Folder:
        """The same, for who only wants to know."""
        return self._inside(stay.judged or asked or self._left.get(stay.session, "."))

    def _inside(self, path: str) -> Folder:
        with self.roots.at(path) as place, place.directory() as folder:
            status = os.fstat(folder)
            return Folder(str(self.roots.full(place.shown)), status.st_dev, status.st_ino)

    def noting(self, shell: str, line: str) -> tuple[tuple[str, ...], ShellNote | None]:
        """The words that run a line; and the file in which its shell notes where it ends."""
        if not self.lasts:
            return (shell, "-c", line), None
        note = self._note()
        return (shell, "-c", _NOTED, shell, line, note.path), note

    def _note(self) -> ShellNote:
        if self._notes:
            with suppress(OSError):  # a command may have removed it
                return ShellNote(self._notes)
        self._notes = mkdtemp(prefix="lastword-")
        weakref.finalize(self, shutil.rmtree, self._notes, ignore_errors=True)
        return ShellNote(self._notes)

    def noted(self, stay: Stay, began: Folder, note: ShellNote) -> str:
        """A command has ended: where the next begins, in words."""
        said = note.read()
        note.close()
        if not said:  # nothing changes
            following = self._left.get(stay.session, self.first)
            return f"in {began.path}" if following == began.path else self._next(following)
        self._left.pop(stay.session, None)
        ended = said.removesuffix("\n")
        try:
            self._left[stay.session] = self._inside(_path(ended)).path
        except (OSError, ValueError) as error:
            return f"{self._next(self.first)}: {error}"
        if len(self._left) > _REMEMBERED:
            del self._left[next(iter(self._left))]
        return f"in {_shown(ended)}"

    def _next(self, path: str) -> str:
        return f"the next begins in {_shown(path)}"


def _path(said: str) -> str:
    if not said:
        raise FileNotFoundError("the directory in which it ended is gone")
    if len(os.fsencode(said)) > _LONGEST:
        raise OSError(errno.ENAMETOOLONG, "the path of where it ended is too long")
    return said


def _shown(path: str) -> str:
    return path.encode(errors="replace").decode()
