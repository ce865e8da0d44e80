"""What one owner asks of another, in a row that is read with every beat.

A notification says that there is something new, and saves the time until the next beat. It may be
lost, come twice, or late; it carries nothing. A question has a number from who asks, so that one
asked twice is one; who answers does so once, and remembers it for as long as it is read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from secrets import randbits
from typing import Any, TypeVar

from lastword.core.model import SessionId
from lastword.errors import StoreError
from lastword.stores.postgres.nodes import Node
from lastword.stores.postgres.side import StoreThread
from lastword.stores.postgres.wire import Connections, PostgresConnection
from lastword.stores.reach import OnAsked, nobody_asked

T = TypeVar("T")
log = logging.getLogger("lastword")
_SHORT = 5.0  # seconds that any of it may take
_LOOK = 0.5  # seconds between looks at an answer that no notification told of
_ASK = """
WITH a AS (INSERT INTO lastword.errands (id, session, owner, asker, body)
  SELECT $1, s.id, r.owner, $3, $4 FROM lastword.sessions s
  JOIN lastword.sessions r ON r.key = coalesce(s.root, s.key)
  JOIN lastword.nodes n ON n.epoch = r.owner WHERE s.id = $2 AND r.owner <> $3
  ON CONFLICT (id) DO NOTHING RETURNING owner)
SELECT pg_notify('lastword_' || owner, '') FROM a
"""
_LOOKED = """
SELECT a.answer, EXISTS (SELECT 1 FROM lastword.nodes WHERE epoch = a.owner)
FROM lastword.errands a WHERE id = $1
"""
_ANSWER = """
WITH a AS (UPDATE lastword.errands SET answer = $2 WHERE id = $1 AND answer IS NULL RETURNING asker)
SELECT pg_notify('lastword_' || asker, '') FROM a
"""
_SWEEP = "DELETE FROM lastword.errands WHERE at < clock_timestamp() - interval '1 hour'"


class Errands:
    """One opened store's."""

    def __init__(self) -> None:
        self.on_asked: OnAsked = nobody_asked
        self._side: StoreThread | None = None
        self._connections: Connections | None = None
        self._node: Node | None = None
        self._answering: set[int] = set()
        self._told = asyncio.Event()

    def begin(self, side: StoreThread, connections: Connections, node: Node) -> None:
        """The store is open."""
        self._side, self._connections, self._node = side, connections, node

    # what others ask

    def heard(self, asked: Iterable[tuple[str, str, str, str]]) -> None:
        """All that has no answer yet. On the store's event loop, before its lease is renewed."""
        rows = {int(id_): (SessionId(session), body) for id_, session, _, body in asked}
        new = rows.keys() - self._answering
        self._answering = set(rows)
        for id_ in sorted(new):
            session, body = rows[id_]
            try:
                self.on_asked(session, body, partial(self._answer, id_))
            except Exception as error:  # noqa: BLE001 - the lease must be renewed all the same
                log.warning("not answered session=%s error=%s", session, type(error).__name__)

    def _answer(self, id: int, text: str) -> None:
        if self._side and not self._side.closed:
            self._side.begin(self._write(id, text))

    async def _write(self, id: int, text: str) -> None:
        async def written(db: PostgresConnection) -> None:
            await db.execute(_ANSWER, id, text)

        with suppress(StoreError):  # who asked waits for our lease to end, then
            if self._connections:
                await self._connections.ask(written, "the answer was not given", _SHORT)

    # what is asked from here

    def poke(self) -> None:
        """There may be an answer."""
        told, self._told = self._told, asyncio.Event()
        told.set()

    async def ask(self, session: SessionId, asked: str, within: float | None) -> str | None:
        if self._side is None:
            raise StoreError("the store is not open yet")
        return await self._side.ask(partial(self._ask, session, asked, within))

    async def _ask(self, session: SessionId, asked: str, within: float | None) -> str | None:
        id_, epoch = randbits(62), self._node.epoch if self._node else 0

        async def put(db: PostgresConnection) -> None:
            await db.execute(_ASK, id_, session, epoch, asked)

        await self._do(put)
        try:
            async with asyncio.timeout(within):
                return await self._answer_to(id_)
        except TimeoutError:
            await self._do(partial(_swept, id_))
            raise StoreError("its owner has not answered; it was taken back") from None

    async def _answer_to(self, id: int) -> str | None:
        async def looked(db: PostgresConnection) -> Any:  # noqa: ANN401 - a row
            return await db.fetchrow(_LOOKED, id)

        while True:
            told = self._told
            row = await self._do(looked)
            if row is None:
                return None
            answer, lives = row
            if answer is not None or not lives:
                await self._do(partial(_swept, id))
                return answer
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await told.wait()

    async def _do(self, work: Callable[[PostgresConnection], Coroutine[Any, Any, T]]) -> T:
        if self._connections is None:
            raise StoreError("the store is not open yet")
        return await self._connections.ask(work, "nothing was asked", _SHORT)


async def _swept(id: int, db: PostgresConnection) -> None:
    await db.execute("DELETE FROM lastword.errands WHERE id = $1", id)
    await db.execute(_SWEEP)
