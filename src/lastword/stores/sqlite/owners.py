"""Who may write to a session: the opened stores, each a row with a number and a heartbeat.

The heartbeat decides only when another may try. Who wins is decided by the number in the
session's row, which every transaction that writes reads first; so neither a clock that jumps nor
a process that was paused can do harm, and the worst that a wrong guess brings is an error.
"""

from __future__ import annotations

import os
import platform
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

BEAT = 2.0  # seconds between heartbeats
STALE = 10.0  # seconds after which nobody waits for the next one


class Owner:
    """This opened store, among all that have the file open."""

    def __init__(self, stale: float) -> None:
        self.epoch = 0
        self._stale = stale
        self._pid = os.getpid()
        self._started = _started(self._pid) or 0
        self._place = _place()
        self._since = 0.0

    def enter(self, db: sqlite3.Connection) -> None:
        """Become an owner, and forget those that are gone."""
        for (epoch,) in db.execute("SELECT epoch FROM owners").fetchall():
            if self.living(db, epoch) is None:
                db.execute("DELETE FROM owners WHERE epoch = ?", (epoch,))
        self._since = _now(db)
        added = db.execute(
            "INSERT INTO owners (pid, started, place, host, since, beat) VALUES (?, ?, ?, ?, ?, ?)",
            (self._pid, self._started, self._place, platform.node(), self._since, self._since),
        )
        self.epoch = added.lastrowid or 0

    def beat(self, db: sqlite3.Connection) -> None:
        """Be heard of; also after a pause in which somebody forgot this owner."""
        now = _now(db)
        db.execute(
            "INSERT INTO owners VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (epoch) DO UPDATE SET beat = excluded.beat",
            (self.epoch, self._pid, self._started, self._place, platform.node(), self._since, now),
        )

    def leave(self, db: sqlite3.Connection) -> None:
        """Own nothing any more."""
        db.execute("DELETE FROM owners WHERE epoch = ?", (self.epoch,))

    def living(self, db: sqlite3.Connection, epoch: int) -> str | None:
        """What to call another owner, if there is any reason to think that it lives."""
        found = db.execute(
            "SELECT pid, started, place, host, since, beat FROM owners WHERE epoch = ?", (epoch,)
        ).fetchone()
        if found is None:
            return None
        pid, started, place, host, since, beat = found
        here = bool(place) and place == self._place
        if here and _is_gone(pid, started):
            return None
        if abs(_now(db) - beat) > self._stale:
            return None
        who = f"process {pid} on {host}"
        if here and pid == self._pid:
            who = f"another store of this process ({pid})"
        return f"{who}, which has had the file open since {_said(since)}"


def _said(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _now(db: sqlite3.Connection) -> float:
    """The time of day, by the database's clock."""
    return float(db.execute("SELECT (julianday('now') - 2440587.5) * 86400.0").fetchone()[0])


def _place() -> str:
    """Within what a pid means one process; empty if there is no telling."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> int | None:
    """When a process started, as the kernel counts; 0: it ended and is not buried yet; None: there
    is no telling, for some systems hide what is other people's."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    state, *rest = stat.rpartition(")")[2].split()
    return 0 if state in "ZXx" else int(rest[18])


def _is_gone(pid: int, started: int) -> bool:
    """Whether the process that had this number then has ended. False if nobody can tell."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # somebody else's
    now = _started(pid)
    return now is not None and started not in (0, now)
