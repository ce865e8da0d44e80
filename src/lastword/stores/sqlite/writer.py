"""The only one who writes: everything that waits goes into one transaction, and one sync.

Whoever is refused is refused alone; if the transaction itself fails, nothing of it was done and
everybody in it is told so. Claims and renewals need no sync, since whoever lost them with the
power lost its life as well, so they go through a connection that makes none.

The lease is renewed whether or not anybody writes, so that trouble with the file shows by itself.
While there is any, it is renewed with a sync, as a message would be stored.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress

from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.lease import Tenure, boottime
from lastword.stores.sqlite.file import DatabaseFile, transaction
from lastword.stores.sqlite.line import StoreJob
from lastword.stores.sqlite.owners import Owner
from lastword.stores.sqlite.tables import Tables

log = logging.getLogger("lastword")
AT_ONCE = 512
_OURS = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError)  # one job's own fault


class Writer:
    """One store's way into its file. Everything here happens in one thread."""

    def __init__(
        self,
        file: DatabaseFile,
        owner: Owner,
        tables: Tables,
        durable: sqlite3.Connection,
        tenure: Tenure,
    ) -> None:
        self.transactions = 0  # how many were synced
        self.trouble: StoreError | None = None  # why the file takes nothing
        self._file = file
        self._owner = owner
        self._tables = tables
        self._durable = durable
        self._quick = file.connect("NORMAL")  # in a write-ahead log, that is none per commit
        self._tenure = tenure
        self._next_beat = boottime() + tenure.terms.beat / 2

    def serve(self, jobs: list[StoreJob]) -> None:
        """Do what was asked."""
        quick = [job for job in jobs if not job.durable]
        durable = [job for job in jobs if job.durable]
        if quick:
            self._together(self._quick, quick)
        if durable:
            self._together(self._durable, durable)

    def idle(self) -> None:
        """Nobody asked anything for a while, or the lease has run out and somebody waits for it."""
        if self._due:
            with suppress(sqlite3.Error, StoreError):
                self._watched(self._durable if self.trouble else self._quick, [])

    def close(self) -> None:
        """Own nothing, and let go. The connection that syncs goes last: it tidies the log up."""
        self._tenure.end()
        with suppress(sqlite3.Error), transaction(self._quick):
            self._owner.leave(self._quick)
        self._quick.close()
        self._durable.close()

    def _together(self, db: sqlite3.Connection, jobs: list[StoreJob]) -> None:
        try:
            self._watched(db, jobs)
            self.transactions += db is self._durable
        except (sqlite3.Error, StoreError) as error:
            for job in jobs:
                job.error = self._in_words(error)

    @property
    def _due(self) -> bool:
        waited = self.trouble or not self._tenure.good
        return bool(waited) or boottime() >= self._next_beat

    def _watched(self, db: sqlite3.Connection, jobs: list[StoreJob]) -> None:
        """One transaction; whether the file takes any is known from it."""
        try:
            self._renewing(db, jobs)
        except (sqlite3.Error, StoreError) as error:
            trouble = self._in_words(error)
            if str(trouble) != str(self.trouble):
                log.error("the store takes no writes: %s", trouble)  # noqa: TRY400
            self.trouble = trouble
            raise
        # on a full disk there may be room in the log of changes for a little, and not for more
        if self.trouble and db is self._durable and not self._file.is_full():
            self.trouble = None
            log.warning("the store takes writes again")

    def _renewing(self, db: sqlite3.Connection, jobs: list[StoreJob]) -> None:
        """One transaction, in which the lease is renewed too if that is due."""
        committed, beat = False, self._due
        taken: tuple[SessionId, ...] = ()
        asked = boottime()
        try:
            self._file.must_be_there()
            with transaction(db):
                if beat:
                    taken = self._tables.taken(db) if self._tenure.must_look() else ()
                    self._owner.beat(db)
                for job in jobs:
                    self._one(db, job)
            committed = True
        finally:
            self._tables.settle(committed=committed)
        if beat:
            self._next_beat = asked + self._tenure.terms.beat / 2
            self._tenure.answered(asked, taken)

    def _one(self, db: sqlite3.Connection, job: StoreJob) -> None:
        db.execute("SAVEPOINT one")
        try:
            job.result = job.work(db)
        except Exception as error:
            if isinstance(error, sqlite3.Error) and not isinstance(error, _OURS):
                raise  # the file's trouble, which is everybody's
            db.execute("ROLLBACK TO one")
            job.error = self._in_words(error)
        db.execute("RELEASE one")

    def _in_words(self, error: Exception) -> StoreError:
        if isinstance(error, StoreError):
            return error
        return self._file.trouble(error, "nothing of this was stored")
