"""What is done in the tables: each function here is the inside of one transaction.

The order in a write is the promise: who owns the session is asked first, then whether its
generation has moved on, and only then is anything written. As SQLite has one writer at a time,
nothing can change between the question and the commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from functools import partial
from typing import Any, cast

from lastword.core.entries import Began, Entry, Finished, Said
from lastword.core.model import Generation, MessageId, Outcome, SessionId
from lastword.core.value import value
from lastword.errors import OwnedElsewhere, StaleWrite, StoreError
from lastword.stores.aside import Breathe, aside
from lastword.stores.codec import (
    decode,
    decode_standing,
    encode,
    encode_cell,
    encode_large,
    encode_standing,
    is_large,
)
from lastword.stores.contract import (
    Overview,
    Place,
    SessionFilter,
    StoredCell,
    StoredMessage,
    StoredSession,
    Write,
)
from lastword.stores.lease import Claim, Tenure
from lastword.stores.sqlite import cells
from lastword.stores.sqlite.owners import Owner
from lastword.stores.sqlite.retention import is_unused

_AT_ONCE = 100  # entries that are read in no time


@value
class Encoded:
    """A write, ready for the tables."""

    write: Write
    standing: str
    rows: tuple[tuple[str, str], ...]
    title: str
    cells: tuple[tuple[StoredCell, str], ...]

    @classmethod
    def of(cls, write: Write) -> Encoded:
        rows = tuple(encode_large(e) if is_large(e) else encode(e) for e in write.entries)
        titles = (entry.message.title for entry in write.entries if isinstance(entry, Said))
        title = next(titles, "").encode(errors="replace").decode()
        cells = tuple((cell, encode_cell(cell)) for cell in write.cells)
        return cls(write, encode_standing(write.standing), rows, title, cells)


@value
class _Row:
    key: int
    generation: int | None
    serial: int
    length: int
    owner: int
    standing: str = "{}"
    parent: SessionId | None = None


class Tables:
    """The transactions of one owner."""

    def __init__(self, owner: Owner, tenure: Tenure) -> None:
        self._owner = owner
        self._tenure = tenure
        self._held: dict[SessionId, Claim] = {}  # those that were lost too, by claims that ended
        self._claimed: dict[SessionId, Claim] = {}  # in the transaction under way
        self._gone: set[SessionId] = set()  # taken, as that found
        self._released: set[SessionId] = set()  # let go, as that will have it

    def settle(self, *, committed: bool) -> None:
        """The transaction has ended, one way or the other."""
        if committed:
            for session in self._gone & self._held.keys():
                self._held[session].end()
            for session in self._released & self._held.keys():
                self._held.pop(session).end()  # nobody here remembers it
            for session, claim in self._claimed.items():
                if before := self._held.get(session):
                    before.end()
                self._held[session] = claim
        self._claimed.clear()
        self._gone.clear()
        self._released.clear()

    def claim(self, session: SessionId) -> Claim:
        """What there is of a session that was loaded, or written, and has not been lost."""
        return self._held.get(session) or self._new_claim()

    def _new_claim(self) -> Claim:
        return Claim(self._tenure)

    def peek(self, db: sqlite3.Connection, session: SessionId) -> StoredSession | None:
        return _stored(db, _find(db, session))

    def load(self, db: sqlite3.Connection, session: SessionId) -> StoredSession | None:
        row = _find(db, session)
        if row is None:
            row = self._insert(db, session)
        elif row.owner != self._owner.epoch:
            self._owner.look(db)
            if living := self._owner.living(db, row.owner):
                raise living.owns(session)
            self._take(db, row.key)
            self._take_below(db, session)
        self._claimed[session] = self._new_claim()
        return _stored(db, row)

    def release(self, db: sqlite3.Connection, session: SessionId) -> None:
        row = _find(db, session)
        if row is None or row.owner != self._owner.epoch:
            return
        ours = "key = ? AND owner = ?"
        unwritten = f"length = 0 AND generation IS {_FLOOR}"
        for key, name in [(row.key, session), *db.execute(_BELOW, (session,)).fetchall()]:
            mine = (key, self._owner.epoch)
            db.execute(f"DELETE FROM sessions WHERE {ours} AND {unwritten}", mine)  # noqa: S608 - ours
            db.execute(f"UPDATE sessions SET owner = 0 WHERE {ours}", mine)  # noqa: S608 - ours
            self._released.add(name)

    def commit(self, db: sqlite3.Connection, encoded: Encoded) -> None:
        write = encoded.write
        self._must_be_newest(write)
        row = _find(db, write.session)
        if row is None and write.session in self._held:
            raise OwnedElsewhere(write.session, "nobody any more: another process deleted it")
        if row is None and write.parent is not None and (above := _find(db, write.parent)):
            self._must_own(db, write.parent, above)
        row = row or self._insert(db, write.session)
        self._must_own(db, write.session, row)
        if row.generation is not None and write.generation < row.generation:
            raise StaleWrite(write.session, write.generation, row.generation)
        db.execute(
            "UPDATE sessions SET generation = ?, serial = ?, length = ?, standing = ?,"
            " parent = coalesce(?, parent), owner = ?, at = max(at, ?), state = ?,"
            " title = CASE title WHEN '' THEN ? ELSE title END WHERE key = ?",
            (
                write.generation,
                write.serial,
                row.length + len(encoded.rows),
                encoded.standing,
                write.parent,
                self._owner.epoch,
                write.at,
                write.state,
                encoded.title,
                row.key,
            ),
        )
        db.executemany(
            "INSERT INTO entries (session, number, generation, kind, body) VALUES (?, ?, ?, ?, ?)",
            [
                (row.key, number, write.generation, kind, body)
                for number, (kind, body) in enumerate(encoded.rows, row.length + 1)
            ],
        )
        _keep_messages(db, row, write.entries)
        if encoded.cells or write.values:
            cells.keep(db, row.key, encoded.cells, write.values)
        self._holds(write.session)

    def delete(self, db: sqlite3.Connection, session: SessionId) -> None:
        below = [key for key, _ in db.execute(_BELOW, (session,)).fetchall()]
        row = _find(db, session)
        if row is not None:
            self._must_own(db, session, row)
            self._take(db, row.key)
            _empty(db, row.key)
            db.execute(
                "UPDATE sessions SET length = 0, standing = '{}', title = '', state = 'idle',"
                " name = '', pinned = 0 WHERE key = ?",
                (row.key,),
            )
            self._holds(session)
        for key in below:
            _empty(db, key)
            db.execute("DELETE FROM sessions WHERE key = ?", (key,))

    def prune(self, db: sqlite3.Connection, session: SessionId, since: float) -> bool:
        self.load(db, session)  # or another has it
        unused = is_unused(db, session, since)
        if unused:
            self.delete(db, session)
        self.release(db, session)
        del self._claimed[session]
        return unused

    def lost(self, db: sqlite3.Connection, among: Collection[SessionId]) -> tuple[SessionId, ...]:
        found = {session: _find(db, session) for session in among if session in self._held}
        ours = self._owner.epoch
        return tuple(name for name, row in found.items() if row is None or row.owner != ours)

    def taken(self, db: sqlite3.Connection) -> tuple[SessionId, ...]:
        """Of all that this store has, what another has taken; the claims on it end with this."""
        living = [session for session, claim in self._held.items() if not claim.ended]
        found = self.lost(db, living)
        self._gone.update(found)
        return found

    def unfinished(self, db: sqlite3.Connection) -> tuple[SessionId, ...]:
        found = db.execute(
            "SELECT id, owner FROM sessions WHERE key IN"
            " (SELECT session FROM messages WHERE outcome IS NULL) ORDER BY key"
        ).fetchall()
        owners = {owner for _, owner in found} - {self._owner.epoch}
        living = {owner: self._owner.living(db, owner) for owner in owners}
        others = {owner for owner, whose in living.items() if whose and not whose.ending}
        return tuple(SessionId(name) for name, owner in found if owner not in others)

    def overview(self, db: sqlite3.Connection, session: SessionId) -> Overview | None:
        found = db.execute(
            f"SELECT {_SHOWN} FROM sessions WHERE id = ? AND length > 0",  # noqa: S608 - ours
            (session,),
        ).fetchone()
        return self._shown(db, found) if found else None

    def recent(
        self,
        db: sqlite3.Connection,
        space: str,
        limit: int,
        before: Place | None,
        wanted: SessionFilter,
    ) -> tuple[Overview, ...]:
        (at, name), words = before or (float("inf"), SessionId("")), wanted.words.lower()
        found = db.execute(
            f"SELECT {_SHOWN} FROM sessions WHERE length > 0"  # noqa: S608 - ours
            " AND (at < ? OR (at = ? AND id < ?)) AND substr(id, 1, length(?)) = ?"
            " AND instr(substr(id, length(?) + 1), '/') = 0"
            f" AND (? IS NULL OR pinned = ?) AND (? = '' OR instr(lower_({_TITLE}), ?) > 0)"
            " ORDER BY at DESC, id DESC LIMIT ?",
            (at, at, name, space, space, space, *(wanted.pinned,) * 2, *(words,) * 2, limit),
        )
        return tuple(self._shown(db, row) for row in found.fetchall())

    def _shown(self, db: sqlite3.Connection, row: tuple[Any, ...]) -> Overview:
        id_, generation, title, at, state, owner, parent, pinned, said = row
        living = None if (ours := owner == self._owner.epoch) else self._owner.living(db, owner)
        if not ours and not living and state == "running":
            state = "waiting"  # what was running is lost, and nobody has settled that yet
        return Overview(id_, generation, title, at, state, living, parent, bool(pinned), said)

    def _must_be_newest(self, write: Write) -> None:
        """Who loaded a session, and was let go, goes on with nothing that waited in line."""
        newest = self._claimed.get(write.session) or self._held.get(write.session)
        if write.claim is not None and write.claim is not newest:
            raise OwnedElsewhere(write.session, "whoever loaded it here since")

    def _holds(self, session: SessionId) -> None:
        """The session is this owner's, if only by having been written."""
        held = self._claimed.get(session) or self._held.get(session)
        if held is None or held.ended:
            self._claimed[session] = self._new_claim()

    def _must_own(self, db: sqlite3.Connection, session: SessionId, row: _Row) -> None:
        """What is nobody's may be taken by whoever writes first, but not by who has lost it."""
        if row.owner == self._owner.epoch:
            return
        if living := self._owner.living(db, row.owner):
            raise living.owns(session)
        if session in self._held:
            why = "another store, which took it over while this one was not heard of"
            raise OwnedElsewhere(session, why)

    def _insert(self, db: sqlite3.Connection, session: SessionId) -> _Row:
        db.execute(
            "INSERT INTO sessions (id, owner, generation, serial)"  # noqa: S608 - ours
            f" VALUES (?, ?, {_FLOOR}, coalesce({_FLOOR}, 0))",
            (session, self._owner.epoch),
        )
        return cast("_Row", _find(db, session))

    def _take_below(self, db: sqlite3.Connection, session: SessionId) -> None:
        for key, _ in db.execute(_BELOW, (session,)).fetchall():
            self._take(db, key)

    def _take(self, db: sqlite3.Connection, key: int) -> None:
        db.execute("UPDATE sessions SET owner = ? WHERE key = ?", (self._owner.epoch, key))


