"""The one statement that writes, for any number of sessions; each is refused alone.

The rows of those that own are locked in the order of their keys, so that no two writers wait for
one another; then what stands in them is compared; then all is written. Owner and claim have to fit,
the generation must not be older, and it must have been written as often as the writer knows: so a
write is done in that place or nowhere, and can be tried again when nobody knows whether it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lastword.core.entries import Began, Finished, Said
from lastword.core.model import MessageId, Outcome
from lastword.core.value import value
from lastword.stores.codec import encode, encode_cell, encode_large, encode_standing, is_large
from lastword.stores.contract import Write
from lastword.stores.postgres.claims import Held
from lastword.stores.postgres.wire import must_be_storable

COMMIT = """
WITH w AS (
  SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::int[], $9::text[], $10::text[], $11::float8[], $12::text[])
  AS w (key, root, claim, writes, generation, serial, n, standing, state, at, title)
), l AS MATERIALIZED (
  SELECT key, owner, claim FROM lastword.sessions WHERE key = ANY ($3::bigint[])
  ORDER BY key FOR UPDATE
), u AS (
  UPDATE lastword.sessions s SET generation = w.generation, serial = w.serial,
    writes = s.writes + 1, length = s.length + w.n, standing = w.standing, state = w.state,
    at = greatest(s.at, w.at), title = CASE s.title WHEN '' THEN w.title ELSE s.title END
  FROM w JOIN l ON l.key = w.root
  WHERE s.key = w.key AND l.owner = $1 AND l.claim = w.claim AND s.writes = w.writes
    AND coalesce(s.generation, w.generation) <= w.generation
  RETURNING s.key, s.length - w.n AS base, s.generation
), i AS (
  INSERT INTO lastword.entries (session, number, generation, kind, body)
  SELECT u.key, u.base + e.n, u.generation, e.kind, e.body
  FROM unnest($13::bigint[], $14::int[], $15::text[], $16::text[]) AS e (key, n, kind, body)
  JOIN u USING (key)
), x AS (
  SELECT u.key, u.base, m.id, m.n, m.began, m.outcome
  FROM unnest($17::bigint[], $18::text[], $19::int[], $20::boolean[], $21::text[])
  AS m (key, id, n, began, outcome) JOIN u USING (key)
), said AS (
  INSERT INTO lastword.messages AS m (session, id, said, began, outcome)
  SELECT key, id, base + n, coalesce(began, false), outcome FROM x WHERE n > 0
  ON CONFLICT (session, id) DO UPDATE SET said = excluded.said, began = excluded.began,
    outcome = coalesce(excluded.outcome, m.outcome)
), known AS (
  UPDATE lastword.messages m SET began = coalesce(x.began, m.began),
    outcome = coalesce(x.outcome, m.outcome)
  FROM x WHERE x.n = 0 AND m.session = x.key AND m.id = x.id
), c AS (
  INSERT INTO lastword.cells (session, id, number, going, body)
  SELECT u.key, c.id, c.n + coalesce(
    (SELECT max(number) FROM lastword.cells WHERE session = u.key), 0), c.going, c.body
  FROM unnest($22::bigint[], $23::text[], $24::int[], $25::boolean[], $26::text[])
  AS c (key, id, n, going, body) JOIN u USING (key)
  ON CONFLICT (session, id) DO UPDATE SET going = excluded.going, body = excluded.body
), r AS (
  INSERT INTO lastword.remembered (session, name, value)
  SELECT u.key, r.name, r.value
  FROM unnest($27::bigint[], $28::text[], $29::text[]) AS r (key, name, value) JOIN u USING (key)
  ON CONFLICT (session, name) DO UPDATE SET value = excluded.value
) SELECT key FROM u
"""


@value
class EncodedWrite:
    """A write, ready for the statement."""

    write: Write
    standing: str
    title: str
    rows: tuple[tuple[str, str], ...]
    messages: tuple[tuple[str, int, bool | None, str | None], ...]
    cells: tuple[tuple[str, bool, str], ...]

    @classmethod
    def of(cls, write: Write) -> EncodedWrite:
        rows = tuple(encode_large(e) if is_large(e) else encode(e) for e in write.entries)
        titles = (entry.message.title for entry in write.entries if isinstance(entry, Said))
        title = next(titles, "").replace("\0", "").encode(errors="replace").decode()
        cells = tuple((c.id, c.record.ending is None, encode_cell(c)) for c in write.cells)
        messages = tuple(_messages(write))
        for name in (*(id_ for id_, *_ in messages), *(name for name, _ in write.values)):
            must_be_storable(name)
        return cls(write, encode_standing(write.standing), title, rows, messages, cells)


def _messages(write: Write) -> Iterable[tuple[str, int, bool | None, str | None]]:
    """What becomes of each message: which entry has its text (0: that stays), whether it began,
    and its outcome."""
    found: dict[MessageId, tuple[int, bool | None, Outcome | None]] = {}
    nothing = 0, None, None
    for number, entry in enumerate(write.entries, 1):
        match entry:
            case Said(message):
                found[message.id] = number, False, found.get(message.id, nothing)[2]
            case Began(messages=messages):
                for id_ in messages:
                    said, _, outcome = found.get(id_, nothing)
                    found[id_] = said, True, outcome
            case Finished(messages=messages, outcome=outcome):
                for id_ in messages:
                    said, began, _ = found.get(id_, nothing)
                    found[id_] = said, began, outcome
            case _:
                pass
    return ((id_, *rest) for id_, rest in found.items())


def arguments(epoch: int, batch: Iterable[tuple[Held, int, EncodedWrite]]) -> list[Any]:
    """Of the statement: an owner's writes, each with what is held, and the claim of its root."""
    writes: list[tuple[Any, ...]] = []
    entries: list[tuple[Any, ...]] = []
    messages: list[tuple[Any, ...]] = []
    cells: list[tuple[Any, ...]] = []
    values: list[tuple[Any, ...]] = []
    for held, claim, one in batch:
        write, key = one.write, held.key
        place = (key, held.root, claim, held.writes, write.generation, write.serial)
        shown = (one.standing, write.state, write.at, one.title)
        writes.append((*place, len(one.rows), *shown))
        entries += [(key, n, kind, body) for n, (kind, body) in enumerate(one.rows, 1)]
        messages += [(key, *message) for message in one.messages]
        cells += [(key, id_, n, *rest) for n, (id_, *rest) in enumerate(one.cells, 1)]
        values += [(key, *pair) for pair in write.values]
    columns = [(writes, 11), (entries, 4), (messages, 5), (cells, 5), (values, 3)]
    return [epoch, *(column for rows, wide in columns for column in _columns(rows, wide))]


def _columns(rows: list[tuple[Any, ...]], wide: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[]] * wide
