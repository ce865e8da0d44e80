"""Whose a session is, and what becomes of it as a whole: taken, let go, deleted.

To take is to move the claim in the row of the topmost session, if it is still whose it was when
that was read; so of several who try, one does. Those below it are whose it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from lastword.core.model import Generation, SessionId
from lastword.core.value import value
from lastword.errors import OwnedElsewhere, StoreError
from lastword.stores.codec import decode_standing
from lastword.stores.contract import Overview, Place, SessionFilter, StoredSession
from lastword.stores.postgres.claims import Claims, Held
from lastword.stores.postgres.nodes import NODE, Node
from lastword.stores.postgres.parts import readable
from lastword.stores.postgres.wire import PATIENCE, PostgresConnection, must_be_storable

_FIND = f"""
SELECT s.key, s.root, r.owner, r.claim, s.parent, {NODE} FROM lastword.sessions s
JOIN lastword.sessions r ON r.key = coalesce(s.root, s.key)
LEFT JOIN lastword.nodes n ON n.epoch = r.owner WHERE s.id = $1
"""  # noqa: S608 - ours
_MAKE = """
INSERT INTO lastword.sessions (id, parent, root, owner, claim, generation, serial)
SELECT $1, $2, $3, $4, 1, floor, coalesce(floor, 0) FROM lastword.store
ON CONFLICT (id) DO NOTHING RETURNING key
"""
_TAKE = """
UPDATE lastword.sessions SET owner = $2, claim = claim + 1
WHERE key = $1 AND owner = $3 AND claim = $4 RETURNING claim, writes
"""
_WRITES = "SELECT writes FROM lastword.sessions WHERE key = $1"
# no number that may have been given out before a failover, or where this is a copy of, is again
_STORED = """
SELECT greatest(s.generation, (SELECT floor FROM lastword.store)),
  greatest(s.serial, (SELECT floor FROM lastword.store)), s.standing, s.parent, s.writes,
  (SELECT min(said) FROM lastword.messages WHERE session = s.key AND outcome IS NULL),
  (SELECT array_agg(ARRAY[id, body] ORDER BY number) FROM lastword.cells
    WHERE session = s.key AND going)
FROM lastword.sessions s WHERE s.id = $1
"""
_BELOW = """
WITH RECURSIVE below (key, id) AS (
  SELECT key, id FROM lastword.sessions WHERE parent = $1
  UNION SELECT s.key, s.id FROM lastword.sessions s JOIN below ON s.parent = below.id
) SELECT key, id FROM below
"""
_WHOSE = "SELECT owner, claim FROM lastword.sessions WHERE key = $1"
_LET_GO = """
WITH ours AS (SELECT 1 FROM lastword.sessions WHERE key = $1 AND owner = $2 AND claim = $3
  FOR UPDATE),
gone AS (DELETE FROM lastword.sessions WHERE coalesce(root, key) = $1 AND length = 0
  AND generation IS NOT DISTINCT FROM (SELECT floor FROM lastword.store)
  AND EXISTS (SELECT 1 FROM ours) RETURNING key)
UPDATE lastword.sessions SET owner = 0 WHERE key = $1 AND EXISTS (SELECT 1 FROM ours)
  AND NOT EXISTS (SELECT 1 FROM gone WHERE gone.key = $1)
"""
_TITLE = "CASE s.name WHEN '' THEN s.title ELSE s.name END"
_SAID = "(SELECT count(*) FROM lastword.messages m WHERE m.session = s.key)"
_OWN = f"s.id, s.generation, {_TITLE}, s.at, s.state, r.owner, s.parent, s.pinned, {_SAID}"
_SHOWN = f"{_OWN}, {NODE}"
_LIST = f"""
SELECT {_SHOWN} FROM lastword.sessions s
JOIN lastword.sessions r ON r.key = coalesce(s.root, s.key)
LEFT JOIN lastword.nodes n ON n.epoch = r.owner WHERE s.length > 0
"""  # noqa: S608 - ours
_RECENT = f"""{_LIST} AND (s.at, s.id) < ($2, $3) AND starts_with(s.id, $1)
AND strpos(substr(s.id, length($1) + 1), '/') = 0
AND s.pinned = coalesce($5, s.pinned)
ORDER BY s.at DESC, s.id DESC LIMIT $4
"""
_UNFINISHED = f"""
SELECT s.id, r.owner, {NODE} FROM lastword.sessions s
JOIN lastword.sessions r ON r.key = coalesce(s.root, s.key)
LEFT JOIN lastword.nodes n ON n.epoch = r.owner
WHERE s.key IN (SELECT session FROM lastword.messages WHERE outcome IS NULL) ORDER BY s.key
"""  # noqa: S608 - ours
_TAKEN = """
SELECT s.id FROM lastword.sessions s JOIN lastword.sessions r ON r.key = coalesce(s.root, s.key)
WHERE s.id = ANY ($1) AND r.owner = $2
"""
_EMPTY = """
UPDATE lastword.sessions SET length = 0, writes = writes + 1, standing = '{}', title = '',
  state = 'idle', name = '', pinned = false WHERE key = $1 RETURNING writes