def _stored(db: sqlite3.Connection, row: _Row | None) -> StoredSession | None:
    if row is None or row.generation is None:
        return None
    (unfinished,) = db.execute(
        "SELECT min(said) FROM messages INDEXED BY messages_unfinished"
        " WHERE session = ? AND outcome IS NULL",
        (row.key,),
    ).fetchone()
    standing = decode_standing(row.standing)
    going = cells.going(db, row.key)
    return StoredSession(
        Generation(row.generation),
        row.serial,
        unfinished=unfinished is not None,
        since=(unfinished or 1) - 1,
        standing=standing,
        cells=going,
        parent=row.parent,
    )


def entries(db: sqlite3.Connection, session: SessionId, after: int) -> tuple[Entry, ...]:
    """A session's log, less the first so many."""
    rows = db.execute(
        "SELECT kind, body FROM entries WHERE session = (SELECT key FROM sessions WHERE id = ?)"
        " AND number > ? ORDER BY number",
        (session, after),
    ).fetchall()
    if len(rows) <= _AT_ONCE:
        return tuple(decode(kind, body) for kind, body in rows)
    return aside(partial(_decoded, rows))


def _decoded(rows: list[tuple[str, str]], breathe: Breathe) -> tuple[Entry, ...]:
    found = list[Entry]()
    for kind, body in rows:
        found.append(decode(kind, body))
        breathe()
    return tuple(found)


