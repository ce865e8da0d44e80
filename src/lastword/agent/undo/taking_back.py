"""Files, put back as they were: one by one, each looked at right before, each undoable in its turn.

What is there is kept and written down before it is replaced, as a file tool does it. So what is
killed half-way can be asked for again, and goes on.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from lastword.agent.undo.copies import Copies
from lastword.agent.undo.journal import UndoJournal, UndoRecord
from lastword.agent.undo.spot import Spot, now_at, spot, state_of
from lastword.agent.undo.telling import shown
from lastword.core.undo import FileChange, FileState, Order, Step, There, in_order, judged

_MEANWHILE = "somebody changed it in this moment"
_MORE = "it holds something that is not of this answer"


@dataclass(frozen=True)
class TakenBack:
    """What came of it: what is as it was before, and what is not, and why."""

    done: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()  # what has to be known with it


class UndoBusy(Exception):
    """Somebody else takes something back at this moment."""


@contextmanager
def alone(home: Path) -> Generator[None]:
    """Nobody else takes anything back meanwhile, in whatever process."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (home / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UndoBusy from error
        yield


def take_back(
    home: Path,
    copies: Copies,
    record: UndoRecord,
    changes: Iterable[FileChange],
    *,
    part: bool = False,
    anyway: bool = False,
) -> TakenBack:
    """Have these paths be as they were before an answer, or before an undo; `part` says that there
    are more."""
    roots, private = record.roots, record.private
    now = dict[str, There]()
    left, known = list[tuple[str, str]](), list[FileChange]()
    for one in changes:
        try:
            now[one.path] = now_at(_root(roots, one.path), one.path, private, copies)
            known.append(one)
        except (OSError, ValueError) as error:
            left.append((one.path, _why(error)))
    judgements = judged(known, now, anyway=anyway)
    left += [(one.change.path, one.why) for one in judgements if one.act == "refuse"]
    orders = in_order(judgements)
    if orders or not left:  # what is so already is taken back as well
        private_of = [list(private.files), list(private.folders)]
        journal = UndoJournal(
            home, record.session, run=record.run, epoch=record.epoch, roots=list(roots),
            private=private_of, undoes=record.id, part=part,
        )  # fmt: skip
        try:
            left += _Restorer(record, copies, journal).do(orders)
            with suppress(OSError):  # if it is asked for again, there is nothing left to do
                journal.write("over")
        finally:
            journal.close()
    failed = {path for path, _ in left}
    done = dict.fromkeys(order.path for order in orders if order.path not in failed)
    return TakenBack(
        tuple(shown(path, roots) for path in done),
        tuple((shown(path, roots), why) for path, why in left),
    )


def _root(roots: Iterable[str], path: str) -> str:
    for root in sorted(roots, key=len):
        if path.startswith(f"{root.rstrip('/')}/"):
            return root
    raise ValueError("it is outside of the folders that are worked in")


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST):
        return _MORE
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class _Restorer:
    """It does what was ordered."""

    def __init__(self, record: UndoRecord, copies: Copies, journal: UndoJournal) -> None:
        self._roots, self._private, self._undoes = record.roots, record.private, record.id
        self._copies, self._journal = copies, journal

    def do(self, orders: Iterable[Order]) -> list[tuple[str, str]]:
        """All that can be; what could not, and why."""
        left: dict[str, str] = {}
        for order in orders:
            if order.path in left:
                continue
            try:
                self._one(order)
            except (OSError, ValueError) as error:
                left[order.path] = _why(error)
        return list(left.items())

    def _one(self, order: Order) -> None:
        with spot(_root(self._roots, order.path), order.path, self._private.must_not_be) as one:
            self._private.must_not_become(one.folder, one.name, order.path)
            if order.act == "mode":
                _have_mode(one, order.to.mode if order.to else 0)
                return
            step = Step(order.path, order.now, order.to, sure=False)
            self._journal.step(step)
            made = order.now
            try:
                self._do(one, order)
                made = order.to
            finally:
                with suppress(OSError):  # it is made, and what is there shows it
                    self._journal.done(order.path, made)

    def _do(self, one: Spot, order: Order) -> None:
        now, to = order.now, order.to
        if to and to.kind == "folder":
            _folder(one, to, there=now is not None)
        elif to and _is_alike(to, now) and _is_alone(one):
            self._must_be(one, now)
            _have_mode(one, to.mode)
        elif to:
            self._put(one, to, now)
        else:
            self._must_be(one, now)
            remove = os.rmdir if now and now.kind == "folder" else os.unlink
            remove(one.name, dir_fd=one.folder)

    def _put(self, one: Spot, to: FileState, now: There) -> None:
        """Made beside it, and then in its place in one step. Who goes on with an undo that was
        killed there calls it the same, and so leaves none of it."""
        mark = sha256(f"{self._undoes} {one.path}".encode(errors="surrogateescape"))
        beside = f".lastword-{mark.hexdigest()[:16]}.tmp"
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=one.folder)
        try:
            if to.kind == "link":
                os.symlink(to.mark, beside, dir_fd=one.folder)
            else:
                self._write(one, beside, to)
            self._must_be(one, now)
            os.rename(beside, one.name, src_dir_fd=one.folder, dst_dir_fd=one.folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=one.folder)

    def _write(self, one: Spot, name: str, to: FileState) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        data, status = self._copies.of(to.mark), one.status()
        fd = os.open(name, flags, 0o600, dir_fd=one.folder)
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(data)
            if status:
                with suppress(PermissionError):  # only root can give it back to its owner
                    os.fchown(fd, status.st_uid, status.st_gid)
            os.fchmod(fd, to.mode)

    def _must_be(self, one: Spot, now: There) -> None:
        status = one.status()
        if state_of(one, status, self._copies) != now or (now is None and status is not None):
            raise ValueError(_MEANWHILE)


def _is_alike(to: FileState, now: There) -> bool:
    """Whether only the mode of a file is to be another."""
    return now is not None and to.kind == now.kind == "file" and to.mark == now.mark


def _is_alone(one: Spot) -> bool:
    """Whether a file has no other name, which somebody may have given it, and whose mode it is."""
    status = one.status()
    return status is not None and status.st_nlink == 1


def _folder(one: Spot, to: FileState, *, there: bool) -> None:
    """It can be written to until all is in it."""
    if not there:
        os.mkdir(one.name, 0o700, dir_fd=one.folder)
    _have_mode(one, to.mode | 0o700)


def _have_mode(one: Spot, mode: int) -> None:
    fd = one.open()
    try:
        os.fchmod(fd, mode)
    finally:
        os.close(fd)