"""
_AT_ONCE = 500  # sessions that are looked at in one step
_TURNS = 20  # times that others may be quicker


@value
class Whose:
    """A session's row, and whose it is."""

    key: int
    root: int
    owner: int
    claim: int
    parent: SessionId | None
    node: tuple[Any, ...]  # its owner's; of nulls if that is gone


class Owning:
    """Those of one opened store, and everybody's to look at."""

    def __init__(self, node: Node, claims: Claims) -> None:
        self._node = node
        self._claims = claims

    # to act in one

    async def load(self, db: PostgresConnection, session: SessionId) -> StoredSession | None:
        """Own it, and those below it; where it stands."""
        held = await self.own(db, session)
        row = await db.fetchrow(_STORED, session)
        if row is None:
            raise self.of_nobody(session)
        held.writes = int(row[4])
        return _stored(row)

    async def own(
        self, db: PostgresConnection, session: SessionId, parent: str | None = None
    ) -> Held:
        """The same, if only by a claim; as a child's, if it is a new one's."""
        must_be_storable(session)
        epoch = await self._somebody()
        for _ in range(_TURNS):
            found = await self._find(db, session)
            if found:
                taken = await self._take(db, session, found, epoch)
            else:
                taken = await self._begin(db, session, parent, epoch)
            if taken:
                if self._node.epoch != epoch:
                    raise self.of_nobody(session)  # what was taken by who is dead since
                return self._claims.take(session, *taken)
        raise StoreError(f"session {session} is taken again and again, so nothing was done")

    async def _begin(
        self, db: PostgresConnection, session: str, parent: str | None, epoch: int
    ) -> tuple[int, int, int, int] | None:
        """A row for a name that nobody has used; None if somebody else was quicker."""
        root = await self._root(db, SessionId(parent)) if parent else None
        key = await db.fetchval(_MAKE, session, parent, root, epoch if root is None else 0)
        number = 1 if root is None else self._claims.number(root)
        return None if key is None else (key, root or key, number, 0)

    async def _root(self, db: PostgresConnection, parent: SessionId) -> int:
        """The topmost above a child, which has to be ours."""
        held = self._claims.get(parent)
        if held is None:
            held = await self.own(db, parent)
        if held.claim.ended:
            raise self.of_nobody(parent)
        return held.root

    async def _take(
        self, db: PostgresConnection, session: SessionId, found: Whose, epoch: int
    ) -> tuple[int, int, int, int] | None:
        """Its key, its root's, that one's claim, and its writes; None if another was quicker."""
        known = found.owner == epoch and self._claims.number(found.root) == found.claim
        if known and found.key != found.root:
            number = found.claim  # it goes with the one above it, which we have
        else:
            if found.owner not in (0, epoch) and found.node[0] is not None:
                if other := self._node.other(found.node):
                    raise other.owns(session)
                await self._node.forget(db, found.node)
            row = await db.fetchrow(_TAKE, found.root, epoch, found.owner, found.claim)
            if row is None:
                return None
            number, writes = row
            if found.key == found.root:
                return found.key, found.root, number, writes
        return found.key, found.root, number, await db.fetchval(_WRITES, found.key)

    async def _find(self, db: PostgresConnection, session: SessionId) -> Whose | None:
        row = await db.fetchrow(_FIND, session)
        if row is None:
            return None
        key, root, owner, claim, parent, *node = row
        return Whose(key, root or key, owner, claim, parent, tuple(node))

    async def _somebody(self) -> int:
        """Our number; between two, the next is waited for."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._node.somebody()
        except TimeoutError:
            why = "the lease of this process has ended, and could not be had anew; nothing was done"
            raise StoreError(why) from None

    def of_nobody(self, session: SessionId) -> OwnedElsewhere:
        """The error for a session that was ours a moment ago."""
        return OwnedElsewhere(
            session, "another process, or nobody any more: this one's lease has ended"
        )

    async def release(self, db: PostgresConnection, session: SessionId) -> None:
        """Own it no longer; what was never written is not even there."""
        found = await self._find(db, session)
        if found is None or not found.owner or found.owner != self._node.epoch:
            return
        if found.key != found.root:
            self._claims.forget(session)  # it goes with the one above it
            if self._claims.any_of(found.root):
                return
        await db.execute(_LET_GO, found.root, self._node.epoch, found.claim)
        self._claims.let_go(found.root)

    async def delete(self, db: PostgresConnection, session: SessionId) -> None:
        """Empty it, and everything of those below it."""
        below = await db.fetch(_BELOW, session)
        if not below and not await self._find(db, session):
            return
        held = self._claims.get(session) or await self.own(db, session)
        keys = [key for key, _ in below]
        async with db.transaction():
            await db.execute(f"{_WHOSE} FOR UPDATE", held.root)
            if not await self.is_ours(db, held):
                raise await self.why_not(db, session)
            for table in ("entries", "messages", "cells", "remembered"):
                every = f"DELETE FROM lastword.{table} WHERE session = ANY ($1)"  # noqa: S608 - ours
                await db.execute(every, [held.key, *keys])
            await db.execute("DELETE FROM lastword.sessions WHERE key = ANY ($1)", keys)
            writes = await db.fetchval(_EMPTY, held.key)
        held.writes = int(writes or 0)
        for _, name in below:
            self._claims.forget(SessionId(name))

    async def is_ours(self, db: PostgresConnection, held: Held) -> bool:
        """Whether it still is."""
        row = await db.fetchrow(_WHOSE, held.root)
        return tuple(row or ()) == (self._node.epoch, self._claims.number(held.root))

    async def why_not(self, db: PostgresConnection, session: SessionId) -> OwnedElsewhere:
        """Whose it is, if it is not ours."""
        found = await self._find(db, session)
        self._claims.lose(session)
        if found is None:
            return OwnedElsewhere(session, "nobody any more: another process deleted it")
        if found.node[0] is not None and found.owner != self._node.epoch:
            other = self._node.other(found.node)
            if other:
                return other.owns(session)
        return self.of_nobody(session)

    # to look at it

    async def peek(self, db: PostgresConnection, session: SessionId) -> StoredSession | None:
        row = await db.fetchrow(_STORED, session)
        return _stored(row) if row else None

    async def lost(
        self, db: PostgresConnection, among: Collection[SessionId]
    ) -> tuple[SessionId, ...]:
        """Those that were ours, and are not any more."""
        known = [session for session in among if session in self._claims]
        ours = {row[0] for row in await db.fetch(_TAKEN, known, self._node.epoch)}
        ended = set(self._claims.lost(known))
        return tuple(one for one in known if one in ended or one not in ours)

    async def unfinished(self, db: PostgresConnection) -> tuple[SessionId, ...]:
        """Those with a message that has no outcome, and whose owner is not known to live."""
        rows = await db.fetch(_UNFINISHED)
        return tuple(name for name, owner, *node in rows if self._is_free(owner, tuple(node)))

    def _is_free(self, owner: int, node: tuple[Any, ...]) -> bool:
        other = self._node.other(node) if node[0] is not None else None
        return owner in (0, self._node.epoch) or other is None or other.ending

    async def overview(self, db: PostgresConnection, session: SessionId) -> Overview | None:
        row = await db.fetchrow(f"{_LIST} AND s.id = $1", session)
        return self._shown(tuple(row)) if row else None

    async def recent(
        self,
        db: PostgresConnection,
        space: str,
        limit: int,
        before: Place | None,
        wanted: SessionFilter,
    ) -> tuple[Overview, ...]:
        many = max(limit, _AT_ONCE) if wanted.words else limit
        found, place = list[Overview](), before or (float("inf"), SessionId(""))
        while len(found) < limit:
            rows = await db.fetch(_RECENT, space, *place, many, wanted.pinned)
            shown = [self._shown(tuple(row)) for row in rows]
            # here, because which letters a database knows in both cases depends on how it was made
            found += [one for one in shown if wanted.fits(one.title, pinned=one.pinned)]
            if len(rows) < many:
                break
            place = shown[-1].place
        return tuple(found[:limit])

    def _shown(self, row: tuple[Any, ...]) -> Overview:
        id_, generation, title, at, state, owner, parent, pinned, said, *node = row
        ours = owner == self._node.epoch
        living = None if ours or node[0] is None else self._node.other(tuple(node))
        if not ours and not living and state == "running":
            state = "waiting"  # what was running is lost, and nobody has settled that yet
        rest = living, parent, pinned, said
        return Overview(id_, Generation(generation), title, at, state, *rest)


def _stored(row: Any) -> StoredSession | None:  # noqa: ANN401 - a row
    generation, serial, standing, parent, _, unfinished, going = row
    if generation is None:
        return None
    return StoredSession(
        Generation(generation),
        serial,
        unfinished=unfinished is not None,
        since=(unfinished or 1) - 1,
        standing=decode_standing(standing),
        cells=tuple(readable(going or ())),
        parent=parent,
    )
