"""What is only read: any connection will do, and nobody waits for it.

A long log is taken apart a little at a time, because the same event loop renews the lease.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from lastword.core.cell import StoredCell, Values
from lastword.core.entries import Entry, Said, Unshown
from lastword.core.model import MessageId, Outcome, RunId, SessionId
from lastword.core.receipt import Receipt
from lastword.errors import StoreError
from lastword.stores.aside import PAUSE, TURN
from lastword.stores.codec import decode, decode_cell
from lastword.stores.contract import Label, LogPart, StoredMessage, StoreSize

if TYPE_CHECKING:
    from lastword.stores.postgres.wire import PostgresConnection, Row

log = logging.getLogger("lastword")
_KEY = "(SELECT key FROM lastword.sessions WHERE id = $1)"
_ENTRIES = f"SELECT kind, body FROM lastword.entries WHERE session = {_KEY}"  # noqa: S608 - ours
_MARKED = f"""
SELECT number, kind, body FROM lastword.entries WHERE session = {_KEY} AND kind = $2
AND kind IN ('receipt', 'unshown')
"""  # noqa: S608 - ours
_CELLS = "SELECT id, body FROM lastword.cells WHERE"
_MESSAGE = """
SELECT e.kind, e.body, m.outcome, m.began FROM lastword.sessions s
JOIN lastword.messages m ON m.session = s.key AND m.id = $2
JOIN lastword.entries e ON e.session = s.key AND e.number = m.said WHERE s.id = $1
"""
_SIZE = """
SELECT (SELECT count(*) FROM lastword.sessions WHERE length > 0), sum(pg_total_relation_size(oid))
FROM pg_class WHERE relnamespace = to_regnamespace('lastword') AND relkind = 'r'
"""
_LABEL = """
UPDATE lastword.sessions SET name = coalesce($2, name), pinned = coalesce($3, pinned)
WHERE id = $1 AND length > 0 RETURNING key
"""
_AT_ONCE = 100  # entries that are read in no time
_FIRST = 16  # rows that are asked for at first, where a size decides


async def entries(db: PostgresConnection, session: SessionId, after: int) -> tuple[Entry, ...]:
    """A session's log, less the first so many."""
    rows = await db.fetch(f"{_ENTRIES} AND number > $2 ORDER BY number", session, after)
    return await _decoded(rows)


async def _decoded(rows: list[Row]) -> tuple[Entry, ...]:
    found = list[Entry]()
    until = time.monotonic() + TURN
    for kind, body in rows:
        found.append(decode(kind, body))
        if len(rows) > _AT_ONCE and time.monotonic() >= until:
            await asyncio.sleep(PAUSE)  # others have the interpreter, and this loop its beat
            until = time.monotonic() + TURN
    return tuple(found)


async def part(
    db: PostgresConnection, session: SessionId, before: int | None, most: int, size: int | None
) -> LogPart:
    """The newest that come before a number."""
    row = await db.fetchrow("SELECT key, length FROM lastword.sessions WHERE id = $1", session)
    if row is None:
        return LogPart((), 0, 0)
    key, length = row
    last = length if before is None else min(before - 1, length)
    found, left = list[Entry](), size
    asked = most if size is None else min(_FIRST, most)
    while len(found) < most and len(found) < last and (left is None or left >= 0):
        rows = await db.fetch(_DOWNWARD, key, last - len(found), min(asked, most - len(found)))
        for kind, body in rows:
            if left is not None:
                left -= len(body)
                if left < 0 and found:
                    break
            found.append(decode(kind, body))
        if not rows:
            break
        asked *= 2
    return LogPart(tuple(reversed(found)), last - len(found), length)


_DOWNWARD = """
SELECT kind, body FROM lastword.entries WHERE session = $1 AND number <= $2
ORDER BY number DESC LIMIT $3
"""


async def receipts(
    db: PostgresConnection, session: SessionId, skip: int, most: int
) -> tuple[Receipt, ...]:
    """Newest first, less so many."""
    order = "ORDER BY number DESC LIMIT $3 OFFSET $4"
    rows = await db.fetch(f"{_MARKED} {order}", session, "receipt", most, skip)
    found = [decode(kind, body) for _, kind, body in rows]
    return tuple(one for one in found if isinstance(one, Receipt))


async def cuts(
    db: PostgresConnection, session: SessionId, runs: Collection[RunId], after: int
) -> tuple[tuple[int, Unshown], ...]:
    """What was taken back of what these runs said, after a number."""
    if not runs:
        return ()
    rows = await db.fetch(f"{_MARKED} AND number > $3 ORDER BY number", session, "unshown", after)
    found = [(number, decode(kind, body)) for number, kind, body in rows]
    return tuple((n, one) for n, one in found if isinstance(one, Unshown) and one.run in runs)


async def message(
    db: PostgresConnection, session: SessionId, id: MessageId
) -> StoredMessage | None:
    """A message, and what became of it."""
    if "\0" in id:
        return None
    found = await db.fetchrow(_MESSAGE, session, id)
    if found is None:
        return None
    kind, body, outcome, began = found
    said = decode(kind, body)
    if not isinstance(said, Said):
        raise StoreError(f"message {id} of session {session} is not where its index says it is")
    ended = Outcome(outcome) if outcome else None
    return StoredMessage(said.message, said.run, ended, bool(began))


async def label(db: PostgresConnection, session: SessionId, label: Label) -> bool:
    """Have a session listed so from here on."""
    title = label.title
    if title is not None:
        title = title.replace("\0", "").encode(errors="replace").decode()
    done = await db.fetchval(_LABEL, session, title, label.pinned)
    return done is not None


async def sessions(db: PostgresConnection) -> tuple[SessionId, ...]:
    """Those that have a log."""
    found = await db.fetch("SELECT id FROM lastword.sessions WHERE length > 0 ORDER BY key")
    return tuple(SessionId(name) for (name,) in found)


async def size(db: PostgresConnection) -> StoreSize:
    """How many have a log, and what all of it takes."""
    row = await db.fetchrow(_SIZE)
    many, taken = row or (0, 0)
    return StoreSize(int(many), (("database", int(taken or 0)),))


async def cells(db: PostgresConnection, session: SessionId | None) -> tuple[StoredCell, ...]:
    """Those of a session, or those of every one that have not ended."""
    if session is None:
        found = await db.fetch(f"{_CELLS} going ORDER BY session, number")
    else:
        found = await db.fetch(f"{_CELLS} session = {_KEY} ORDER BY number", session)
    return tuple(readable(found))


def readable(rows: Iterable[Row]) -> Iterator[StoredCell]:
    """One that a newer lastword wrote must not keep a session, or all of them, from being used."""
    for id_, body in rows:
        try:
            yield decode_cell(body)
        except StoreError:
            log.warning("not read cell=%s", id_)


async def values(db: PostgresConnection, session: SessionId) -> Values:
    """What cells of a session have remembered."""
    query = f"SELECT name, value FROM lastword.remembered WHERE session = {_KEY} ORDER BY name"  # noqa: S608 - ours
    return tuple((name, value) for name, value in await db.fetch(query, session))
