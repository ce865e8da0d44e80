"""Whether a file is as it must be: what SQLite can tell, and what only we can."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator

_MOST_NAMED = 20
_INVARIANTS = (
    (
        "SELECT id FROM sessions LEFT JOIN (SELECT session, count(*) AS many, max(number) AS last"
        " FROM entries GROUP BY session) ON session = key"
        " WHERE coalesce(many, 0) != length OR coalesce(last, 0) != length",
        "entries are missing from its log",
    ),
    (
        "SELECT DISTINCT id FROM sessions JOIN (SELECT session, generation AS written, generation <"
        " lag(generation) OVER (PARTITION BY session ORDER BY number) AS older FROM entries)"
        " ON session = key WHERE older OR written > coalesce(generation, -1)",
        "its log has an entry of an older generation behind one of a newer",
    ),
    (
        "SELECT DISTINCT sessions.id FROM sessions JOIN messages ON messages.session = key"
        " LEFT JOIN entries ON entries.session = key AND number = said"
        " WHERE kind IS NOT 'said'",
        "a message's text is not where it should be",
    ),
)


def wrong(db: sqlite3.Connection) -> list[str]:
    """What is not as it must be, a line each."""
    found: list[str] = []
    try:
        found.extend(_wrong(db))
    except sqlite3.DatabaseError as error:
        found.append(f"the file is damaged: {error}")
    return found


def _wrong(db: sqlite3.Connection) -> Iterator[str]:
    for (line,) in db.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"the file is damaged: {line}"
    lost = Counter(table for table, *_ in db.execute("PRAGMA foreign_key_check"))
    for table, many in lost.items():
        yield f"{many} of {table} belong to no session"
    for sql, what in _INVARIANTS:
        found = db.execute(sql).fetchall()
        yield from (f"session {session}: {what}" for (session,) in found[:_MOST_NAMED])
        if len(found) > _MOST_NAMED:
            yield f"and {len(found) - _MOST_NAMED} more sessions: {what}"