def message(db: sqlite3.Connection, session: SessionId, id: MessageId) -> StoredMessage | None:
    """A message, and what became of it."""
    found = db.execute(
        "SELECT kind, body, outcome, began FROM sessions"
        " JOIN messages ON messages.session = sessions.key AND messages.id = ?"
        " JOIN entries ON entries.session = sessions.key AND number = said WHERE sessions.id = ?",
        (id, session),
    ).fetchone()
    if found is None:
        return None
    kind, body, outcome, began = found
    said = decode(kind, body)
    if not isinstance(said, Said):
        raise StoreError(f"message {id} of session {session} is not where its index says it is")
    ended = Outcome(outcome) if outcome else None
    return StoredMessage(said.message, said.run, ended, bool(began))


_FLOOR = "(SELECT max(floor) FROM restores)"  # where what is new begins; NULL: at the beginning
_TITLE = "CASE name WHEN '' THEN title ELSE name END"
_SAID = "(SELECT count(*) FROM messages WHERE session = sessions.key)"
_SHOWN = f"id, generation, {_TITLE}, at, state, owner, parent, pinned, {_SAID}"
_BELOW = """
WITH RECURSIVE below (key, id) AS (
  SELECT key, id FROM sessions WHERE parent = ?
  UNION SELECT sessions.key, sessions.id FROM sessions JOIN below ON sessions.parent = below.id
) SELECT key, id FROM below
"""


