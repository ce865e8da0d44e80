"""Who has the store open: each a row with a number of its own, and a count that it moves.

The rules of the lease are `core/lease`'s. Nothing of an owner's can be taken before its row is
gone, and a row that is gone never comes back: so whoever renews, however late, is told by that one
statement whether anything may have been taken. If its row is there, nothing was, and it goes on. If
not, it is dead, all that it had is lost, and it comes back under another number.
"""

from __future__ import annotations

import asyncio
import os
import platform
from importlib import metadata
from secrets import randbits

from lastword.core.lease import Terms, Watch
from lastword.stores.contract import OtherOwner
from lastword.stores.here import is_gone, place, started
from lastword.stores.lease import Tenure, boottime
from lastword.stores.peers import NodePeer
from lastword.stores.postgres.schema import TIMELINE
from lastword.stores.postgres.wire import PostgresConnection, Row

_ENTER = """
INSERT INTO lastword.nodes (epoch, lease, pid, started, place, host, version, keeper,
  keeper_started, url, digest, leaving) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""
_RENEW = f"""
WITH me AS (UPDATE lastword.nodes SET beats = beats + 1, keeper = $3, keeper_started = $4,
    leaving = $5 WHERE epoch = $1 AND $2 RETURNING 1)
SELECT CASE WHEN $2 THEN EXISTS (SELECT 1 FROM me)
    ELSE EXISTS (SELECT 1 FROM lastword.nodes WHERE epoch = $1) END, {TIMELINE},
  (SELECT array_agg(ARRAY[id::text, session, asker::text, body] ORDER BY id) FROM lastword.errands
    WHERE owner = $1 AND answer IS NULL)
"""  # noqa: S608 - ours
NODE = """
n.epoch, n.beats, n.lease, n.pid, n.started, n.place, n.host, n.since, n.keeper, n.keeper_started,
n.url, n.version, n.leaving, n.digest
""".strip()
_NODES = f"SELECT {NODE} FROM lastword.nodes n"  # noqa: S608 - ours
_FORGET = "DELETE FROM lastword.nodes WHERE epoch = $1 AND beats = $2"


class Renewal:
    """What came of one."""

    def __init__(self, row: Row) -> None:
        self.alive: bool = row[0]
        self.timeline: str = row[1]
        self.asked: list[tuple[str, str, str, str]] = [tuple(one) for one in row[2] or ()]


class Node:
    """This opened store, among all that have the database open."""

    def __init__(self, tenure: Tenure) -> None:
        self.epoch = 0  # 0: it is nobody yet, or not any more
        self._entered = asyncio.Event()
        self._tenure = tenure
        self._watch = Watch(tenure.terms)
        self._pid = os.getpid()
        self._started = started(self._pid) or 0
        self._place = place()
        self._keeper = 0, 0
        self.shown: tuple[str, str] = "", ""  # where others ask it, and the digest
        self.leaving = False  # it ends soon
        self.others: tuple[NodePeer, ...] = ()  # as they were seen last

    async def enter(self, db: PostgresConnection) -> None:
        """Become somebody whom nobody has heard of before."""
        epoch = randbits(62) or 1
        who = self._tenure.terms.length, self._pid, self._started, self._place, platform.node()
        more = *self._keeper, *self.shown, self.leaving
        await db.execute(_ENTER, epoch, *who, metadata.version("lastword"), *more)
        self.epoch = epoch
        self._entered.set()

    async def somebody(self) -> int:
        """The number, once there is one."""
        while not self.epoch:
            self._entered.clear()
            await self._entered.wait()
        return self.epoch

    async def renew(self, db: PostgresConnection, *, beat: bool) -> Renewal:
        """Move the count, unless this is only to hear what is asked; and hear that."""
        row = await db.fetchrow(_RENEW, self.epoch, beat, *self._keeper, self.leaving)
        return Renewal(row or (False, "", ()))

    def kept_by(self, process: int) -> None:
        """What is started here is seen off by that process, which may outlive this one."""
        self._keeper = process, started(process) or 0

    async def look(self, db: PostgresConnection) -> None:
        """See who else is there, and forget who is not."""
        others = [row for row in await db.fetch(_NODES) if row[0] != self.epoch]
        counts = {row[0]: (row[1], Terms(row[2])) for row in others}
        silent = self._watch.answered(boottime(), counts)
        gone = [row for row in others if row[0] in silent or self.other(row) is None]
        self.others = tuple(peer_of(tuple(row)) for row in others if row not in gone)
        for row in gone:
            await self.forget(db, row)

    async def forget(self, db: PostgresConnection, row: Row) -> None:
        """It is dead, unless it has been heard of since that was read."""
        await db.execute(_FORGET, row[0], row[1])

    async def leave(self, db: PostgresConnection) -> None:
        """Own nothing any more."""
        await db.execute("DELETE FROM lastword.nodes WHERE epoch = $1", self.epoch)
        self.epoch = 0

    def other(self, row: Row) -> OtherOwner | None:
        """Who that is; None if its process is known to have ended, and all that it started."""
        _, _, _, pid, then, where, host, since, *keeper = row[:10]
        here = bool(where) and where == self._place
        ending = here and is_gone(pid, then)
        if ending and (not keeper[0] or is_gone(keeper[0], keeper[1])):
            return None
        return OtherOwner(pid, host, since.timestamp(), here and pid == self._pid, ending)


def peer_of(row: Row, *, sessions: int = 0) -> NodePeer:
    """A node's row, as who asks it knows it."""
    epoch, beats, lease, pid, _, _, host, since, _, _, url, version, leaving, digest = row
    who = epoch, url, pid, host, since.timestamp(), version, lease
    return NodePeer(*who, leaving, digest, sessions, beats)
