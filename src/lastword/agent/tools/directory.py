"""Where a command begins: in the agent's directory, below its roots, or where the last ended.

A directory is looked up as the file tools look one up, so that no link leads out. That a `cd` lasts
is no guess from what a command writes: its shell notes where it is as it leaves.
"""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from lastword.agent.tools.roots import Roots

_REMEMBERED = 1000  # sessions
_NOTED = """\
lastword_line=$1 lastword_note=$2; shift 2
trap 'pwd -P >"$lastword_note"' EXIT
eval "$lastword_line"
"""  # a line with a trap of its own for EXIT, or an exec, notes nothing: then nothing changes


class Directories:
    """Those of each session."""

    def __init__(self, roots: Roots, *, last: bool) -> None:
        self.lasts = last  # whether a `cd` does
        self.roots = roots
        self._left: dict[str, str] = {}  # where each session's last command has ended
        self._notes = ""  # a directory of our own, once it is needed

    @property
    def first(self) -> str:
        return self.roots.first

    def find(self, session: str, asked: str) -> Path:
        """Where to begin. Raises an OSError if that is no directory inside the roots."""
        if asked or session not in self._left:
            return self._inside(asked or ".")
        try:
            return self._inside(self._left[session])
        except OSError as error:
            del self._left[session]
            raise OSError(
                f"{error}. That is where the last command ended, and nothing was started; the "
                f"next one begins in {self.first}"
            ) from error

    def _inside(self, path: str) -> Path:
        with self.roots.at(path) as place, place.directory():
            return self.roots.full(place.shown)

    def noting(self, shell: str, line: str) -> tuple[tuple[str, ...], Path | None]:
        """The words that run a line; and the file in which its shell notes where it ends."""
        if not self.lasts:
            return (shell, "-c", line), None
        if not self._notes:
            self._notes = mkdtemp(prefix="lastword-")
            weakref.finalize(self, shutil.rmtree, self._notes, ignore_errors=True)
        note = Path(self._notes) / uuid4().hex
        return (shell, "-c", _NOTED, shell, line, str(note)), note

    def noted(self, session: str, began: Path, note: Path) -> str:
        """A command has ended: where the next begins, in words."""
        try:
            ended = note.read_text(errors="surrogateescape").removesuffix("\n")
            note.unlink()
        except OSError:
            return f"in {began}"
        shown = ended.encode(errors="replace").decode()
        self._left.pop(session, None)
        try:
            self._left[session] = str(self._inside(ended))
        except OSError:
            return f"the next begins in {self.first}, as {shown} is outside of {self.roots}"
        if len(self._left) > _REMEMBERED:
            del self._left[next(iter(self._left))]
        return f"in {shown}"
