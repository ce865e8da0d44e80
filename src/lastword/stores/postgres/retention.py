"""What nobody has used for long is deleted. A family goes together, and what waits is kept."""

from __future__ import annotations

from lastword.core.model import SessionId
from lastword.stores.contract import UnusedSession
from lastword.stores.postgres.owning import Owning
from lastword.stores.postgres.wire import PostgresConnection

_FAMILY = """
SELECT r.id, max(s.at), bool_or(
    EXISTS (SELECT 1 FROM lastword.messages WHERE session = s.key AND outcome IS NULL)
    OR EXISTS (SELECT 1 FROM lastword.cells WHERE session = s.key AND going))
FROM lastword.sessions r JOIN lastword.sessions s ON coalesce(s.root, s.key) = r.key
WHERE r.root IS NULL AND r.length > 0 AND ($2::text IS NULL OR r.id = $2)
GROUP BY r.id HAVING max(s.at) BETWEEN 1 AND $1 ORDER BY 2, 1
"""


async def unused(
    db: PostgresConnection, since: float, only: SessionId | None = None
) -> tuple[UnusedSession, ...]:
    """Those that were last used before a time, the oldest first."""
    rows = await db.fetch(_FAMILY, since, only)
    return tuple(UnusedSession(SessionId(name), at, waits) for name, at, waits in rows)


async def prune(db: PostgresConnection, session: SessionId, owning: Owning, since: float) -> bool:
    """Delete it, if it is one of those and nothing in it waits; whether it was."""
    await owning.load(db, session)  # or another has it
    found = await unused(db, since, session)
    gone = bool(found) and not found[0].waits
    if gone:
        await owning.delete(db, session)
    await owning.release(db, session)
    return gone
