"""A store in a file, moved to a database: all of it, or nothing.

Nobody else may have either open. What is written is looked at before it is kept. Numbers go on
where they were, so the file is made a backup of itself, which nothing opens as a store: two that
give out the same numbers would be two truths.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from lastword.errors import StoreError
from lastword.stores.lease import Tenure
from lastword.stores.postgres import health, schema
from lastword.stores.postgres.wire import Database, PostgresConnection, ended
from lastword.stores.sqlite.file import BACKUP, DatabaseFile
from lastword.stores.sqlite.health import wrong
from lastword.stores.sqlite.owners import Owner

_AT_ONCE = 1000  # rows
_LONGEST = 3600.0  # seconds
_TABLES = {
    "sessions": "key, id, parent, generation, serial, length, standing, state, title, at, name,"
    " pinned",
    "entries": "session, number, generation, kind, body",
    "messages": "session, id, said, began, outcome",
    "cells": "session, id, number, going, body",
    "remembered": "session, name, value",
}
_BOOLEAN = {"began", "going", "pinned"}
_ROOTS = """
WITH RECURSIVE family (id, root) AS (
  SELECT id, key FROM lastword.sessions WHERE parent IS NULL
  UNION SELECT s.id, f.root FROM lastword.sessions s JOIN family f ON s.parent = f.id
) UPDATE lastword.sessions s SET root = f.root FROM family f WHERE f.id = s.id
  AND s.parent IS NOT NULL
"""
_NEXT = "SELECT setval(pg_get_serial_sequence('lastword.sessions', 'key'), $1)"


class Moved(NamedTuple):
    """What was."""

    sessions: int
    entries: int


async def move(source: Path, target: str) -> Moved:
    """From a file that nobody has open, to a database in which there is nothing."""
    _must_be_there(source)
    file, database = DatabaseFile(source), Database(target)
    with file.putting_in_words("nothing was moved"), closing(file.open()) as old:
        _must_be_whole(old, source)
        try:
            db = await database.connect(_LONGEST)
        except Exception as error:
            raise database.trouble(error, "nothing was moved") from error
        try:
            return await _move(old, db, source, database)
        except StoreError:
            raise
        except sqlite3.Error:
            raise
        except Exception as error:
            raise database.trouble(error, "nothing was moved") from error
        finally:
            await ended(db)


async def _move(
    old: sqlite3.Connection, db: PostgresConnection, source: Path, database: Database
) -> Moved:
    await schema.prepare(db, database)
    old.execute("BEGIN IMMEDIATE")  # nobody comes in between
    try:
        _must_be_alone(old, source)
        async with db.transaction():
            await _must_be_empty(db, database)
            counts = {table: await _copy(old, db, table) for table in _TABLES}
            await db.execute(_ROOTS)
            await db.fetchval(_NEXT, _one(old, "SELECT max(key) FROM sessions") or 1)
            floor = _one(old, "SELECT max(floor) FROM restores")
            await db.execute("UPDATE lastword.store SET floor = $1", floor)
            _must_have_arrived(source, await health.wrong(db))
        old.execute(f"PRAGMA application_id = {BACKUP}")
        old.execute("COMMIT")
    except BaseException:
        if old.in_transaction:
            old.execute("ROLLBACK")
        raise
    return Moved(counts["sessions"], counts["entries"])


def _must_be_there(source: Path) -> None:
    if not source.is_file() or not source.stat().st_size:
        why = "is empty" if source.is_file() else "does not exist"
        raise StoreError(f"{source} {why}; nothing was moved")


def _must_be_whole(old: sqlite3.Connection, source: Path) -> None:
    if found := wrong(old):
        raise StoreError(f"{source} is not whole ({found[0]}); nothing was moved")


def _must_have_arrived(source: Path, wrong: list[str]) -> None:
    if wrong:
        raise StoreError(f"{source} did not arrive whole ({wrong[0]}); nothing was moved")


def _must_be_alone(old: sqlite3.Connection, source: Path) -> None:
    owner = Owner(Tenure())
    for (epoch,) in old.execute("SELECT epoch FROM owners").fetchall():
        if other := owner.living(old, epoch):
            raise StoreError(f"{source} is in use by {other}; end that first; nothing was moved")


async def _must_be_empty(db: PostgresConnection, database: Database) -> None:
    many = await db.fetchval("SELECT count(*) FROM lastword.sessions")
    if many:
        raise StoreError(f"{database.shown} has {many} sessions already; nothing was moved")
    if await db.fetchval("SELECT count(*) FROM lastword.nodes"):
        raise StoreError(f"{database.shown} is in use; end that first; nothing was moved")


async def _copy(old: sqlite3.Connection, db: PostgresConnection, table: str) -> int:
    names = [name.strip() for name in _TABLES[table].split(",")]
    made: list[Callable[[Any], Any]] = [bool if name in _BOOLEAN else _said for name in names]
    mine = " WHERE generation IS NOT NULL" if table == "sessions" else ""
    rows = old.execute(f"SELECT {_TABLES[table]} FROM {table}{mine}")  # noqa: S608 - ours
    many = 0
    for some in _pieces(rows):
        records = [tuple(f(v) for f, v in zip(made, row, strict=True)) for row in some]
        await db.copy_records_to_table(
            table, schema_name="lastword", columns=names, records=records
        )
        many += len(records)
    return many


def _said(value: object) -> object:
    return value.replace("\0", "") if isinstance(value, str) else value


def _pieces(rows: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while some := rows.fetchmany(_AT_ONCE):
        yield some


def _one(old: sqlite3.Connection, query: str) -> int | None:
    found: int | None = old.execute(query).fetchone()[0]
    return found
