"""Whether a database is as it must be, and keeps what it is trusted with.

What is wrong with what is stored only we can tell; how it is kept, the server says of itself.
"""

from __future__ import annotations

from lastword.stores.contract import StoreTrait
from lastword.stores.postgres.wire import PostgresConnection

_MOST_NAMED = 20
_FAR = 1.0  # seconds between two clocks that are worth a word
_INVARIANTS = (
    (
        "SELECT id FROM lastword.sessions LEFT JOIN (SELECT session, count(*) AS many,"
        " max(number) AS last FROM lastword.entries GROUP BY session) AS log ON session = key"
        " WHERE coalesce(many, 0) <> length OR coalesce(last, 0) <> length",
        "entries are missing from its log",
    ),
    (
        "SELECT DISTINCT id FROM lastword.sessions JOIN (SELECT session, generation AS written,"
        " generation < lag(generation) OVER (PARTITION BY session ORDER BY number) AS older"
        " FROM lastword.entries) AS log ON session = key"
        " WHERE older OR written > coalesce(generation, -1)",
        "its log has an entry of an older generation behind one of a newer",
    ),
    (
        "SELECT DISTINCT s.id FROM lastword.sessions s JOIN lastword.messages m ON m.session = key"
        " LEFT JOIN lastword.entries e ON e.session = key AND number = said"
        " WHERE kind IS DISTINCT FROM 'said'",
        "a message's text is not where it should be",
    ),
)
_ORPHANS = """
SELECT count(*) FROM lastword.{} WHERE session NOT IN (SELECT key FROM lastword.sessions)
"""
_TABLES = ("entries", "messages", "cells", "remembered")


async def wrong(db: PostgresConnection) -> list[str]:
    """What is not as it must be, a line each."""
    found = list[str]()
    for table in _TABLES:
        if many := await db.fetchval(_ORPHANS.format(table)):
            found.append(f"{many} of {table} belong to no session")
    for sql, what in _INVARIANTS:
        rows = await db.fetch(sql)
        found += [f"session {name}: {what}" for (name,) in rows[:_MOST_NAMED]]
        if len(rows) > _MOST_NAMED:
            found.append(f"and {len(rows) - _MOST_NAMED} more sessions: {what}")
    return found


async def traits(db: PostgresConnection, now: float) -> list[StoreTrait]:
    """How it keeps what is stored: what holds here, and what to change."""
    return [
        await _version(db),
        await _rights(db),
        await _durable(db),
        await _standbys(db),
        await _direct(db),
        await _clock(db, now),
        await _others(db),
    ]


async def _version(db: PostgresConnection) -> StoreTrait:
    version = await db.fetchval("SELECT current_setting('server_version')")
    return StoreTrait("version", "fine", f"PostgreSQL {version}")


async def _rights(db: PostgresConnection) -> StoreTrait:
    may = "SELECT bool_and(has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE'))"
    mine = "FROM pg_class WHERE relnamespace = to_regnamespace('lastword') AND relkind = 'r'"
    owns = "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'lastword'"
    if not await db.fetchval(f"{may} {mine}"):
        lacks = "this user may not read and write all of the tables: grant it ALL ON ALL TABLES IN"
        return StoreTrait("rights", "risk", f"{lacks} SCHEMA lastword")
    if not await db.fetchval(owns):
        told = "enough to run; a newer lastword must be opened once by the owner of the schema"
        return StoreTrait("rights", "note", told)
    return StoreTrait("rights", "fine", "this user owns the schema, and can bring it up to date")


async def _durable(db: PostgresConnection) -> StoreTrait:
    off = [
        name
        for name in ("fsync", "full_page_writes")
        if await db.fetchval("SELECT current_setting($1)", name) != "on"
    ]
    if off:
        which = f"the server has {' and '.join(off)} off"
        risk = "after a crash of its machine, what was acknowledged can be gone, or all of it"
        return StoreTrait("on disk", "risk", f"{which}: {risk}. Set it on")
    told = "each commit is synced before it is acknowledged, whatever synchronous_commit is here"
    return StoreTrait("on disk", "fine", told)


async def _standbys(db: PostgresConnection) -> StoreTrait:
    wanted = await db.fetchval("SELECT current_setting('synchronous_standby_names')")
    row = await db.fetchrow(
        "SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))"
        " FROM pg_stat_replication"
    )
    every, exact = row or (0, 0)
    if wanted:
        have = f"{exact} of {every} standbys have each commit before it is acknowledged"
        return StoreTrait("standby", "fine", have)
    if every:
        risk = "if one takes over, what was acknowledged last can be gone, stops among it"
        remedy = "set synchronous_standby_names, or accept that"
        return StoreTrait("standby", "risk", f"{every} that may be behind: {risk}; {remedy}")
    told = "none is known here; if this server is lost, so is what its last backup has not"
    return StoreTrait("standby", "note", told)


async def _direct(db: PostgresConnection) -> StoreTrait:
    """A pooler in transaction mode gives each transaction any of its connections."""
    first = await db.fetchval("SELECT pg_backend_pid()")
    await db.execute("SET lastword.here = 'yes'")
    kept = await db.fetchval("SELECT current_setting('lastword.here', true)")
    if kept != "yes" or await db.fetchval("SELECT pg_backend_pid()") != first:
        risk = "a pooler in transaction mode is in between, which loses settings and notifications"
        return StoreTrait("pooler", "risk", f"{risk}: use the database's own port, or session mode")
    return StoreTrait("pooler", "fine", "none is in between, or one in session mode")


async def _clock(db: PostgresConnection, now: float) -> StoreTrait:
    ahead = float(await db.fetchval("SELECT extract(epoch FROM clock_timestamp())")) - now
    if abs(ahead) < _FAR:
        return StoreTrait("clock", "fine", "the same as this machine's, within a second")
    which = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
    told = "only the order of lists, and the times in a log, depend on that"
    return StoreTrait("clock", "note", f"{which}; {told}")


async def _others(db: PostgresConnection) -> StoreTrait:
    rows = await db.fetch("SELECT host, pid, version FROM lastword.nodes ORDER BY since")
    each = ", ".join(f"{pid} on {host} (lastword {version})" for host, pid, version in rows)
    return StoreTrait("open in", "note", f"{len(rows)} processes, this one among them: {each}")
