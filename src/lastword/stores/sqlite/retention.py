"""What nobody has used for long is deleted, and the room that it took is given back.

Whoever has a session open keeps it: a deletion owns what it deletes, and looks in that same
transaction whether it is still unused. What waits for somebody is kept, however old it is. A
family goes together: a session is used as long as one below it is.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.contract import UnusedSession
from lastword.stores.lease import Tenure
from lastword.stores.sqlite.file import DatabaseFile, transaction
from lastword.stores.sqlite.owners import Owner

_FAMILY = """
WITH RECURSIVE family (root, key, id, at) AS (
  SELECT id, key, id, at FROM sessions WHERE parent IS NULL AND length > 0{only}
  UNION SELECT root, sessions.key, sessions.id, sessions.at
    FROM sessions JOIN family ON sessions.parent = family.id
) SELECT root, max(at), max(
    EXISTS (SELECT 1 FROM messages WHERE session = family.key AND outcome IS NULL)
    OR EXISTS (SELECT 1 FROM cells WHERE session = family.key AND going)
  ) FROM family GROUP BY root HAVING max(at) BETWEEN 1 AND ? ORDER BY max(at), root
"""


def unused(db: sqlite3.Connection, since: float) -> tuple[UnusedSession, ...]:
    """Those that were last used before a time, the oldest first."""
    found = db.execute(_FAMILY.format(only=""), (since,))
    return tuple(UnusedSession(SessionId(name), at, bool(waits)) for name, at, waits in found)


def is_unused(db: sqlite3.Connection, session: SessionId, since: float) -> bool:
    """Whether it is one of those, and nothing in it waits."""
    found = db.execute(_FAMILY.format(only=" AND id = ?"), (session, since)).fetchone()
    return found is not None and not found[2]


def vacuum(path: Path) -> tuple[int, int]:
    """Write a store anew, without the room that deleted sessions took; its size before and after.

    Nobody can write to it meanwhile, which may take longer than a lease lasts: so nobody else may
    have it open.
    """
    file = DatabaseFile(path)
    with file.putting_in_words("it is as it was"), closing(file.open()) as db:
        owner = Owner(Tenure())
        with transaction(db):
            owner.enter(db)
        try:
            _must_be_alone(db, owner, path)
            _log_written_back(db)
            before = path.stat().st_size
            db.execute("PRAGMA temp_store = FILE")  # it may be larger than the memory
            db.execute("VACUUM")
            _log_written_back(db)
            return before, path.stat().st_size
        finally:
            with transaction(db):
                owner.leave(db)


def _must_be_alone(db: sqlite3.Connection, owner: Owner, path: Path) -> None:
    for (epoch,) in db.execute("SELECT epoch FROM owners WHERE epoch != ?", (owner.epoch,)):
        if other := owner.living(db, epoch):
            raise StoreError(f"{path} is in use by {other}; stop it first")


def _log_written_back(db: sqlite3.Connection) -> None:
    """What is in the log beside the file, into the file."""
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
