"""Some of a log: only the rows that are asked for are read, however long it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from lastword.core.entries import Entry, Unshown
from lastword.core.model import RunId, SessionId
from lastword.core.receipt import Receipt
from lastword.stores.codec import decode
from lastword.stores.contract import Label, LogPart

_MARKED = """
SELECT number, kind, body FROM entries INDEXED BY entries_marked
WHERE session = (SELECT key FROM sessions WHERE id = ?)
AND kind IN ('receipt', 'unshown') AND kind = ?
"""


def part(
    db: sqlite3.Connection, session: SessionId, before: int | None, most: int, size: int | None
) -> LogPart:
    """The newest that come before a number."""
    row = db.execute("SELECT key, length FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        return LogPart((), 0, 0)
    key, length = row
    last = length if before is None else min(before - 1, length)
    rows = db.execute(
        "SELECT kind, body FROM entries WHERE session = ? AND number <= ? AND number > ?"
        " ORDER BY number DESC",
        (key, last, max(last - most, 0)),
    )
    found, left = list[Entry](), size
    for kind, body in rows:
        if left is not None:
            left -= len(body)
            if left < 0 and found:
                break
        found.append(decode(kind, body))
    rows.close()
    return LogPart(tuple(reversed(found)), last - len(found), length)


def receipts(
    db: sqlite3.Connection, session: SessionId, skip: int, most: int
) -> tuple[Receipt, ...]:
    """Newest first, less so many."""
    rows = db.execute(
        f"{_MARKED} ORDER BY number DESC LIMIT ? OFFSET ?", (session, "receipt", most, skip)
    )
    found = [decode(kind, body) for _, kind, body in rows]
    return tuple(one for one in found if isinstance(one, Receipt))


def cuts(
    db: sqlite3.Connection, session: SessionId, runs: Collection[RunId], after: int
) -> tuple[tuple[int, Unshown], ...]:
    """What was taken back of what these runs said, after a number."""
    if not runs:
        return ()
    rows = db.execute(f"{_MARKED} AND number > ? ORDER BY number", (session, "unshown", after))
    found = [(number, decode(kind, body)) for number, kind, body in rows]
    return tuple((n, one) for n, one in found if isinstance(one, Unshown) and one.run in runs)


def label(db: sqlite3.Connection, session: SessionId, label: Label) -> bool:
    """Have a session listed so from here on."""
    title = None if label.title is None else label.title.encode(errors="replace").decode()
    done = db.execute(
        "UPDATE sessions SET name = coalesce(?, name), pinned = coalesce(?, pinned)"
        " WHERE id = ? AND length > 0",
        (title, label.pinned, session),
    )
    return done.rowcount > 0


def sessions(db: sqlite3.Connection) -> tuple[SessionId, ...]:
    """Those that have a log."""
    found = db.execute("SELECT id FROM sessions WHERE length > 0 ORDER BY key")
    return tuple(SessionId(name) for (name,) in found)


def count(db: sqlite3.Connection) -> int:
    """How many have a log."""
    [(found,)] = db.execute("SELECT count(*) FROM sessions WHERE length > 0")
    return int(found)
