"""A copy of a store as it was at one moment, and a store made of such a copy.

A backup is whole or it is not there: it is made beside its name, read from end to end, synced, and
only then given the name, which nobody else may have. It is no store: nothing opens it as one.

What a store did after its backup was made, the backup does not know. So a restored store gives out
no number that may have been given out: generations and the counts of messages go on from the time
of the restore, which is higher than any of them. And nothing in it starts by itself: what waited
then may have been answered, or stopped, since.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, TypeAlias

from lastword.errors import StoreError
from lastword.stores.codec import decode_standing, encode_standing
from lastword.stores.sqlite.file import APPLICATION, BACKUP, DatabaseFile, transaction
from lastword.stores.sqlite.health import wrong

Progress: TypeAlias = Callable[[int, int], None]
"""Told after each piece how many pages are copied, and of how many."""

_PAGES = 1024  # that are copied between two words of progress
_BESIDE = ("-wal", "-shm", "-journal")


class Copied(NamedTuple):
    """What was made."""

    sessions: int
    size: int  # bytes


def back_up(source: Path, target: Path, progress: Progress) -> Copied:
    """Copy a store, which others may go on writing, to a file that must not be there yet."""
    with _reading(source, APPLICATION) as db, _making(target) as (copy, made):
        _copy(db, made, progress)
        _must_be_whole(made, source)
        made.execute("DELETE FROM owners")  # none of them has this file open
        made.execute(f"PRAGMA application_id = {BACKUP}")
        return _counted(made, copy)


def restore(backup: Path, target: Path, progress: Progress, now: float) -> Copied:
    """Make a store of a backup, at a place where there is none."""
    _must_be_alone(target)
    with _reading(backup, BACKUP) as db, _making(target) as (copy, made):
        _copy(db, made, progress)
        _must_be_whole(made, backup)
        made.execute(f"PRAGMA application_id = {APPLICATION}")
        DatabaseFile(copy).migrate(made)
        with transaction(made):
            _go_on(made, int(now * 1_000_000))
            _let_wait(made)
        return _counted(made, copy)


@contextmanager
def _reading(path: Path, application: int) -> Generator[sqlite3.Connection]:
    """The file, if it is what it is said to be. It is not brought up to date."""
    if not path.is_file() or not path.stat().st_size:
        why = "is empty" if path.is_file() else "is no file" if path.exists() else "does not exist"
        raise StoreError(f"{path} {why}; nothing was copied")
    file = DatabaseFile(path)
    with file.putting_in_words("nothing was copied"), closing(file.connect("FULL")) as db:
        if not file.version(db, application):
            raise StoreError(f"{path}: there is nothing in this database; nothing was copied")
        yield db


@contextmanager
def _making(target: Path) -> Generator[tuple[Path, sqlite3.Connection]]:
    """A file beside the target, which takes its name if all goes well, and else is gone."""
    if not target.parent.is_dir():
        raise StoreError(f"{target}: there is no directory {target.parent}; nothing was copied")
    _must_not_be_there(target)
    beside = target.with_name(f".{target.name[:200]}-{token_hex(8)}")
    file = DatabaseFile(target)
    with file.putting_in_words("nothing was copied"):
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            with closing(DatabaseFile(beside).connect("OFF")) as made:  # it is synced once, below
                yield beside, made
                made.execute("PRAGMA journal_mode = DELETE")  # one file, and none beside it
            _sync(beside)
            _name(beside, target)
            _sync(target.parent)
        finally:
            for one in (beside, *map(Path, (f"{beside}{more}" for more in _BESIDE))):
                with suppress(OSError):
                    one.unlink(missing_ok=True)


def _must_not_be_there(target: Path) -> None:
    if os.path.lexists(target):
        raise StoreError(f"{target} is there already, and is not overwritten; nothing was copied")


def _must_be_alone(target: Path) -> None:
    """What another store left there would be read as a part of this one."""
    for one in (f"{target}{more}" for more in _BESIDE):
        if os.path.lexists(one):
            raise StoreError(
                f"{one} is there already, of another store; stop the servers that have it open, "
                "and move it away together with its store; nothing was copied"
            )


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _name(made: Path, target: Path) -> None:
    try:
        target.hardlink_to(made)  # which takes no name that somebody has
    except FileExistsError:
        _must_not_be_there(target)
        raise
    except OSError:  # a file system that knows no second name
        _must_not_be_there(target)
        made.rename(target)


def _copy(db: sqlite3.Connection, into: sqlite3.Connection, progress: Progress) -> None:
    """All of it as it is at this moment, in pieces; who writes meanwhile does not wait."""
    db.execute("BEGIN")
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # this is the moment
        db.backup(into, pages=_PAGES, progress=lambda _, left, all_: progress(all_ - left, all_))
    finally:
        db.execute("ROLLBACK")


def _must_be_whole(made: sqlite3.Connection, source: Path) -> None:
    if found := wrong(made):
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise StoreError(f"{source} is not whole ({found[0]}{more}); no copy was kept")


def _counted(made: sqlite3.Connection, copy: Path) -> Copied:
    count = "SELECT count(*) FROM sessions WHERE length > 0 AND parent IS NULL"
    return Copied(made.execute(count).fetchone()[0], copy.stat().st_size)


def _go_on(db: sqlite3.Connection, now: int) -> None:
    """From numbers that nobody was ever given. The time alone would do, if clocks were right."""
    (highest,) = db.execute(
        "SELECT max(coalesce((SELECT max(floor) FROM restores), 0),"
        " coalesce((SELECT max(max(coalesce(generation, 0), serial)) FROM sessions), 0))"
    ).fetchone()
    floor = max(now, highest + 1)
    db.execute("INSERT INTO restores (floor) VALUES (?)", (floor,))
    db.execute("DELETE FROM sessions WHERE generation IS NULL")  # never written, and nobody's
    db.execute("UPDATE sessions SET generation = ?, serial = ?", (floor, floor))


def _let_wait(db: sqlite3.Connection) -> None:
    """What was accepted and had not ended waits for a person, whatever a runtime's `on_restart`."""
    found = db.execute(
        "SELECT key, standing FROM sessions"
        " WHERE key IN (SELECT session FROM messages WHERE outcome IS NULL)"
    ).fetchall()
    for key, body in found:
        stood = decode_standing(body)
        waits = encode_standing(replace(stood, hushed=True, held=stood.order))
        db.execute("UPDATE sessions SET standing = ? WHERE key = ?", (waits, key))
