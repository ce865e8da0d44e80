"""Who may write to a session: the opened stores, each a row with a number, and a count it moves.

The count decides only when another may try. Who wins is decided by the number in the session's
row, which every transaction that writes reads first. How long a count has not moved is measured by
whoever watches it; whoever moves it stops earlier than that, by its own clock (`core/lease`). A
process of the same machine that is known to have ended, and whose zygote has seen off all that it
started, is not waited for.
"""

from __future__ import annotations

import os
import platform
import sqlite3

from lastword.core.lease import Terms, Watch
from lastword.stores.contract import OtherOwner
from lastword.stores.here import is_gone, place, started
from lastword.stores.lease import Tenure, boottime


class Owner:
    """This opened store, among all that have the file open."""

    def __init__(self, tenure: Tenure) -> None:
        self.epoch = 0
        self._tenure = tenure
        self._watch = Watch(tenure.terms)
        self._dead: dict[int, int] = {}  # owners that were silent for too long: at which count
        self._beats = 0
        self._pid = os.getpid()
        self._started = started(self._pid) or 0
        self._place = place()
        self._since = 0.0
        self._keeper = 0, 0

    def enter(self, db: sqlite3.Connection) -> None:
        """Become an owner, and forget those that are gone."""
        self._since = _now(db)
        added = db.execute(
            "INSERT INTO owners (pid, started, place, host, since, beats, lease)"
            " VALUES (?, ?, ?, ?, ?, 0, ?)",
            (*self._who, self._tenure.terms.length),
        )
        self.epoch = added.lastrowid or 0
        self.look(db)

    @property
    def _who(self) -> tuple[int, int, str, str, float]:
        return self._pid, self._started, self._place, platform.node(), self._since

    def beat(self, db: sqlite3.Connection) -> None:
        """Move the count, also after a pause in which somebody forgot this owner; and look."""
        self._beats += 1
        db.execute(
            "INSERT INTO owners (epoch, pid, started, place, host, since, beats, lease, keeper,"
            " keeper_started) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (epoch) DO UPDATE SET beats = excluded.beats, keeper = excluded.keeper,"
            " keeper_started = excluded.keeper_started",
            (self.epoch, *self._who, self._beats, self._tenure.terms.length, *self._keeper),
        )
        self.look(db)

    def kept_by(self, db: sqlite3.Connection, pid: int) -> None:
        """What is started here is seen off by that process, which may outlive this one."""
        self._keeper = pid, started(pid) or 0
        self.beat(db)

    def leave(self, db: sqlite3.Connection) -> None:
        """Own nothing any more."""
        db.execute("DELETE FROM owners WHERE epoch = ?", (self.epoch,))

    def look(self, db: sqlite3.Connection) -> None:
        """See who else is there, and forget who is not. In a transaction that writes: whoever
        cannot write cannot tell the silence of others from its own."""
        found = db.execute("SELECT epoch, beats, lease FROM owners").fetchall()
        counts = {e: (beats, Terms(lease)) for e, beats, lease in found if e != self.epoch}
        dead = self._watch.answered(boottime(), counts)
        self._dead = {epoch: counts[epoch][0] for epoch in dead}
        for epoch in counts:
            if self.living(db, epoch) is None:
                db.execute("DELETE FROM owners WHERE epoch = ?", (epoch,))

    def living(self, db: sqlite3.Connection, epoch: int) -> OtherOwner | None:
        """Who another owner is, if there is any reason to think that it lives."""
        found = db.execute(
            "SELECT pid, started, place, host, since, beats, keeper, keeper_started FROM owners"
            " WHERE epoch = ?",
            (epoch,),
        ).fetchone()
        if found is None:
            return None
        pid, then, where, host, since, beats, *keeper = found
        here = bool(where) and where == self._place
        ending = here and is_gone(pid, then)
        if ending and (not keeper[0] or is_gone(*keeper)):
            return None
        if self._dead.get(epoch) == beats:
            return None
        return OtherOwner(pid, host, since, here and pid == self._pid, ending)


def _now(db: sqlite3.Connection) -> float:
    """The time of day, by the database's clock; for people to read."""
    return float(db.execute("SELECT (julianday('now') - 2440587.5) * 86400.0").fetchone()[0])
