"""The tables: made, recognised, brought up to date, and whether they are where they were.

What is not ours is not touched, and nothing is opened that a newer lastword wrote. Whoever comes at
the same moment waits, and finds it done. A migration only adds, so that two versions can have the
store open while one takes the other's place.

A database that is another than when it was last opened is a copy: what the first did since, nobody
here knows. So it gives out no number that may have been given out, and nothing in it starts by
itself. A standby that took over has another timeline; if it was behind, the same is so of numbers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files

from lastword.errors import StoreError
from lastword.stores.codec import decode_standing, encode_standing
from lastword.stores.postgres.wire import Database, PostgresConnection

_NUMBERED = re.compile(r"postgres-(\d+)\.sql")
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('lastword'))"
OLDEST = 120000  # PostgreSQL 12
TIMELINE = "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)"
_THERE = """
SELECT to_regclass('lastword.store') IS NULL,
  (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('lastword'))
"""
_PLACE = """
SELECT (SELECT oid::text FROM pg_database WHERE datname = current_database()),
  CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE') THEN 1 END
"""


async def prepare(db: PostgresConnection, database: Database) -> None:
    """Have the tables of the schema that this lastword writes."""
    version = int(await db.fetchval("SELECT current_setting('server_version_num')"))
    if version < OLDEST:
        raise StoreError(f"{database.shown}: PostgreSQL {version // 10000} is too old; 12 or newer")
    await must_be_primary(db, database)
    if (encoding := await db.fetchval("SELECT current_setting('server_encoding')")) != "UTF8":
        why = f"its encoding is {encoding}, in which not every text can be stored; make one in UTF8"
        raise StoreError(f"{database.shown}: {why}")
    if await found(db, database) == len(migrations()):
        return
    async with db.transaction():
        await _alone(db)
        for number, script in enumerate(migrations(), 1):
            if await found(db, database) < number:
                if number == 1:
                    await db.execute("CREATE SCHEMA IF NOT EXISTS lastword")
                await db.execute(script)
                await db.execute(_SET_VERSION, number)


async def must_be_primary(db: PostgresConnection, database: Database) -> None:
    """Raise if nothing can be written there."""
    if await db.fetchval("SELECT pg_is_in_recovery()"):
        raise StoreError(
            f"{database.shown}: this is a standby, which can only be read; name the primary"
        )


_SET_VERSION = (
    "INSERT INTO lastword.store (version) VALUES ($1)"
    " ON CONFLICT (one) DO UPDATE SET version = excluded.version"
)


async def found(db: PostgresConnection, database: Database) -> int:
    """The schema that is there; 0 if there is none. Raises `StoreError` if it is not ours."""
    row = await db.fetchrow(_THERE)  # at one moment: somebody may be making them
    missing, tables = row or (True, 0)
    if missing:
        if tables:
            raise StoreError(
                f"{database.shown}: it has a schema 'lastword' that is another program's; it was "
                "not touched"
            )
        return 0
    version = int(await db.fetchval("SELECT coalesce(max(version), 0) FROM lastword.store"))
    if version > (known := len(migrations())):
        raise StoreError(
            f"{database.shown}: written by a newer lastword (schema {version}; this one knows "
            f"{known}); it was not opened"
        )
    return version


def migrations() -> list[str]:
    """The scripts that came with this lastword, in order."""
    known = {
        int(named[1]): file.read_text(encoding="utf-8")
        for file in (files("lastword.stores") / "sql").iterdir()
        if (named := _NUMBERED.fullmatch(file.name))
    }
    return [known[number] for number in range(1, len(known) + 1)]


async def _alone(db: PostgresConnection) -> None:
    """One at a time, and for as long as it takes: a large store is looked through."""
    await db.execute("SET LOCAL statement_timeout = 0")
    await db.execute("SET LOCAL lock_timeout = 0")
    await db.execute(_LOCK)


async def settle_in(db: PostgresConnection) -> str:
    """Find out whether it is where it was, and go on from there; its timeline."""
    async with db.transaction():
        await _alone(db)
        place, timeline = await _place(db), str(await db.fetchval(f"SELECT {TIMELINE}"))
        row = await db.fetchrow("SELECT place, timeline FROM lastword.store")
        was, then = (str(row[0]), str(row[1])) if row else ("", "")
        if (was, then) != (place, timeline):
            if was and then:
                await _go_on(db)
            if was and was != place:
                await _let_wait(db)
            await db.execute("UPDATE lastword.store SET place = $1, timeline = $2", place, timeline)
    return timeline


async def _place(db: PostgresConnection) -> str:
    row = await db.fetchrow(_PLACE)
    oid, may = (row[0], row[1]) if row else ("", None)
    cluster = await db.fetchval("SELECT system_identifier FROM pg_control_system()") if may else ""
    return f"{cluster} {oid}"


async def _go_on(db: PostgresConnection) -> None:
    """From numbers that nobody was ever given. The time alone would do, if clocks were right.

    No row is raised to the floor here, for there may be millions: whoever loads one does that.
    """
    await db.execute("DELETE FROM lastword.nodes")  # whoever is in there has another store open
    await db.execute(
        "UPDATE lastword.store SET floor = greatest("
        " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, floor + 1,"
        " (SELECT max(greatest(generation, serial)) + 1 FROM lastword.sessions))"
    )
    await db.execute("DELETE FROM lastword.sessions WHERE generation IS NULL")
    await db.execute("UPDATE lastword.sessions SET owner = 0, claim = claim + 1 WHERE owner <> 0")


async def _let_wait(db: PostgresConnection) -> None:
    """What was accepted and had not ended waits for a person, whatever a runtime's `on_restart`."""
    rows = await db.fetch(
        "SELECT key, standing FROM lastword.sessions"
        " WHERE key IN (SELECT session FROM lastword.messages WHERE outcome IS NULL)"
    )
    for key, body in rows:
        stood = decode_standing(body)
        waits = encode_standing(replace(stood, hushed=True, held=stood.order))
        await db.execute("UPDATE lastword.sessions SET standing = $2 WHERE key = $1", key, waits)
