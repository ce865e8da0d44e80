"""One answer, as it is written down: its journal, and how its folders were when a command began."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from lastword.agent.tools.roots import Roots
from lastword.agent.undo.copies import Copies, undo_home
from lastword.agent.undo.journal import UndoJournal, picture, prune, read, records
from lastword.agent.undo.marker import open_here, others_open, overlap
from lastword.agent.undo.spot import now_at
from lastword.agent.undo.telling import report
from lastword.agent.undo.tree import TooMuch, Tree
from lastword.core.model import RunId
from lastword.core.rows import short
from lastword.core.undo import (
    FilesReport,
    FileState,
    Step,
    There,
    differences,
    less_others,
    together,
)

_BY_ANOTHER = "another answer changed it at the same time"
_BESIDE = "a command of another session ran at the same time, so nobody can tell whose it is"
_HOUR = 3600.0  # seconds between two times that what is old is forgotten
_A_WHILE = 600.0  # seconds for which it is remembered that there is too much to look at


@dataclass
class UndoRoom:
    """Where it is written down, and what is covered."""

    roots: Roots
    home: Path
    copies: Copies
    tree: Tree
    too_much: str = ""
    until: float = 0.0  # when it may be less again
    pruned: float = -_HOUR

    @classmethod
    def of(cls, roots: Roots) -> Self:
        """That of an agent in these."""
        home = undo_home()
        copies = Copies(home)
        return cls(roots, home, copies, Tree(roots.every, roots.private, copies))

    def journal(self, session: str, run: str, epoch: str) -> UndoJournal:
        """A new one; what is old is forgotten first."""
        if time.monotonic() - self.pruned > _HOUR:
            self.pruned = time.monotonic()
            prune(self.home, self.copies, time.time_ns() / 1e9)
        private = [list(self.roots.private.files), list(self.roots.private.folders)]
        where = {"roots": self.roots.every, "private": private}
        return UndoJournal(self.home, session, run=run, epoch=epoch, undoes="", part=False, **where)

    def look(self) -> dict[str, FileState]:
        """How all is now. Raises `TooMuch`, and for a while at once."""
        if time.monotonic() < self.until:
            raise TooMuch(self.too_much)
        try:
            return self.tree.look()
        except TooMuch as error:
            self.too_much, self.until = str(error), time.monotonic() + _A_WHILE
            raise


class AnswerNotes:
    """It. Tools write in threads, so whoever asks has the lock."""

    def __init__(self, kept: UndoRoom, session: str, name: str, epoch: str) -> None:
        self.name = name
        self._epoch = epoch
        self._kept = kept
        self._session = session
        self._journal: UndoJournal | None = None
        self._lock = threading.RLock()
        self._base: dict[str, FileState] | None = None  # how it was, while commands are seen
        self._since = 0.0
        self._marker = Path()
        self._open: list[str] = []
        self._cut: list[str] = []
        self._closed = False
        self._unwritten = ""  # why commands are not covered, if that could not be written down
        self.runs: set[RunId] = set()  # its own, and those below it

    @property
    def began(self) -> bool:
        """Whether something was written down."""
        return self._journal is not None or bool(self._unwritten)

    @property
    def looking(self) -> bool:
        """Whether what happens in its folders is seen as its commands'."""
        return self._base is not None

    def close(self) -> None:
        """Nothing more comes, but from a thread that nobody can end: that changes nothing."""
        with self._lock:
            self._closed = True
            if self._journal:
                self._journal.close()

    def _opened(self) -> UndoJournal:
        if self._closed:
            raise ValueError("its answer is over, so nothing was changed")
        self._journal = self._journal or self._kept.journal(self._session, self.name, self._epoch)
        return self._journal

    # what file tools say

    @contextmanager
    def writing(self, name: str, data: bytes) -> Generator[None]:
        """A file is about to hold this."""
        path = str(self._kept.roots.full(name))
        with self._lock:
            before = self._at(path)
            mode = before.mode & 0o777 if before else 0o666 & ~_umask()
            after = FileState("file", mode, self._kept.copies.keep(data))
            with self._step(path, before, after):
                yield

    @contextmanager
    def making(self, name: str) -> Generator[None]:
        """Folders on the way there may be made."""
        path = self._kept.roots.full(name)
        root = self._kept.tree.root_of(str(path))
        folders = [str(one) for one in path.parents if self._kept.tree.root_of(str(one))]
        with self._lock:
            missing = [one for one in folders[::-1] if root and self._at(one) is None]
            self._make(missing)
            try:
                yield
            finally:
                for one in missing:
                    self._over(one, self._at(one))

    def _make(self, missing: list[str]) -> None:
        for one in missing:
            to = FileState("folder", 0o777 & ~_umask())
            self._opened().step(Step(one, None, to, sure=False))

    @contextmanager
    def _step(self, path: str, before: There, after: FileState) -> Generator[None]:
        self._opened().step(Step(path, before, after, sure=False))
        made: There = before
        try:
            yield
            now = self._at(path)
            # what somebody did right behind it is not its doing
            made = now if now == before or (now and now.mark == after.mark) else after
        finally:
            self._over(path, made)

    def _over(self, path: str, made: There) -> None:
        with suppress(OSError):  # it is made, and what is there shows it
            self._opened().done(path, made)
        if self._base is not None and made:
            self._base[path] = made

    def _at(self, path: str) -> There:
        root = self._kept.tree.root_of(path)
        if root is None:
            return None
        return now_at(root, path, self._kept.roots.private, self._kept.copies)

    # what commands are seen to do

    def begin(self, command: str) -> None:
        """One is about to run. What was done until here is nobody's here, unless others go on."""
        with self._lock:
            tree = ""
            if self._base is None:
                try:
                    self._base = self._kept.look()
                    tree = picture(self._base, self._kept.copies)
                    self._since = time.time_ns() / 1e9
                    self._marker = open_here(self._kept.home, self._kept.tree.roots)
                except (TooMuch, OSError) as error:
                    self._uncover(error)
                    return
            try:
                self._opened().write("open", command=command, tree=tree)
            except OSError as error:
                self._uncover(error)
                return
            self._open.append(command)

    def _uncover(self, error: Exception) -> None:
        """What commands do from here on is not known, and that is said. They run all the same: one
        of them may make the room that is missing."""
        self._base, self._open, self._unwritten = None, [], _why(error)
        with suppress(OSError):
            self._marker.unlink()
        with suppress(OSError):
            self._opened().write("uncovered", why=self._unwritten)

    def over(self, command: str, *, cut: bool = False) -> None:
        """It has ended, or goes on under an id; or it was stopped in the middle."""
        with self._lock, suppress(ValueError):
            self._open.remove(command)
            if cut:
                self._cut.append(command)

    def look(self, alive: list[str], *, last: bool = False) -> None:
        """What differs from the look before was done by the commands of this answer."""
        with self._lock:
            if self._base is None:
                return
            goes_on = bool(self._open or alive) and not last
            try:
                now = self._seen(self._base, alive, goes_on=goes_on)
            except (TooMuch, OSError) as error:
                self._uncover(error)
                return
            self._base, self._cut = (now if goes_on else None), []
            if not goes_on:
                self._marker.unlink(missing_ok=True)

    def _seen(
        self, base: dict[str, FileState], alive: list[str], *, goes_on: bool
    ) -> dict[str, FileState]:
        """How all is now; what differs is written down."""
        now = self._kept.look()
        steps = self._less_others(differences(base, now))
        self._opened().look(
            steps, since=self._since, open=self._open if goes_on else [],
            tree=picture(now, self._kept.copies) if goes_on else "", cut=self._cut, alive=alive,
        )  # fmt: skip
        return now

    def _less_others(self, mine: tuple[Step, ...]) -> tuple[Step, ...]:
        if not mine:
            return mine
        home, roots, own = self._kept.home, self._kept.tree.roots, self._opened().path
        others = [one for one in records(home, since=self._since) if one.path != own]
        said = [one.steps[n] for one in others for at, n in one.told if at >= self._since]
        seen = any(
            at >= self._since and overlap(list(one.roots), roots)
            for one in others
            for _, at in one.looks
        )
        beside = seen or others_open(home, self._marker, roots)
        return less_others(mine, said, _BY_ANOTHER, beside=_BESIDE if beside else "")

    # what it came to

    def report(self) -> FilesReport | None:
        """For the receipt, and the end."""
        with self._lock:
            unknown = f"what commands did is not known: {self._unwritten}"
            if self._journal is None:
                return FilesReport((), notes=(unknown,)) if self._unwritten else None
            record = read(self._journal.path)
            notes = [f"“{short(one)}” was stopped in the middle" for one in record.cut]
            notes += [f"“{short(one)}” goes on, and may change more" for one in record.alive]
            notes += [unknown] if self._unwritten else []
            changes, roots = together(record.steps), self._kept.roots.every
            return report(changes, self._kept.copies, roots, notes)


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _umask() -> int:
    """Ours; to set it, which is the other way to ask, would be seen by other threads."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022
