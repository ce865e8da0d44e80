"""Cells in the tables: each function here is part of one transaction."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator

from lastword.core.cell import StoredCell, Values
from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.codec import decode_cell

log = logging.getLogger("lastword")
_OF = "SELECT id, body FROM cells WHERE session = (SELECT key FROM sessions WHERE id = ?)"


def keep(
    db: sqlite3.Connection, key: int, cells: Iterable[tuple[StoredCell, str]], values: Values
) -> None:
    """Each replaces what was stored of it."""
    db.executemany(
        "INSERT INTO cells (session, id, number, going, body) VALUES (?, ?,"
        " (SELECT count(*) FROM cells WHERE session = ?), ?, ?)"
        " ON CONFLICT (session, id) DO UPDATE SET going = excluded.going, body = excluded.body",
        [(key, cell.id, key, cell.record.ending is None, body) for cell, body in cells],
    )
    db.executemany(
        "INSERT INTO remembered (session, name, value) VALUES (?, ?, ?)"
        " ON CONFLICT (session, name) DO UPDATE SET value = excluded.value",
        [(key, name, value) for name, value in values],
    )


def cells(db: sqlite3.Connection, session: SessionId | None) -> tuple[StoredCell, ...]:
    """Those of a session, or those of every one that have not ended."""
    if session is None:
        found = db.execute("SELECT id, body FROM cells WHERE going ORDER BY session, number")
    else:
        found = db.execute(f"{_OF} ORDER BY number", (session,))
    return tuple(_readable(found))


def going(db: sqlite3.Connection, key: int) -> tuple[StoredCell, ...]:
    """Those of a session that have not ended."""
    found = db.execute(
        "SELECT id, body FROM cells WHERE session = ? AND going ORDER BY number", (key,)
    )
    return tuple(_readable(found))


def _readable(rows: Iterable[tuple[str, str]]) -> Iterator[StoredCell]:
    """One that a newer lastword wrote must not keep a session, or all of them, from being used."""
    for id_, body in rows:
        try:
            yield decode_cell(body)
        except StoreError:
            log.warning("not read cell=%s", id_)


def values(db: sqlite3.Connection, session: SessionId) -> Values:
    """What they have remembered."""
    found = db.execute(
        "SELECT name, value FROM remembered"
        " WHERE session = (SELECT key FROM sessions WHERE id = ?) ORDER BY name",
        (session,),
    )
    return tuple((name, value) for name, value in found)


def forget(db: sqlite3.Connection, key: int) -> None:
    """All of them."""
    db.execute("DELETE FROM cells WHERE session = ?", (key,))
    db.execute("DELETE FROM remembered WHERE session = ?", (key,))
