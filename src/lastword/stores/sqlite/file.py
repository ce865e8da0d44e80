"""The database file: connected to, recognised, brought up to date, and its troubles put in words.

A file that is not ours is not touched. The first to open a new one, or one of an older lastword,
makes the tables; whoever comes at the same moment waits, and finds them made.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from lastword.errors import Named, StoreError

APPLICATION = 0x6C617374  # "last", which also the `file` command can see
BACKUP = 0x6C617362  # "lasb": a copy, which is no store until it is restored
PATIENCE = 5.0  # seconds to wait for whoever else has the file locked
_OLDEST_SQLITE = (3, 37, 0)
_NUMBERED = re.compile(r"sqlite-(\d+)\.sql")
_RETRY = 0.01  # seconds; for its turn to change the journal's mode SQLite does not wait itself
_WHY = {
    sqlite3.SQLITE_BUSY: "another program keeps it locked",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked",
    sqlite3.SQLITE_READONLY: "it can be read, but not written",
    sqlite3.SQLITE_PERM: "it can be read, but not written",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CORRUPT: "the file is damaged",
    sqlite3.SQLITE_NOTADB: "the file is damaged, or not a database",
    sqlite3.SQLITE_CANTOPEN: "it, or a file beside it, cannot be opened",
    sqlite3.SQLITE_IOERR: "the disk answered with an error",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
}


class DatabaseFile:
    """Where a store lives."""

    def __init__(self, path: Path, *, patience: float = PATIENCE) -> None:
        self.path = path
        self._patience = patience
        self._identity: tuple[int, int] | None = None

    def open(self) -> sqlite3.Connection:
        """The first connection, to a file that is ours and of the schema this lastword writes."""
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old, 3.37 is the oldest")
        self._must_be_usable()
        with self.putting_in_words("it was not opened"):
            with suppress(FileExistsError):  # a new one is for its owner's eyes only
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            db = self.connect("FULL")
            try:
                self.version(db)
                self._log_ahead(db)
                self.migrate(db)
            except BaseException:
                db.close()
                raise
        self._identity = self._found()
        return db

    def connect(self, synchronous: str) -> sqlite3.Connection:
        """A connection, for one thread at a time; every transaction is begun by hand."""
        db = sqlite3.connect(
            self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in (
                f"synchronous = {synchronous}",
                "fullfsync = ON",  # macOS: else a sync stops at the disk's own memory
                "foreign_keys = ON",
                "temp_store = MEMORY",
                "secure_delete = ON",  # what is deleted is gone from the file, too
                "trusted_schema = OFF",
            ):
                db.execute(f"PRAGMA {pragma}")
            db.create_function("lower_", 1, str.lower, deterministic=True)  # of any alphabet
        except BaseException:
            db.close()
            raise
        return db

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """The bytes of the file, and of the log of changes that SQLite keeps beside it."""
        log_ = self.path.with_name(f"{self.path.name}-wal")
        found = list[tuple[str, int]]()
        for name, path in (("database", self.path), ("wal", log_)):
            with suppress(FileNotFoundError):
                found.append((name, path.stat().st_size))
        return tuple(found)

    def must_be_there(self) -> None:
        """A file that was deleted can still be written, but what for?"""
        if self._found() != self._identity:
            raise StoreError(
                Named(self.path),
                ": the file was deleted or replaced while it was open; "
                "nothing was written. Restart to go on with what is there now",
            )

    @contextmanager
    def putting_in_words(self, outcome: str) -> Generator[None]:
        """Whatever SQLite raises is a `StoreError` that names the file and what came of it."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self.trouble(error, outcome) from error

    def trouble(self, error: Exception, outcome: str) -> StoreError:
        code: int = getattr(error, "sqlite_errorcode", 0) & 0xFF
        why = _WHY.get(code, "it cannot be used")
        if code == sqlite3.SQLITE_IOERR and self.is_full():
            why = _WHY[sqlite3.SQLITE_FULL]
        if code == sqlite3.SQLITE_BUSY:
            why += f" for more than {self._patience:g} s"
        return StoreError(Named(self.path), f": {why} ({error}); {outcome}")

    def is_full(self) -> bool:
        """Whether not a byte is left where it is."""
        with suppress(OSError):
            return shutil.disk_usage(self.path.parent).free == 0
        return False

    def _found(self) -> tuple[int, int] | None:
        with suppress(OSError):
            found = self.path.stat()
            return found.st_dev, found.st_ino
        return None

    def _must_be_usable(self) -> None:
        beside = self.path.parent
        if not beside.is_dir():
            raise StoreError(f"{self.path}: there is no directory {beside}; it was not opened")
        if self.path.is_dir():
            raise StoreError(f"{self.path}: this is a directory; name a file in it")
        if self.path.exists() and not os.access(self.path, os.R_OK | os.W_OK):
            raise StoreError(f"{self.path}: the file is read-only here; it was not opened")
        if not os.access(beside, os.W_OK | os.X_OK):
            raise StoreError(
                f"{self.path}: the directory {beside} is read-only here, and SQLite keeps more "
                "files beside its own; it was not opened"
            )

    def version(self, db: sqlite3.Connection, application: int = APPLICATION) -> int:
        """The schema that the file has; 0 if it is new. Raises StoreError if it is not ours."""
        found, version, tables = _recognised(db)
        if found == application:
            if version > (known := len(_migrations())):
                raise StoreError(
                    f"{self.path}: written by a newer lastword (schema {version}; this one knows "
                    f"{known}); it was not opened"
                )
            return version
        if found == BACKUP:
            raise StoreError(
                f"{self.path}: this is a backup, and no store; `lastword restore` makes one of it"
            )
        if found == APPLICATION:
            raise StoreError(f"{self.path}: this is a store, and no backup of one")
        if found or version or tables:
            raise StoreError(
                f"{self.path}: this is the database of another program; it was not touched"
            )
        return 0

    def _log_ahead(self, db: sqlite3.Connection) -> None:
        give_up = time.monotonic() + self._patience
        while True:
            try:
                (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not busy or time.monotonic() > give_up:
                    raise
                time.sleep(_RETRY)
                continue
            if mode != "wal":
                raise StoreError(
                    f"{self.path}: this file system cannot hold a write-ahead log, which needs "
                    "memory that processes share; it was not opened"
                )
            return

    def migrate(self, db: sqlite3.Connection) -> None:
        """Bring it to the schema that this lastword writes."""
        if self.version(db) == len(_migrations()):
            return
        for number, script in enumerate(_migrations(), 1):
            with transaction(db):
                if self.version(db) >= number:
                    continue  # somebody was here first
                for statement in _statements(script):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {number}")


@contextmanager
def transaction(db: sqlite3.Connection) -> Generator[None]:
    """One transaction; what raises takes everything back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # some errors end it by themselves
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        raise


def _recognised(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Whose it is, of which schema, and how many tables it has; all at the same moment."""
    alone = not db.in_transaction
    if alone:
        db.execute("BEGIN")
    try:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        if alone and db.in_transaction:
            db.execute("ROLLBACK")
    return application, version, tables


def _migrations() -> list[str]:
    """The scripts that came with this lastword, in order."""
    found = {
        int(named[1]): file.read_text(encoding="utf-8")
        for file in (files("lastword.stores") / "sql").iterdir()
        if (named := _NUMBERED.fullmatch(file.name))
    }
    return [found[number] for number in range(1, len(found) + 1)]


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