def _find(db: sqlite3.Connection, session: SessionId) -> _Row | None:
    found = db.execute(
        "SELECT key, generation, serial, length, owner, standing, parent FROM sessions"
        " WHERE id = ?",
        (session,),
    ).fetchone()
    return _Row(*found) if found else None


def _keep_messages(db: sqlite3.Connection, row: _Row, entries: tuple[Entry, ...]) -> None:
    for number, entry in enumerate(entries, row.length + 1):
        if isinstance(entry, Said):
            db.execute(
                "INSERT INTO messages (session, id, said) VALUES (?, ?, ?)"
                " ON CONFLICT (session, id) DO UPDATE SET said = excluded.said, began = 0",
                (row.key, entry.message.id, number),
            )
        elif isinstance(entry, Began):
            db.executemany(
                "UPDATE messages SET began = 1 WHERE session = ? AND id = ?",
                [(row.key, name) for name in entry.messages],
            )
        elif isinstance(entry, Finished):
            db.executemany(
                "UPDATE messages SET outcome = ? WHERE session = ? AND id = ?",
                [(entry.outcome, row.key, name) for name in entry.messages],
            )


def _empty(db: sqlite3.Connection, key: int) -> None:
    db.execute("DELETE FROM entries WHERE session = ?", (key,))
    db.execute("DELETE FROM messages WHERE session = ?", (key,))
    cells.forget(db, key)
